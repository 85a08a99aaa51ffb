"use strict";
// What a line search costs, as docs/vectors.md writes it down: mu(lambda), and the lambda for a given mu.

const { cdf, quantile } = require("./normal.js");

const PER = 32; // grid points of log a for the shift of the first query
const MOST_QUERIES = 100000;
const SHARE = 1 / 4; // of 1/lambda that is the sensitivity over the scale of the query noise
const GRID = 1.01; // lambda is a power of it

/** sup_x F(x) - exp(logRatio) F(x - shift) for the Laplace law F. */
function laplaceShare(logRatio, shift) {
  if (logRatio >= shift) return 0;
  return -Math.expm1(logRatio <= -shift ? logRatio : (logRatio - shift) / 2);
}

/** The largest convex function of a = exp(log a) below the values, at the same places. */
function hull(logs, values) {
  const at = logs.map(Math.expm1);
  const kept = [0];
  for (let k = 1; k < at.length; k++) {
    while (kept.length > 1) {
      const [i, j] = kept.slice(-2);
      if ((values[j] - values[i]) * (at[k] - at[i]) < (values[k] - values[i]) * (at[j] - at[i])) break;
      kept.pop();
    }
    kept.push(k);
  }
  let right = 1;
  return at.map((x) => {
    while (at[kept[right]] < x) right++;
    const [i, j] = [kept[right - 1], kept[right]];
    return values[i] + ((values[j] - values[i]) * (x - at[i])) / (at[j] - at[i]);
  });
}

/** One query more, which moves by `moved` grid points; below a = 1 the curve follows by symmetry. */
function oneMore(logs, values, step, moved) {
  const shift = moved * step;
  const back = 2 * PER;
  const below = Array.from({ length: back }, (_, i) => (i - back) * step);
  const all = [...below.map((log, i) => -Math.expm1(log) + Math.exp(log) * values[back - i]), ...values];
  const slope = all.slice(1).map((value, i) => (all[i] - value) / Math.expm1(step)); // downward, times a at its left end
  const factor = Array.from({ length: 2 * moved + 2 }, (_, i) => Math.exp((moved + 1 - i) * step));
  const best = values.map((value, k) => {
    const a = Math.exp(logs[k]);
    for (let offset = -moved - 1; offset <= moved && k + offset < values.length - 1; offset++) {
      const chord = k + offset + back;
      const top = Math.max(all[chord] + slope[chord], 0);
      const fall = slope[chord] * factor[offset + moved + 1];
      if (top > 0) value = Math.max(value, top * laplaceShare(Math.log(fall / top), shift));
      if (k <= moved && a > fall) {
        const ratio = Math.log((1 - Math.min(top, 1)) / (a - fall));
        value = Math.max(value, 1 - a + (a - fall) * laplaceShare(ratio, shift));
      }
    }
    return value;
  });
  return hull(logs, best).map((value, k) => Math.max(value, values[k]));
}

/** delta at epsilon = logs[k] of a search that is pure-DP, with so many trials: a convex bound, 0 at epsilon = pure. */
function curve(pure, trials, beta) {
  const shift = pure * SHARE;
  const still = 1e-12 + 1e-15 / shift;
  const logs = Array.from({ length: PER / SHARE + 1 }, (_, k) => (k * shift) / PER);
  let values = logs.map(() => 0);
  for (let i = trials - 1; i >= 0; i--) {
    const moved = Math.max(1, Math.ceil(PER * beta ** i)); // the last trials, which move least, come first
    values = oneMore(logs, values, shift / PER, moved);
  }
  values = values.map((value, k) => {
    const response = Math.max(0, -Math.expm1(logs[k] - pure) / (1 + Math.exp(-pure)));
    return k === logs.length - 1 ? 0 : Math.min(value * (1 + 2 * MOST_QUERIES * still), response);
  });
  return [logs, hull(logs, values)];
}

/** A mu for which a line search with this lambda is mu-GDP, whatever its queries; trial i moves by beta^i at most. */
function muOf(lambda, trials, beta) {
  const pure = 1 / lambda;
  let [low, high] = [0, -2 * quantile(1 / (1 + Math.exp(pure)))]; // what every (1/lambda)-DP release keeps
  if (pure * SHARE < 1e-7 || pure * SHARE > 5 || pure > 100) return high;
  const [logs, values] = curve(pure, trials, beta);
  const gap = logs.map((log, k) => (k + 1 < logs.length ? Math.exp(logs[k + 1]) - Math.exp(log) : 0));
  const holds = (mu) => {
    const tail = logs.map((log) => cdf(-log / mu - mu / 2));
    const gauss = logs.map((log, k) => cdf(mu / 2 - log / mu) - Math.exp(log) * tail[k]);
    for (let k = 0; k + 1 < logs.length; k++) {
      const left = values[k] <= gauss[k] && values[k + 1] <= gauss[k] - gap[k] * tail[k];
      const right = values[k + 1] <= gauss[k + 1] && values[k] <= gauss[k + 1] + gap[k] * tail[k + 1];
      if (!left && !right) return false;
    }
    return true;
  };
  while (high - low > 1e-4 * high) {
    const middle = (low + high) / 2;
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

const known = new Map();

/** The least power of 1.01 whose mu is at most this one: the lambda of a line search that may cost mu. */
function lambdaFor(mu, trials, beta) {
  const cost = (power) => {
    const key = [trials, beta, power].join();
    if (!known.has(key)) known.set(key, muOf(GRID ** power, trials, beta));
    return known.get(key);
  };
  let power = Math.round(Math.log(0.31 / mu) / Math.log(GRID)); // mu is nearly proportional to 1/lambda
  while (cost(power) > mu) power++;
  while (cost(power - 1) <= mu) power--;
  return GRID ** power;
}

module.exports = { lambdaFor, muOf };
