/* What a line search costs, as docs/vectors.md writes it down. */
#ifndef LINE_SEARCH_COST_H
#define LINE_SEARCH_COST_H

double normal_quantile(double p); /* p < 1/2 */

/* A mu for which a line search with this lambda is mu-GDP, whatever its queries; trial i moves by beta^i at most. */
double line_search_mu(double lambda, int trials, double beta);

/* The least power of 1.01 whose mu is at most this one: the lambda of a line search that may cost mu. */
double line_search_lambda(double mu, int trials, double beta);

#endif
