/* OPT-LS of "Differentially Private Optimization for Smooth Nonconvex ERM" (Algorithms 2 and 3): private line search. */
#include "algorithms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eigen.h"
#include "line_search_cost.h"
#include "live.h"
#include "risk.h"

typedef struct {
    double gradient, curvature, c1, c2, c;                      /* accuracy */
    double smoothness, hessian_lipschitz, lower_bound, failure; /* G, M, f underbar, zeta */
    double delta_f, delta_g, delta_h;                           /* sensitivities */
    double rho, rho_f, releases_per_step, margin;               /* noise; the eigenvalue test */
    double c_g, c_h, b_g, b_h, beta_g, beta_h;                  /* line search */
    int printed;
} plan;

static plan read_plan(const json *s) {
    const json *a = json_need(s, "accuracy"), *d = json_need(s, "sensitivity"), *n = json_need(s, "noise");
    const json *l = json_need(s, "search");
    return (plan){
        json_number(a, "gradient"), json_number(a, "curvature"), json_number(a, "c1"), json_number(a, "c2"),
        json_number(a, "c"), json_number(s, "smoothness"), json_number(s, "hessian_lipschitz"),
        json_number(s, "lower_bound"), json_number(s, "failure"), json_number(d, "value"), json_number(d, "gradient"),
        json_number(d, "hessian"), json_number(n, "rho"), json_number(n, "rho_f"), json_number(n, "releases_per_step"),
        json_number(json_need(s, "eigen"), "margin"), json_number(l, "c_g"), json_number(l, "c_H"),
        json_number(l, "b_g"), json_number(l, "b_H"), json_number(l, "beta_g"), json_number(l, "beta_H"),
        strcmp(json_text(s, "reading"), "printed") == 0};
}

/* The larger root of eq. (15). */
static double curvature_root(const plan *s) {
    double a = 1 - s->c - s->c_h;
    return 3 * a / 2 + 3 * sqrt(a * a / 4 - 2 * s->c2 / 3);
}

/* -- the line search --------------------------------------------------------------------------------------------- */
typedef struct {
    const risk *r;
    const double *w, *direction;
    double here, linear, quadratic, initial, beta; /* q(gamma) = f(w) - f(w + gamma p) - linear gamma - quadratic gamma^2 */
} search;

static double slack(int index, void *with) {
    const search *q = with;
    double gamma = q->initial * pow(q->beta, index), *there = need_memory(q->r->d, sizeof *there);
    for (size_t j = 0; j < q->r->d; ++j) there[j] = q->w[j] + gamma * q->direction[j];
    double value = q->here - risk_value(q->r, there) - q->linear * gamma - q->quadratic * gamma * gamma;
    free(there);
    return value;
}

static double line_search(const char *label, search q, double sensitivity, double fallback, double sigma, int printed) {
    int trials = (int)floor(log(fallback / q.initial) / log(q.beta) + 1e-9) + 1;
    double lambda = printed ? sigma : line_search_lambda(1 / sigma, trials, q.beta);
    double threshold_scale = 2 * lambda * sensitivity, query_scale = 4 * lambda * sensitivity;
    int index = live_above_threshold(label, trials, slack, &q, 0, threshold_scale, query_scale, sensitivity,
                                     q.beta);
    return index < 0 ? fallback : q.initial * pow(q.beta, index);
}

/* -- Algorithm 3 ------------------------------------------------------------------------------------------------- */
static double bound_on_steps(const risk *r, const plan *s, const double *w) {
    double root = curvature_root(s), eh = s->margin * s->curvature;
    double by_gradient = (1 - s->c1 - s->c_g) * s->c_g * s->gradient * s->gradient / s->smoothness;
    double by_curvature = s->c_h * root * root * pow(eh, 3) / pow(s->hessian_lipschitz, 2) / 4;
    double std = sqrt(1 / (2 * s->rho_f)) * s->delta_f, value = risk_value(r, w), top;
    if (s->printed) {
        top = value + fabs(live_noise("initial value", std));
    } else {
        live_gaussian("initial value", &value, 0, std, s->delta_f, ALL, &top);
        top -= std * normal_quantile(s->failure);
    }
    return fmax(1, ceil((top - s->lower_bound) / fmin(by_gradient, by_curvature)));
}

