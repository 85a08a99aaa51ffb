/* DP-SGD with per-record clipping (Abadi et al. 2016, Algorithm 1): full, fixed-size and Poisson batches. */
#include "algorithms.h"

#include <math.h>
#include <stdlib.h>

#include "live.h"
#include "risk.h"

/* The mean of the clipped gradients of these records, divided by the (expected) size of a batch. */
static void clipped_mean(const risk *r, const double *w, const batch *b, double clip, double size, double *mean) {
    double *gradient = need_memory(r->d, sizeof *gradient);
    for (size_t j = 0; j < r->d; ++j) mean[j] = 0;
    for (size_t k = 0; k < (b ? b->size : r->n); ++k) {
        risk_record_gradient(r, w, b ? b->indices[k] : k, gradient);
        double norm = sqrt(dot(gradient, gradient, r->d));
        double factor = norm > clip ? clip / norm : 1;
        for (size_t j = 0; j < r->d; ++j) mean[j] += factor * gradient[j] / size;
    }
    free(gradient);
}

verdict dp_sgd(const json *problem, const json *schedule) {
    if (json_need(schedule, "project")->type != JSON_NULL) return (verdict){"there is no projection", NULL};
    const json *multiplier = json_get(json_need(json_need(schedule, "noise"), "by_label"), "gradient");
    if (!multiplier || multiplier->number < 0) return (verdict){NULL, "the noise of 'gradient' must be given"};
    risk r;
    verdict v = risk_read(problem, &r);
    if (v.unsupported || v.refused) return risk_free(&r), v;
    const json *wanted = json_need(schedule, "batch_size");
    double size = wanted->type == JSON_NULL ? (double)r.n : wanted->number, clip = json_number(schedule, "clip");
    double rate = json_number(schedule, "learning_rate"), steps = json_number(schedule, "steps");
    int poisson = json_is_true(schedule, "poisson"), full = size == (double)r.n && !poisson;
    double sensitivity = 2 * clip / size, std = multiplier->number * sensitivity;

    const json *start = json_need(schedule, "start");
    size_t length = r.d;
    double *w = start->type == JSON_NULL ? need_memory(r.d, sizeof *w) : json_numbers(start, &length);
    if (length != r.d) return free(w), risk_free(&r), (verdict){NULL, "the start has another dimension"};
    double *mean = need_memory(r.d, sizeof *mean);
    double *released = need_memory(r.d, sizeof *released);
    for (int t = 0; t < steps; ++t) {
        batch b = {ALL, 0, NULL};
        if (!full) b = poisson ? live_poisson("batch", r.n, size / (double)r.n) : live_batch("batch", r.n, (size_t)size);
        clipped_mean(&r, w, full ? NULL : &b, clip, size, mean);
        live_gaussian("gradient", mean, r.d, std, sensitivity, b.number, released);
        for (size_t j = 0; j < r.d; ++j) w[j] -= rate * released[j];
        free(b.indices);
    }
    say_numbers("{\"output\": ", w, r.d);
    say("}\n");
    free(w), free(mean), free(released);
    risk_free(&r);
    return WELL;
}
