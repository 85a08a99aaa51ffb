#ifndef ALGORITHMS_H
#define ALGORITHMS_H

#include "json.h"

/* Run one case and write its output; a reason in words where the case is not known. */
const char *dp_sgd(const json *problem, const json *schedule);
const char *opt_ls(const json *problem, const json *schedule);

#endif