/* Release the upper triangle of a symmetric matrix, and mirror it. */
static void release_symmetric(const char *label, double *h, size_t d, double std, double sensitivity) {
    size_t count = d * (d + 1) / 2, at = 0;
    double *upper = need_memory(count, sizeof *upper);
    for (size_t j = 0; j < d; ++j)
        for (size_t k = j; k < d; ++k) upper[at++] = h[j * d + k];
    live_gaussian(label, upper, count, std, sensitivity, ALL, upper);
    at = 0;
    for (size_t j = 0; j < d; ++j)
        for (size_t k = j; k < d; ++k) h[j * d + k] = h[k * d + j] = upper[at++];
    free(upper);
}

static void finish(const double *w, size_t d, int certified, int k_g, int k_h) {
    say_numbers("{\"output\": {\"w\": ", w, d);
    say(", \"certified\": %s, \"gradient_steps\": %d", certified ? "true" : "false", k_g);
    say(", \"curvature_steps\": %d, \"hessian_evaluations\": %d}}\n", k_h, k_h + certified);
}

static void descend(const risk *r, const plan *s, double *w) {
    size_t d = r->d;
    double T = bound_on_steps(r, s, w), sigma = sqrt(s->releases_per_step * T / (2 * (s->rho - s->rho_f)));
    double fallback_g = 2 * (1 - s->c1 - s->c_g) / s->smoothness;
    double *g = need_memory(d, sizeof *g), *p = need_memory(d, sizeof *p), *h = need_memory(d * d, sizeof *h);
    int k_g = 0, k_h = 0, certified = 0;
    for (double k = 1; k <= T && !certified; ++k) {
        risk_gradient(r, w, g);
        live_gaussian("gradient", g, d, sigma * s->delta_g, s->delta_g, ALL, g);
        double norm = sqrt(dot(g, g, d)), gamma;
        if (norm > s->gradient) {
            for (size_t j = 0; j < d; ++j) p[j] = -g[j];
            search q = {r, w, p, risk_value(r, w), s->c_g * dot(g, g, d), 0, s->b_g * fallback_g, s->beta_g};
            gamma = line_search("line search/gradient", q, s->delta_g * q.initial * norm, fallback_g, sigma, s->printed);
            ++k_g;
        } else {
            risk_hessian(r, w, h);
            release_symmetric("hessian", h, d, sigma * s->delta_h, s->delta_h);
            double smallest = smallest_eigenpair(h, d, p);
            if (smallest >= -s->margin * s->curvature) {
                certified = 1;
                break;
            }
            double sign = dot(p, g, d) > 0 ? -1 : 1;
            for (size_t j = 0; j < d; ++j) p[j] *= sign;
            double fallback = curvature_root(s) * fabs(smallest) / s->hessian_lipschitz;
            search q = {r, w, p, risk_value(r, w), 0, s->c_h * fabs(smallest) / 2, s->b_h * fallback, s->beta_h};
            gamma = line_search("line search/curvature", q, s->delta_g * q.initial, fallback, sigma, s->printed);
            ++k_h;
        }
        for (size_t j = 0; j < d; ++j) w[j] += gamma * p[j];
    }
    finish(w, d, certified, k_g, k_h);
    free(g), free(p), free(h);
}

verdict opt_ls(const json *problem, const json *schedule) {
    if (json_get(json_need(schedule, "eigen"), "failure"))
        return (verdict){"eigenvalues are found by a dense method only", NULL};
    risk r;
    verdict v = risk_read(problem, &r);
    if (!v.refused && !r.labels) v.unsupported = "opt_ls needs features and labels";
    if (v.unsupported || v.refused) return risk_free(&r), v;
    plan s = read_plan(schedule);
    size_t d;
    double *w = json_numbers(json_need(schedule, "start"), &d);
    descend(&r, &s, w);
    free(w);
    risk_free(&r);
    return WELL;
}
