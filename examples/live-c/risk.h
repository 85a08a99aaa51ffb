/* Empirical risks: records with constant gradients, and logistic regression with a saturating regulariser. */
#ifndef RISK_H
#define RISK_H

#include "json.h"
#include "live.h"

typedef struct {
    size_t n, d;
    double *rows;   /* n rows of d numbers: features, or the constant gradients */
    double *labels; /* NULL: record i has the gradient rows[i] whatever w is */
    double weight;  /* of the regulariser sum_j w_j^2 / (1 + w_j^2) */
} risk;

/* A problem of the harness, to be freed whatever the verdict is. */
verdict risk_read(const json *problem, risk *into);
void risk_free(risk *r);

double dot(const double *a, const double *b, size_t d);

/* Of one record: the gradient into `out`, regulariser included. */
void risk_record_gradient(const risk *r, const double *w, size_t record, double *out);

/* Of all records. */
double risk_value(const risk *r, const double *w);
void risk_gradient(const risk *r, const double *w, double *out);
void risk_hessian(const risk *r, const double *w, double *out); /* d times d */

#endif
