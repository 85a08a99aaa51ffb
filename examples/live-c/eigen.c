/* Jacobi's method: rotations until nothing is left beside the diagonal. */
#include "eigen.h"

#include <math.h>
#include <stdlib.h>

#include "json.h"

#define SWEEPS 100

static void rotate(double *a, double *v, size_t d, size_t p, size_t q) {
    double theta = (a[q * d + q] - a[p * d + p]) / (2 * a[p * d + q]);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (size_t k = 0; k < d; ++k) {
        double x = a[k * d + p], y = a[k * d + q];
        a[k * d + p] = c * x - s * y;
        a[k * d + q] = s * x + c * y;
    }
    for (size_t k = 0; k < d; ++k) {
        double x = a[p * d + k], y = a[q * d + k];
        a[p * d + k] = c * x - s * y;
        a[q * d + k] = s * x + c * y;
        x = v[k * d + p], y = v[k * d + q];
        v[k * d + p] = c * x - s * y;
        v[k * d + q] = s * x + c * y;
    }
}

double smallest_eigenpair(double *a, size_t d, double *vector) {
    double *v = need_memory(d * d, sizeof *v), size = 0;
    for (size_t j = 0; j < d; ++j) v[j * d + j] = 1;
    for (size_t j = 0; j < d * d; ++j) size += a[j] * a[j];
    for (int sweep = 0; sweep < SWEEPS; ++sweep) {
        double left = 0;
        for (size_t p = 0; p < d; ++p)
            for (size_t q = p + 1; q < d; ++q) left += a[p * d + q] * a[p * d + q];
        if (left <= 1e-34 * size) break;
        for (size_t p = 0; p < d; ++p)
            for (size_t q = p + 1; q < d; ++q)
                if (a[p * d + q] != 0) rotate(a, v, d, p, q);
    }
    size_t least = 0;
    for (size_t j = 1; j < d; ++j)
        if (a[j * d + j] < a[least * d + least]) least = j;
    for (size_t j = 0; j < d; ++j) vector[j] = v[j * d + least];
    free(v);
    return a[least * d + least];
}
