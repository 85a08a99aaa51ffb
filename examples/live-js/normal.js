"use strict";
// The normal law: what Math lacks.

/** 1 - erf(x): a series in the middle, a continued fraction in the tail. */
function erfc(x) {
  if (x < 0) return 2 - erfc(-x);
  if (x < 2) {
    let term = x;
    let sum = x;
    for (let k = 1; Math.abs(term) > 1e-17 * Math.abs(sum); k++) {
      term *= (2 * x * x) / (2 * k + 1);
      sum += term;
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
  }
  let fraction = x;
  for (let k = 120; k >= 1; k--) fraction = x + k / 2 / fraction;
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / fraction;
}

const cdf = (x) => 0.5 * erfc(-x / Math.SQRT2);
const logCdf = (x) => Math.log(cdf(x));

/** The quantile of p < 1/2, by Newton's method on the logarithm, which is concave: from the left it never goes too far. */
function quantile(p) {
  let x = -Math.sqrt(-2 * Math.log(p));
  for (let k = 0; k < 100; k++) {
    const log = logCdf(x);
    const logDensity = (-x * x) / 2 - 0.5 * Math.log(2 * Math.PI);
    const step = (log - Math.log(p)) / Math.exp(logDensity - log);
    x -= step;
    if (Math.abs(step) < 1e-15 * Math.abs(x)) break;
  }
  return x;
}

module.exports = { cdf, quantile };
