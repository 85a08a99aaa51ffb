/* What a line search costs: a bound on delta at every epsilon by dynamic programming, then the Gaussian above it. */
#include "line_search_cost.h"

#include <math.h>
#include <string.h>

/* Grid points of log a: 32 for the first query's shift. */
enum { PER = 32, BACK = 2 * PER, LAST = 4 * PER, COUNT = LAST + 1 };
static const double MOST_QUERIES = 100000, SHARE = 0.25, GRID = 1.01;

typedef struct {
    double log_a[COUNT], value[COUNT]; /* delta at epsilon = log a */
} curve;

static double normal_cdf(double x) { return 0.5 * erfc(-x / sqrt(2)); }

/* Newton's method on the logarithm, which is concave: from the left it never goes too far. */
double normal_quantile(double p) {
    double x = -sqrt(-2 * log(p));
    for (int k = 0; k < 100; ++k) {
        double log_cdf = log(normal_cdf(x)), log_density = -x * x / 2 - 0.5 * log(2 * acos(-1));
        double step = (log_cdf - log(p)) / exp(log_density - log_cdf);
        x -= step;
        if (fabs(step) < 1e-15 * fabs(x)) break;
    }
    return x;
}

/* sup_x F(x) - exp(log_ratio) F(x - shift) for the Laplace law F. */
static double laplace_share(double log_ratio, double shift) {
    if (log_ratio >= shift) return 0;
    return -expm1(log_ratio <= -shift ? log_ratio : (log_ratio - shift) / 2);
}

/* The largest convex function of a below the values, in their place. */
static void hull(curve *c) {
    double at[COUNT];
    int kept[COUNT] = {0}, count = 1;
    for (int k = 0; k < COUNT; ++k) at[k] = expm1(c->log_a[k]);
    for (int k = 1; k < COUNT; ++k) {
        for (; count > 1; --count) {
            int i = kept[count - 2], j = kept[count - 1];
            double here = (c->value[j] - c->value[i]) * (at[k] - at[i]);
            if (here < (c->value[k] - c->value[i]) * (at[j] - at[i])) break;
        }
        kept[count++] = k;
    }
    for (int m = 0; m + 1 < count; ++m) {
        int i = kept[m], j = kept[m + 1];
        double from = c->value[i], slope = (c->value[j] - from) / (at[j] - at[i]);
        for (int k = i + 1; k < j; ++k) c->value[k] = from + slope * (at[k] - at[i]);
    }
}

/* V at log a = k step; below a = 1 by symmetry. */
static double at(const curve *c, int k, double step) {
    return k < 0 ? -expm1(k * step) + exp(k * step) * c->value[-k] : c->value[k];
}

/* One query more, which moves by so many grid points: it may land on any chord within its reach. */
static void one_more(curve *c, double step, int moved) {
    double shift = moved * step, slope[BACK + LAST], top[BACK + LAST], factor[2 * PER + 2], best[COUNT];
    curve old = *c;
    for (int k = -BACK; k < LAST; ++k) { /* of each chord: how it falls, times a at its left end; its height at a = 0 */
        slope[k + BACK] = (at(&old, k, step) - at(&old, k + 1, step)) / expm1(step);
        top[k + BACK] = fmax(at(&old, k, step) + slope[k + BACK], 0);
    }
    for (int i = 0; i < 2 * moved + 2; ++i) factor[i] = exp((moved + 1 - i) * step);
    for (int k = 0; k < COUNT; ++k) {
        double a = exp(old.log_a[k]);
        best[k] = old.value[k];
        for (int offset = -moved - 1; offset <= moved && k + offset < LAST; ++offset) {
            int chord = k + offset + BACK;
            double height = top[chord], fall = slope[chord] * factor[offset + moved + 1];
            if (height > 0) best[k] = fmax(best[k], height * laplace_share(log(fall / height), shift));
            if (k <= moved && a > fall) {
                double ratio = log((1 - fmin(height, 1)) / (a - fall));
                best[k] = fmax(best[k], 1 - a + (a - fall) * laplace_share(ratio, shift));
            }
        }
    }
    memcpy(c->value, best, sizeof best);
    hull(c);
    for (int k = 0; k < COUNT; ++k) c->value[k] = fmax(c->value[k], old.value[k]);
}

/* The last trials, which move least, come first. */
static curve worst_tests(double pure, int trials, double beta) {
    double shift = pure * SHARE, still = 1e-12 + 1e-15 / shift;
    curve c = {{0}, {0}};
    for (int k = 0; k < COUNT; ++k) c.log_a[k] = k * shift / PER;
    for (int i = trials - 1; i >= 0; --i) one_more(&c, shift / PER, (int)fmax(1, ceil(PER * pow(beta, i))));
    for (int k = 0; k < LAST; ++k) {
        double response = fmax(0, -expm1(c.log_a[k] - pure) / (1 + exp(-pure)));
        c.value[k] = fmin(c.value[k] * (1 + 2 * MOST_QUERIES * still), response);
    }
    c.value[LAST] = 0;
    hull(&c);
    return c;
}

/* A Gaussian's delta is convex in a: where its tangent at one end of a chord is above the chord, so is the curve. */
static int holds(const curve *c, double mu) {
    double gauss = 0, tail = 0;
    for (int k = 0; k < COUNT; ++k) {
        double before = gauss, fell = tail, ratio = c->log_a[k] / mu;
        tail = normal_cdf(-ratio - mu / 2);
        gauss = normal_cdf(mu / 2 - ratio) - exp(c->log_a[k]) * tail;
        if (k == 0) continue;
        double gap = exp(c->log_a[k]) - exp(c->log_a[k - 1]);
        int left = c->value[k - 1] <= before && c->value[k] <= before - gap * fell;
        int right = c->value[k] <= gauss && c->value[k - 1] <= gauss + gap * tail;
        if (!left && !right) return 0;
    }
    return 1;
}

double line_search_mu(double lambda, int trials, double beta) {
    double pure = 1 / lambda, low = 0, high = -2 * normal_quantile(1 / (1 + exp(pure)));
    if (pure * SHARE < 1e-7 || pure * SHARE > 5 || pure > 100) return high;
    curve c = worst_tests(pure, trials, beta);
    while (high - low > 1e-4 * high) {
        double middle = (low + high) / 2;
        if (holds(&c, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* One for each of two kinds of search is kept: a run asks for the same ones at every step. */
double line_search_lambda(double mu, int trials, double beta) {
    static struct {
        double mu, beta, lambda;
        int trials;
    } known[2];
    for (int i = 0; i < 2; ++i)
        if (known[i].mu == mu && known[i].trials == trials && known[i].beta == beta) return known[i].lambda;
    int power = (int)lround(log(0.31 / mu) / log(GRID)); /* mu is nearly proportional to 1/lambda */
    while (line_search_mu(pow(GRID, power), trials, beta) > mu) ++power;
    while (line_search_mu(pow(GRID, power - 1), trials, beta) <= mu) --power;
    known[1] = known[0];
    known[0].mu = mu, known[0].trials = trials, known[0].beta = beta, known[0].lambda = pow(GRID, power);
    return known[0].lambda;
}
