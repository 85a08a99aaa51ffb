"use strict";
// Follow the regularised leader with noisy prefix sums, over the live protocol: one JSON line in, one line out.
// The tree is kept as a binary counter: level h holds the open block of 2^h steps, if step t has bit h set.

const fs = require("fs");

// LINES

let pending = "";

function readLine() {
  const chunk = Buffer.alloc(1 << 16);
  for (;;) {
    const end = pending.indexOf("\n");
    if (end >= 0) {
      const line = pending.slice(0, end);
      pending = pending.slice(end + 1);
      return JSON.parse(line);
    }
    let got = 0;
    try {
      got = fs.readSync(0, chunk, 0, chunk.length, null);
    } catch (error) {
      if (error.code === "EAGAIN") continue;
      if (error.code !== "EOF") throw error;
    }
    if (got === 0) return null;
    pending += chunk.toString("utf8", 0, got);
  }
}

function say(message) {
  fs.writeSync(1, JSON.stringify(message) + "\n");
}

function ask(message) {
  say(message);
  return readLine();
}

// VECTORS

const plus = (a, b) => a.map((x, j) => x + b[j]);
const times = (c, a) => a.map((x) => c * x);
const length = (a) => Math.sqrt(a.reduce((total, x) => total + x * x, 0));

class Refusal extends Error {}

// INPUT

function checked(problem, schedule) {
  const rows = problem.rows;
  const d = rows.length > 0 ? rows[0].length : 0;
  for (const row of rows) {
    if (!Array.isArray(row) || row.length !== d) throw new Refusal("records of several lengths");
    if (!row.every((x) => Number.isFinite(x))) throw new Refusal("a record is not finite");
  }
  if (rows.length !== schedule.n || d !== schedule.d) throw new Refusal("the schedule is for other data");
  if (schedule.batch > schedule.n) throw new Refusal("a batch is larger than the data");
  const level = schedule.noise.by_label.tree;
  if (level === undefined || level < 0) throw new Refusal("no noise for the tree");
  return rows;
}

// THE TREE

class Counter {
  constructor(dimension, deviation, claim) {
    this.step = 0;
    this.deviation = deviation;
    this.claim = claim;
    this.blocks = []; // by level: { exact, noisy, draws } or null
    this.zero = new Array(dimension).fill(0);
  }

  // Takes in the value of a step, and releases the one block that closes with it.
  push(value, draw) {
    this.step += 1;
    let exact = value;
    let draws = [draw];
    let level = 0;
    while (this.blocks[level]) {
      exact = plus(this.blocks[level].exact, exact);
      draws = [...this.blocks[level].draws, ...draws];
      this.blocks[level] = null;
      level += 1;
    }
    const first = this.step - 2 ** level + 1;
    const answer = ask({
      ask: "gaussian",
      label: `tree/(${first},${this.step})`,
      query: exact,
      std: this.deviation,
      sensitivity: this.claim,
      batches: draws,
    });
    this.blocks[level] = { exact, noisy: answer.value, draws };
  }

  prefix() {
    let total = this.zero;
    for (const block of this.blocks) {
      if (block) total = plus(total, block.noisy);
    }
    return total;
  }
}

// THE ALGORITHM

function clipped(gradient, bound) {
  const size = length(gradient);
  return size > bound ? times(bound / size, gradient) : gradient;
}

function project(point, radius) {
  if (radius === null) return point;
  const size = length(point);
  return size > radius ? times(radius / size, point) : point;
}

function follow(problem, schedule) {
  const rows = checked(problem, schedule);
  const { n, d, batch, clip, regularisation, radius } = schedule;
  const claim = 2 * clip;
  const level = schedule.noise.by_label.tree;
  const deviation = schedule.noise.class === "noise.Multipliers" ? level * claim : level;
  const tree = new Counter(d, deviation, claim);
  let theta = new Array(d).fill(0);
  for (let seen = 0; seen < n; seen += batch) {
    const size = Math.min(batch, n - seen);
    const drawn = ask({ ask: "fresh", label: "records", n, size, order: "index" });
    let sum = new Array(d).fill(0);
    for (const i of drawn.indices) {
      sum = plus(sum, clipped(rows[i], clip)); // a linear loss: the gradient is the record
    }
    tree.push(sum, drawn.batch);
    theta = project(times(-1 / regularisation, tree.prefix()), radius);
  }
  return theta;
}

// THE CONVERSATION

function main() {
  for (;;) {
    const message = readLine();
    if (message === null || message.do === "end") return;
    if (message.do === "hello") {
      say({ dpassay: 1, program: "leader" });
      continue;
    }
    try {
      if (message.algorithm !== "dp_ftrl/dp_ftrl") say({ unsupported: message.algorithm });
      else say({ output: follow(message.problem, message.schedule) });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      say({ refused: error.message });
    }
  }
}

main();
