#ifndef EIGEN_H
#define EIGEN_H

#include <stddef.h>

/* Smallest eigenvalue of a symmetric d times d matrix (which is overwritten), its unit eigenvector into `vector`. */
double smallest_eigenpair(double *matrix, size_t d, double *vector);

#endif
