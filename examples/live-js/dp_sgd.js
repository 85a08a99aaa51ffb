"use strict";
// DP-SGD with per-record clipping (Abadi et al. 2016, Algorithm 1): full, fixed-size and Poisson batches.

const live = require("./live.js");
const { norm, risk } = require("./risk.js");

/** The mean of the clipped gradients of these records, divided by the (expected) size of a batch. */
function clippedMean(problem, w, indices, clip, size) {
  const mean = new Array(problem.d).fill(0);
  for (const i of indices) {
    const gradient = problem.recordGradient(w, i);
    const length = norm(gradient);
    const factor = length > clip ? clip / length : 1;
    gradient.forEach((x, j) => (mean[j] += (factor * x) / size));
  }
  return mean;
}

function dpSgd(data, schedule) {
  if (schedule.project !== null) throw new live.Unsupported("there is no projection");
  const multiplier = schedule.noise.by_label.gradient;
  if (!(multiplier >= 0)) throw new live.Refused("the noise of 'gradient' must be given");
  const problem = risk(data);
  const { steps, clip, poisson } = schedule;
  const size = schedule.batch_size ?? problem.n;
  const everybody = [...Array(problem.n).keys()];
  const sensitivity = (2 * clip) / size;
  const std = multiplier * sensitivity;
  let w = schedule.start ?? new Array(problem.d).fill(0);
  for (let t = 0; t < steps; t++) {
    let batch; // undefined: all records
    if (poisson) batch = live.poisson("batch", problem.n, size / problem.n);
    else if (size < problem.n) batch = live.batch("batch", problem.n, size);
    const mean = clippedMean(problem, w, batch?.indices ?? everybody, clip, size);
    const released = live.gaussian("gradient", mean, std, sensitivity, batch);
    w = w.map((x, j) => x - schedule.learning_rate * released[j]);
  }
  return w;
}

module.exports = { dpSgd };
