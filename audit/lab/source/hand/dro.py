"""Bugs in the methods of dro."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

_DOUBLE, _RECURSIVE, _SINGLE = (f"dro/{name}.py" for name in ("double_spider", "recursive_spider", "single_sample"))

PATCHES = (
    Patch(
        "double_spider: clips each coordinate",
        _DOUBLE,
        "    mean = clipped_mean(rows, clip, schedule.clip_mode)\n    # NOISE\n"
        '    std = schedule.noise.std(f"{block}/refresh"',
        "    mean = np.clip(rows, -clip, clip).mean(axis=0)\n    # NOISE\n"
        '    std = schedule.noise.std(f"{block}/refresh"',
        "clipped coordinate by coordinate",
        thread="fedbiomed/fedbiomed#1443",
    ),
    Patch(
        "double_spider: the eta threshold for x",
        _DOUBLE,
        "mean = clipped_mean(rows, clip, schedule.clip_mode)\n    # NOISE\n"
        '    std = schedule.noise.std(f"{block}/difference"',
        "mean = clipped_mean(rows, 2 * clip, schedule.clip_mode)\n    # NOISE\n"
        '    std = schedule.noise.std(f"{block}/difference"',
        "differences are clipped at twice the threshold that the noise is made for",
    ),
    Patch(
        "double_spider: no noise where x stands still",
        _DOUBLE,
        '    std = schedule.noise.std(f"{block}/difference", 2.0 / size) * clip  # sigma_2, sigma_4',
        '    std = schedule.noise.std(f"{block}/difference", 2.0 / size) * min(clip, abs(now[1] - before[1]))',
        "noise in proportion to one of the two moves alone",
    ),
    Patch(
        "double_spider: the last iterate is not the chosen one",
        _DOUBLE,
        "    return Output(x, eta) if schedule.last else selected",
        "    return selected if schedule.last else Output(x, eta)",
        "another iterate, which is a function of the releases too",
        must=False,
    ),
    Patch(
        "double_spider: selects the smallest true gradient",
        _DOUBLE,
        "        if t + 1 == chosen:",
        "        if float(np.sum(problem.eta_gradients(x, eta, np.arange(problem.n)))) > 0:",
        "the returned iterate is chosen by gradients before the noise",
    ),
    Patch(
        "double_spider: step length by the true gradient",
        _DOUBLE,
        "        length = float(np.linalg.norm(v))\n",
        "        length = float(np.linalg.norm(v)) + abs(float(np.sum(problem.x_gradients(x, eta, np.arange(1)))))\n",
        "the step is normalised by the gradient of one record",
    ),
    Patch(
        "double_spider: variance for deviation",
        _DOUBLE,
        '    std = schedule.noise.std(f"{block}/refresh", 2.0 / size) * clip  # sigma_1, sigma_3',
        '    std = min(1.0, schedule.noise.std(f"{block}/refresh", 2.0 / size)) ** 2 * clip',
        "a variance where a standard deviation belongs",
        only_noise=True,
    ),
    Patch(
        "recursive_spider: one batch for both blocks",
        _RECURSIVE,
        '    records, batch = draw_records(tape, f"{block}/refresh batch", schedule.n, size)\n'
        "    rows, spread = _inner_gradients(problem, block, now, records), 2.0 * clip",
        '    records, batch = draw_records(tape, f"{block}/refresh batch", schedule.n, size)\n'
        "    rows, spread = _inner_gradients(problem, block, now, records), clip",
        "half of the sensitivity of a replaced record",
        thread="opendp/smartnoise-core#356",
    ),
    Patch(
        "recursive_spider: values are not clipped above",
        _RECURSIVE,
        "    value = np.clip(problem.inner_values(*now, records), 1.0, schedule.value_clip)\n",
        "    value = np.maximum(problem.inner_values(*now, records), 1.0)\n",
        "nothing bounds the largest value",
        thread="opendp/smartnoise-sdk#580",
    ),
    Patch(
        "recursive_spider: the log of the true value",
        _RECURSIVE,
        "        floored = max(s, 1.0)\n",
        "        floored = max(s, 1.0, float(problem.inner_values(*now, np.arange(1))[0]))\n",
        "the slope is computed from a value before the noise",
    ),
    Patch(
        "single_sample: the records are told",
        _SINGLE,
        "        s = (1.0 - schedule.momentum) * s + float(released)  # line 16",
        "        s = (1.0 - schedule.momentum) * s + float(released) + 1e-9 * query",
        "a small part of the query goes on without noise",
    ),
    Patch(
        "single_sample: clipped after the noise",
        _SINGLE,
        "        value = min(max(float(values[records[0]]), 1.0), schedule.clip)\n",
        "        value = max(float(values[records[0]]), 1.0)\n",
        "the value of a record is not clipped",
        thread="illidanlab/dpgan#4",
    ),
)
