#ifndef ALGORITHMS_H
#define ALGORITHMS_H

#include "live.h"

/* Run one case and write its output, or say why not. */
verdict dp_sgd(const json *problem, const json *schedule);
verdict opt_ls(const json *problem, const json *schedule);

#endif
