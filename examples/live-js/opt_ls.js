"use strict";
// OPT-LS of "Differentially Private Optimization for Smooth Nonconvex ERM" (Algorithms 2 and 3): private line search.

const live = require("./live.js");
const { smallestEigenpair } = require("./eigen.js");
const { lambdaFor } = require("./line_search_cost.js");
const { quantile } = require("./normal.js");
const { dot, norm, risk } = require("./risk.js");

/** The larger root of eq. (15). */
function curvatureRoot({ accuracy, search }) {
  const a = 1 - accuracy.c - search.c_H;
  return (3 * a) / 2 + 3 * Math.sqrt((a * a) / 4 - (2 * accuracy.c2) / 3);
}

/** T of eq. (6): as printed, or from a release of f(w0). */
function boundOnSteps(problem, s, w) {
  const { c_g, c_H } = s.search;
  const curvature = s.eigen.margin * s.accuracy.curvature;
  const byGradient = ((1 - s.accuracy.c1 - c_g) * c_g * s.accuracy.gradient ** 2) / s.smoothness;
  const byCurvature = (c_H * curvatureRoot(s) ** 2 * curvature ** 3) / s.hessian_lipschitz ** 2 / 4;
  const std = Math.sqrt(1 / (2 * s.noise.rho_f)) * s.sensitivity.value;
  const value = problem.value(w);
  let top;
  if (s.reading === "printed") top = value + Math.abs(live.noise("initial value", std));
  else top = live.gaussian("initial value", value, std, s.sensitivity.value) - std * quantile(s.failure);
  return Math.max(1, Math.ceil((top - s.lower_bound) / Math.min(byGradient, byCurvature)));
}

/** A step along p: trial i is initial beta^i, the fallback where none is accepted. */
function lineSearch(label, problem, w, p, decrease, { initial, fallback, beta, sensitivity, lambdaOf }) {
  const here = problem.value(w);
  const step = (i) => initial * beta ** i;
  const slack = (i) => here - problem.value(w.map((x, j) => x + step(i) * p[j])) - decrease(step(i));
  const trials = Math.floor(Math.log(fallback / initial) / Math.log(beta) + 1e-9) + 1;
  const lambda = lambdaOf(trials, beta);
  const scales = { threshold_scale: 2 * lambda * sensitivity, query_scale: 4 * lambda * sensitivity, sensitivity, falls: beta };
  const index = live.aboveThreshold(label, trials, slack, scales);
  return index === null ? fallback : step(index);
}

/** Release the upper triangle of a symmetric matrix, and mirror it. */
function releaseSymmetric(label, matrix, std, sensitivity) {
  const upper = matrix.flatMap((row, j) => row.slice(j));
  const released = live.gaussian(label, upper, std, sensitivity);
  const found = matrix.map((row) => [...row]);
  let at = 0;
  for (let j = 0; j < matrix.length; j++)
    for (let k = j; k < matrix.length; k++) found[j][k] = found[k][j] = released[at++];
  return found;
}

/** Algorithm 3. */
function optLs(data, s) {
  if (s.eigen.failure !== undefined) throw new live.Unsupported("eigenvalues are found by a dense method only");
  const problem = risk(data);
  if (problem.value === undefined) throw new live.Unsupported("opt_ls needs features and labels");
  const { gradient: deltaG, hessian: deltaH } = s.sensitivity;
  let w = s.start;
  const T = boundOnSteps(problem, s, w);
  const sigma = Math.sqrt((s.noise.releases_per_step * T) / (2 * (s.noise.rho - s.noise.rho_f)));
  const lambdaOf = (trials, beta) => (s.reading === "printed" ? sigma : lambdaFor(1 / sigma, trials, beta));
  const fallbackG = (2 * (1 - s.accuracy.c1 - s.search.c_g)) / s.smoothness;
  let [stepsG, stepsH] = [0, 0];
  const outcome = (certified) => ({
    w,
    certified,
    gradient_steps: stepsG,
    curvature_steps: stepsH,
    hessian_evaluations: stepsH + (certified ? 1 : 0),
  });
  for (let k = 1; k <= T; k++) {
    const g = live.gaussian("gradient", problem.gradient(w), sigma * deltaG, deltaG);
    let p, gamma;
    if (norm(g) > s.accuracy.gradient) {
      p = g.map((x) => -x);
      const initial = s.search.b_g * fallbackG;
      const plan = { initial, fallback: fallbackG, beta: s.search.beta_g, sensitivity: deltaG * initial * norm(g), lambdaOf };
      gamma = lineSearch("line search/gradient", problem, w, p, (x) => s.search.c_g * x * dot(g, g), plan);
      stepsG++;
    } else {
      const matrix = releaseSymmetric("hessian", problem.hessian(w), sigma * deltaH, deltaH);
      const [smallest, vector] = smallestEigenpair(matrix);
      if (smallest >= -s.eigen.margin * s.accuracy.curvature) return outcome(true);
      p = dot(vector, g) > 0 ? vector.map((x) => -x) : vector;
      const fallback = (curvatureRoot(s) * Math.abs(smallest)) / s.hessian_lipschitz;
      const initial = s.search.b_H * fallback;
      const plan = { initial, fallback, beta: s.search.beta_H, sensitivity: deltaG * initial, lambdaOf };
      const decrease = (x) => 0.5 * s.search.c_H * x ** 2 * Math.abs(smallest);
      gamma = lineSearch("line search/curvature", problem, w, p, decrease, plan);
      stepsH++;
    }
    w = w.map((x, j) => x + gamma * p[j]);
  }
  return outcome(false);
}

module.exports = { optLs };
