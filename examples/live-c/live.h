/* The live protocol of dpassay (docs/live.md): the program asks, the harness answers. */
#ifndef LIVE_H
#define LIVE_H

#include <stddef.h>

#include "json.h"

#define ALL (-1) /* a release that depends on all records, not on a batch */

typedef struct {
    int number;      /* what a release names as its batch */
    size_t size;     /* records in it */
    size_t *indices; /* which ones; free() them */
} batch;

/* Releases: `released` gets the noisy value, of the length of the query. A count of 0 stands for one plain number. */
void live_gaussian(const char *label, const double *query, size_t count, double std, double sensitivity, int batch_number,
                   double *released);

/* The index of the first query above, or -1. `query` is called for the indices that are needed. */
int live_above_threshold(const char *label, int count, double (*query)(int index, void *with), void *with,
                         double threshold, double threshold_scale, double query_scale, double sensitivity,
                         double falls);

batch live_batch(const char *label, size_t n, size_t size);
batch live_poisson(const char *label, size_t n, double rate);
double live_noise(const char *label, double std); /* raw noise: it protects nothing by itself */

/* How a case went: both NULL where the output was written; else why this program cannot run it, or why nobody should. */
typedef struct {
    const char *unsupported, *refused;
} verdict;

static const verdict WELL = {NULL, NULL};

/* Run cases until there are no more. `run` writes the output with the functions below. */
typedef verdict (*algorithm)(const char *id, const json *problem, const json *schedule);
int live_main(const char *name, algorithm run);

void say_numbers(const char *before, const double *values, size_t count);
void say(const char *format, ...);

#endif
