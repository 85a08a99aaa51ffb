"use strict";
// DP-FTRL with a binary tree (dp_ftrl/dp_ftrl) and the single-sample estimator (dro/single_sample) on the live protocol.
// One file, Node.js, no packages.

const { readSync, writeSync } = require("node:fs");

// ---- lines ----

let pending = "";
const chunk = Buffer.alloc(65536);

function receive() {
  while (!pending.includes("\n")) {
    const got = readSync(0, chunk);
    if (got === 0) return null;
    pending += chunk.toString("utf8", 0, got);
  }
  const at = pending.indexOf("\n");
  const line = pending.slice(0, at);
  pending = pending.slice(at + 1);
  return JSON.parse(line);
}

function send(object) {
  const text = JSON.stringify(object, (_, x) => (typeof x === "number" && !Number.isFinite(x) ? String(x).toLowerCase() : x));
  writeSync(1, text + "\n");
}

function request(object) {
  send(object);
  const reply = receive();
  if (reply === null) process.exit(0);
  return reply;
}

class Refusal extends Error {}

function insist(condition, why) {
  if (!condition) throw new Refusal(why);
}

// ---- noise ----

class Noise {
  constructor(spec, label) {
    this.level = spec.by_label[label];
    this.absolute = spec.class === "noise.Printed";
    insist(typeof this.level === "number" && this.level >= 0, `no noise for ${label}`);
  }

  scale(sensitivity) {
    return this.absolute ? this.level : this.level * sensitivity;
  }
}

// ---- DP-FTRL ----

const add = (u, v) => u.map((x, j) => x + v[j]);
const times = (a, u) => u.map((x) => a * x);
const length = (u) => Math.hypot(...u);
const clipped = (u, bound) => (length(u) > bound ? times(bound / length(u), u) : u);

/** Noisy prefix sums over a stream of leaves: node (a, b) is the sum of the leaves a..b, asked for when b arrives. */
class Tree {
  constructor(noise, sensitivity, d) {
    this.noise = noise;
    this.sensitivity = sensitivity;
    this.d = d;
    this.exact = []; // sums of the open subtrees, the largest first: {first, width, sum, draws, noisy}
    this.count = 0;
  }

  push(leaf, draw) {
    this.count += 1;
    let node = { first: this.count, width: 1, sum: leaf, draws: [draw] };
    while (this.exact.length > 0 && this.exact[this.exact.length - 1].width === node.width) {
      const left = this.exact.pop();
      node = {
        first: left.first,
        width: 2 * node.width,
        sum: add(left.sum, node.sum),
        draws: left.draws.concat(node.draws),
      };
    }
    node.noisy = request({
      ask: "gaussian",
      label: `tree/(${node.first},${this.count})`,
      query: node.sum,
      std: this.noise.scale(this.sensitivity),
      sensitivity: this.sensitivity,
      batches: node.draws,
    }).value;
    this.exact.push(node);
  }

  prefix() {
    return this.exact.reduce((total, node) => add(total, node.noisy), new Array(this.d).fill(0));
  }
}

function ftrl(problem, schedule) {
  const { rows } = problem;
  const { n, d, batch, clip, radius, regularisation } = schedule;
  insist(rows.length === n && rows.every((row) => row.length === d), "n and d as in the schedule");
  insist(rows.every((row) => row.every(Number.isFinite)), "records must be finite");
  insist(batch >= 1 && batch <= n, "a batch is a part of the data");
  const tree = new Tree(new Noise(schedule.noise, "tree"), 2 * clip, d);
  let w = new Array(d).fill(0);
  for (let seen = 0; seen < n; seen += batch) {
    const size = Math.min(batch, n - seen);
    const draw = request({ ask: "fresh", label: "records", n, size, order: "index" });
    let leaf = new Array(d).fill(0);
    for (const i of draw.indices) leaf = add(leaf, clipped(rows[i], clip));
    tree.push(leaf, draw.batch);
    w = times(-1 / regularisation, tree.prefix());
    if (radius !== null) w = clipped(w, radius);
  }
  return w;
}

// ---- s_t of Recursive-SPIDER, line 16 ----

const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

function singleSample(values, schedule) {
  const { n, steps, clip, momentum, sensitivity } = schedule;
  insist(values.length === n, "n as in the schedule");
  const noise = new Noise(schedule.noise, "value");
  let s = 1;
  for (let t = 0; t < steps; t++) {
    let which = 0;
    let batches = [];
    if (n > 1) {
      const draw = request({ ask: "batch", label: "value batch", n, size: 1 });
      which = draw.indices[0];
      batches = [draw.batch];
    }
    const g = clamp(values[which], 1, clip);
    const fresh = request({
      ask: "gaussian",
      label: "value",
      query: momentum * g,
      std: noise.scale(sensitivity),
      sensitivity,
      batches,
    }).value;
    s = (1 - momentum) * s + fresh;
  }
  return s;
}

// ---- serving ----

const KNOWN = { "dp_ftrl/dp_ftrl": ftrl, "dro/single_sample": singleSample };

let last = null;
for (let heard = receive(); heard !== null && heard.do !== "end"; heard = receive()) {
  if (heard.do === "hello") {
    send({ dpassay: 1, program: "newcomer in JavaScript", again: true });
    continue;
  }
  if (heard.do === "case") last = heard;
  const algorithm = KNOWN[last.algorithm];
  try {
    if (algorithm === undefined) send({ unsupported: last.algorithm });
    else send({ output: algorithm(last.problem, last.schedule) });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    send({ refused: error.message });
  }
}
