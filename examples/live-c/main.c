#include <string.h>

#include "algorithms.h"
#include "live.h"

static verdict run(const char *id, const json *problem, const json *schedule) {
    if (strcmp(id, "baselines/dp_sgd") == 0) return dp_sgd(problem, schedule);
    if (strcmp(id, "second_order_erm/opt_ls") == 0) return opt_ls(problem, schedule);
    return (verdict){"it knows baselines/dp_sgd and second_order_erm/opt_ls", NULL};
}

int main(void) { return live_main("live-c", run); }
