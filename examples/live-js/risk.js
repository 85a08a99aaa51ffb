"use strict";
// Empirical risks: records with constant gradients, and logistic regression with a saturating regulariser.

const { Refused, Unsupported } = require("./live.js");

const dot = (a, b) => a.reduce((sum, x, j) => sum + x * b[j], 0);
const norm = (a) => Math.sqrt(dot(a, a));
const sigmoid = (m) => (m >= 0 ? 1 / (1 + Math.exp(-m)) : Math.exp(m) / (1 + Math.exp(m)));

/** A problem of the harness: n, d and the gradient of one record. */
function risk(problem) {
  if (problem.rows !== undefined) {
    const rows = checked(problem.rows);
    return { n: rows.length, d: rows[0].length, recordGradient: (w, i) => rows[i] };
  }
  if (problem.features === undefined) throw new Unsupported("problems have rows, or features and labels");
  if (problem.loss.name !== "loss_a") throw new Unsupported("the only loss is loss_a");
  const { features, labels, feature_bound } = problem;
  if (!labels.every((y) => Math.abs(y) === 1)) throw new Refused("labels must be -1 or +1");
  const longest = feature_bound * (1 + 1e-12);
  if (checked(features).some((x) => norm(x) > longest)) throw new Refused("a record is longer than feature_bound");
  return logistic(features, labels, problem.loss.regulariser.weight);
}

/** What is not finite comes as a string. */
function checked(rows) {
  if (!rows.every((row) => row.every(Number.isFinite))) throw new Refused("records must be finite");
  return rows;
}

function logistic(features, labels, weight) {
  const n = features.length;
  const d = features[0].length;
  const margin = (w, i) => labels[i] * dot(features[i], w);

  function recordGradient(w, i) {
    const slope = -labels[i] * sigmoid(-margin(w, i));
    return features[i].map((x, j) => slope * x + (weight * 2 * w[j]) / (1 + w[j] ** 2) ** 2);
  }

  function value(w) {
    let sum = 0;
    for (let i = 0; i < n; i++) {
      const m = margin(w, i);
      sum += m > 0 ? Math.log1p(Math.exp(-m)) : Math.log1p(Math.exp(m)) - m;
    }
    return sum / n + weight * w.reduce((all, x) => all + x ** 2 / (1 + x ** 2), 0);
  }

  function gradient(w) {
    const mean = new Array(d).fill(0);
    for (let i = 0; i < n; i++) recordGradient(w, i).forEach((x, j) => (mean[j] += x / n));
    return mean;
  }

  function hessian(w) {
    const found = w.map(() => new Array(d).fill(0));
    for (let i = 0; i < n; i++) {
      const m = margin(w, i);
      const curvature = (sigmoid(m) * sigmoid(-m)) / n;
      for (let j = 0; j < d; j++)
        for (let k = 0; k < d; k++) found[j][k] += curvature * features[i][j] * features[i][k];
    }
    w.forEach((x, j) => (found[j][j] += (weight * 2 * (1 - 3 * x ** 2)) / (1 + x ** 2) ** 3));
    return found;
  }

  return { n, d, recordGradient, value, gradient, hessian };
}

module.exports = { dot, norm, risk };
