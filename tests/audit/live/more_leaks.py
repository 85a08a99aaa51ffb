"""Leaks that a stranger may build in, planted in the examples: each with what must be found, written down before."""

from __future__ import annotations

from dpassay.reference.findings import Kind

from .test_examples import LINE_SEARCH, SGD, Twin

LEAKS = {
    "js": (
        Twin(
            "the same noise on another query", SGD, Kind.OUTPUT, "dp_sgd.js",
            "learning_rate * released[j]", "learning_rate * (released[j] - mean[j] + 3 * mean[(j + 1) % w.length])",
        ),
        Twin(
            "step by the length of the true mean", SGD, Kind.OUTPUT, "dp_sgd.js",
            "schedule.learning_rate * released[j]",
            "(schedule.learning_rate / (1 + norm(mean))) * released[j]",
        ),
        Twin(
            "noise by the largest record", SGD, Kind.NOISE_SCALE, "dp_sgd.js",
            "const released = live.gaussian(\"gradient\", mean, std,",
            "const longest = Math.max(...everybody.map((i) => norm(problem.recordGradient(w, i))));\n"
            "    const released = live.gaussian(\"gradient\", mean, std * Math.min(1, longest),",
        ),
        Twin(
            "steps by the first record", SGD, Kind.EARLY_END, "dp_sgd.js",
            "t < steps; t++", "t < steps + (problem.recordGradient(w, 0)[0] > 0 ? 1 : 0); t++",
        ),
        Twin(
            "label by the true mean", SGD, Kind.CALL, "dp_sgd.js",
            'live.gaussian("gradient", mean,', 'live.gaussian(mean[0] > 0 ? "gradient" : "gradient, negative", mean,',
        ),
        Twin(
            "no batch where the mean is small", SGD, Kind.CALL, "dp_sgd.js",
            "else if (size < problem.n) batch",
            "else if (size < problem.n && problem.recordGradient(w, 0)[0] < 1) batch",
        ),
        Twin(
            "entries that are zero are left out", SGD, Kind.LAW, "dp_sgd.js",
            'const released = live.gaussian("gradient", mean, std',
            'const released = live.gaussian("gradient", mean.filter((x) => x !== 0), std',
        ),
        Twin(
            "the number of its process", SGD, Kind.OUTPUT, "dp_sgd.js",
            "learning_rate * released[j]", "learning_rate * process.pid * released[j]",
        ),
        Twin(
            "eigenvector of the true Hessian", LINE_SEARCH, Kind.OUTPUT, "opt_ls.js",
            "const [smallest, vector] = smallestEigenpair(matrix);",
            "const [smallest] = smallestEigenpair(matrix);\n"
            "      const [, vector] = smallestEigenpair(problem.hessian(w));",
        ),
    ),
    "c": (
        Twin(
            "a step with the true mean now and then", SGD, Kind.OUTPUT, "dp_sgd.c",
            "rate * released[j]", "rate * (t % 2 ? mean[j] : released[j])",
        ),
        Twin(
            "noise by the true mean", SGD, Kind.NOISE_SCALE, "dp_sgd.c",
            '"gradient", mean, r.d, std,', '"gradient", mean, r.d, std * (1 + fabs(mean[0])),',
        ),
        Twin(
            "eigenvector of the true Hessian", LINE_SEARCH, Kind.OUTPUT, "opt_ls.c",
            "            if (smallest >= -s->margin * s->curvature) {",
            "            risk_hessian(r, w, h);\n            smallest_eigenpair(h, d, p);\n"
            "            if (smallest >= -s->margin * s->curvature) {",
        ),
    ),
}  # fmt: skip
GAUSSIAN = 'const released = live.gaussian("gradient", mean, std, sensitivity, batch);'
BROKEN = (  # file, before, after, words of the one line
    ("noise of its own", "learning_rate * released[j]", "learning_rate * (released[j] + Math.random())", "no function"),
    ("the clock", "learning_rate * released[j]", "learning_rate * Date.now() * released[j]", "no function"),
    (
        "what it remembers", "function dpSgd(data, schedule) {",
        "let runs = 0;\nfunction dpSgd(data, schedule) {\n  runs += 1;\n  if (runs > 1) schedule = { ...schedule, "
        "learning_rate: 2 * schedule.learning_rate };", "no function",
    ),
    (
        "a counter in a file", GAUSSIAN,
        'const fs = require("fs");\n    fs.appendFileSync("counter", "x");\n'
        f'    {GAUSSIAN[:-1]}.map((x) => x * fs.readFileSync("counter").length);', "run again",
    ),
    (
        "a scratch file of one name for all its processes", GAUSSIAN,
        'const fs = require("fs");\n    fs.writeFileSync("scratch", JSON.stringify(mean));\n'
        f'    {GAUSSIAN[:-1]}.map((x, j) => x + JSON.parse(fs.readFileSync("scratch"))[j]);', "in its midst",
    ),
)  # fmt: skip
