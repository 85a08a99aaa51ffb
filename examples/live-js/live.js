"use strict";
// The live protocol of dpassay (docs/live.md): the program asks, the harness answers. Node.js, no packages.

const fs = require("node:fs");

const part = Buffer.alloc(1 << 16);
let rest = Buffer.alloc(0);

/** The next line as an object; null at the end of the input. */
function hear() {
  let end;
  while ((end = rest.indexOf(10)) < 0) {
    const count = fs.readSync(0, part);
    if (count === 0) return null;
    rest = Buffer.concat([rest, part.subarray(0, count)]);
  }
  const line = rest.subarray(0, end).toString();
  rest = rest.subarray(end + 1);
  return JSON.parse(line);
}

/** JSON has no infinities: they are strings. */
function finite(name, value) {
  if (typeof value !== "number" || Number.isFinite(value)) return value;
  return Number.isNaN(value) ? "nan" : value > 0 ? "infinity" : "-infinity";
}

function say(message) {
  let left = Buffer.from(JSON.stringify(message, finite) + "\n");
  while (left.length > 0) left = left.subarray(fs.writeSync(1, left));
}

/** Say something and return the answer. */
function ask(message) {
  say(message);
  const heard = hear();
  if (heard === null) process.exit(0); // the harness has gone
  return heard;
}

/** Release `query + N(0, std^2 I)`; `batch` is what `batch` or `poisson` returned, undefined for all records. */
function gaussian(label, query, std, sensitivity, batch) {
  const batches = batch === undefined ? [] : [batch.batch];
  return ask({ ask: "gaussian", label, query, std, sensitivity, batches }).value;
}

/** The index of the first query above, or null; `query(i)` is called for the indices that are needed. */
function aboveThreshold(label, count, query, scales) {
  let heard = ask({ ask: "above_threshold", label, count, threshold: 0, ...scales });
  while ("query" in heard) heard = ask({ query: query(heard.query) });
  return heard.value;
}

const batch = (label, n, size) => ask({ ask: "batch", label, n, size });
const poisson = (label, n, rate) => ask({ ask: "poisson", label, n, rate });
const noise = (label, std) => ask({ ask: "noise", label, std }).value;

/** A case that the program does not know. */
class Unsupported extends Error {}

/** Input that nobody should run. */
class Refused extends Error {}

/** Run cases with `run(algorithm, problem, schedule) -> output` until there are no more. */
function serve(program, run) {
  let given = null; // the case that "again" repeats
  for (let heard = hear(); heard !== null && heard.do !== "end"; heard = hear()) {
    if (heard.do === "hello") {
      say({ dpassay: 1, program, again: true });
      continue;
    }
    if (heard.do === "case") given = heard;
    try {
      say({ output: run(given.algorithm, given.problem, given.schedule) });
    } catch (error) {
      if (error instanceof Unsupported) say({ unsupported: error.message });
      else if (error instanceof Refused) say({ refused: error.message });
      else throw error;
    }
  }
}

module.exports = { Refused, Unsupported, aboveThreshold, batch, gaussian, noise, poisson, serve };
