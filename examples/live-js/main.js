"use strict";

const live = require("./live.js");
const { dpSgd } = require("./dp_sgd.js");
const { optLs } = require("./opt_ls.js");

const KNOWN = { "baselines/dp_sgd": dpSgd, "second_order_erm/opt_ls": optLs };

live.serve("live-js", (algorithm, problem, schedule) => {
  if (!(algorithm in KNOWN)) throw new live.Unsupported(`it knows ${Object.keys(KNOWN).join(" and ")}`);
  return KNOWN[algorithm](problem, schedule);
});
