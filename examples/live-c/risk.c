#include "risk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static verdict unsupported(const char *why) { return (verdict){why, NULL}; }

static verdict refused(const char *why) { return (verdict){NULL, why}; }

static verdict check(const risk *r, double bound) {
    for (size_t k = 0; k < r->n * r->d; ++k)
        if (!isfinite(r->rows[k])) return refused("records must be finite");
    for (size_t i = 0; r->labels && i < r->n; ++i) {
        const double *x = r->rows + i * r->d;
        if (fabs(r->labels[i]) != 1) return refused("labels must be -1 or +1");
        if (sqrt(dot(x, x, r->d)) > bound * (1 + 1e-12)) return refused("a record is longer than feature_bound");
    }
    return WELL;
}

verdict risk_read(const json *problem, risk *into) {
    memset(into, 0, sizeof *into);
    if (json_get(problem, "rows")) {
        into->rows = json_matrix(json_get(problem, "rows"), &into->n, &into->d);
        return check(into, 0);
    }
    if (!json_get(problem, "features")) return unsupported("problems have rows, or features and labels");
    const json *loss = json_need(problem, "loss");
    if (strcmp(json_text(loss, "name"), "loss_a") != 0) return unsupported("the only loss is loss_a");
    size_t count;
    into->rows = json_matrix(json_get(problem, "features"), &into->n, &into->d);
    into->labels = json_numbers(json_need(problem, "labels"), &count);
    into->weight = json_number(json_need(loss, "regulariser"), "weight");
    return count == into->n ? check(into, json_number(problem, "feature_bound")) : refused("one label a record");
}

void risk_free(risk *r) {
    free(r->rows);
    free(r->labels);
}

double dot(const double *a, const double *b, size_t d) {
    double sum = 0;
    for (size_t j = 0; j < d; ++j) sum += a[j] * b[j];
    return sum;
}

static double sigmoid(double m) { return m >= 0 ? 1 / (1 + exp(-m)) : exp(m) / (1 + exp(m)); }

static const double *row(const risk *r, size_t record) { return r->rows + record * r->d; }

static double margin(const risk *r, const double *w, size_t record) {
    return r->labels[record] * dot(row(r, record), w, r->d);
}

void risk_record_gradient(const risk *r, const double *w, size_t record, double *out) {
    double slope = r->labels ? -r->labels[record] * sigmoid(-margin(r, w, record)) : 1;
    for (size_t j = 0; j < r->d; ++j) {
        double s = 1 + w[j] * w[j];
        out[j] = slope * row(r, record)[j] + r->weight * 2 * w[j] / (s * s);
    }
}

double risk_value(const risk *r, const double *w) {
    double sum = 0, penalty = 0;
    for (size_t i = 0; i < r->n; ++i) {
        double m = margin(r, w, i);
        sum += m > 0 ? log1p(exp(-m)) : log1p(exp(m)) - m;
    }
    for (size_t j = 0; j < r->d; ++j) penalty += w[j] * w[j] / (1 + w[j] * w[j]);
    return sum / (double)r->n + r->weight * penalty;
}

void risk_gradient(const risk *r, const double *w, double *out) {
    double *one = need_memory(r->d, sizeof *one);
    memset(out, 0, r->d * sizeof *out);
    for (size_t i = 0; i < r->n; ++i) {
        risk_record_gradient(r, w, i, one);
        for (size_t j = 0; j < r->d; ++j) out[j] += one[j] / (double)r->n;
    }
    free(one);
}

void risk_hessian(const risk *r, const double *w, double *out) {
    size_t d = r->d;
    memset(out, 0, d * d * sizeof *out);
    for (size_t i = 0; i < r->n; ++i) {
        double m = margin(r, w, i), curvature = sigmoid(m) * sigmoid(-m) / (double)r->n;
        for (size_t j = 0; j < d; ++j)
            for (size_t k = 0; k < d; ++k) out[j * d + k] += curvature * row(r, i)[j] * row(r, i)[k];
    }
    for (size_t j = 0; j < d; ++j) {
        double s = 1 + w[j] * w[j];
        out[j * d + j] += r->weight * 2 * (1 - 3 * w[j] * w[j]) / (s * s * s);
    }
}
