"""Differences that no rule plants: orders, decisions, stale state, outputs, shared state, as people write them."""

from __future__ import annotations

from .operators import CLIP, NOISE, OUTSIDER, SHIFT, Planted

SGD, FTRL, OPT, SEARCH = "baselines/dp_sgd", "dp_ftrl/dp_ftrl", "second_order_erm/opt", "second_order_erm/opt_ls"
RGDA, SPIDER, RECURSIVE = "minimax_sosp/dp_rgda", "minimax_sosp/dp_spider", "dro/recursive_spider"
DOUBLE, SGDA, PHASED = "dro/double_spider", "dro/sgda", "output_perturbation/algorithm2"
STOCHASTIC = "adaptive_batch/stochastic_spider"
SIGN, FACTOR, MISSING, BATCH, BARE = "sign", "factor", "missing term", "wrong batch", "un-noised"
GRADIENT = 'g = tape.gaussian("gradient", f.gradient(w), std=std_g, sensitivity=sens["gradient"])'
REFRESHED = 'v = self.tape.gaussian("refresh/v", v, std=std, sensitivity=sensitivity, batch=batch)\n        '
X_REFRESH = 'rows_v = clip_rows(gradients(rows, x, chosen), s["clip"])'
X_CHANGE = "gradients(rows, x, chosen) - gradients(rows, x_old, chosen)"
OLD_MEAN = "v = v + tape.gaussian"
DRAWN = "        batch, chosen = some_records(self.tape, "
LAST = "        tree.push(leaf, batch)\n"
SAID = (  # algorithm, kind, what, file, text before and after, again for a second place
    (SGD, "momentum, missing term", "momentum", "dp_sgd.py", "    for step in", "    m = np.zeros(d)\n    for step in",
     "w = w - lr * noisy", "m = 0.9 * m + noisy\n        w = w - lr * m"),
    (SGD, f"{MISSING}, factor", "weight decay", "dp_sgd.py", "w = w - lr * noisy", "w = w - lr * (noisy + 0.01 * w)"),
    (SGD, BATCH, "reused every other step", "dp_sgd.py", "        per_example = rows[chosen]",
     "        if step % 2:\n            chosen = kept\n        kept = chosen\n        per_example = rows[chosen]"),
    (SGD, BATCH, "all records", "dp_sgd.py", "per_example = rows[chosen]", "per_example = rows"),
    (SGD, BATCH, "one record left out", "dp_sgd.py", "per_example = rows[chosen]", "per_example = rows[chosen[:-1]]"),
    (SGD, "output, index shift", "average", "dp_sgd.py", "    for step in", "    sums = np.zeros(d)\n    for step in",
     "w = w - lr * noisy", "w = w - lr * noisy\n        sums = sums + w", "return w", 'return sums / s["steps"]'),
    (SGD, "precision", "single precision", "dp_sgd.py", "mean = clipped.sum(axis=0) / size",
     "mean = (clipped.astype(np.float32).sum(axis=0) / np.float32(size)).astype(float)"),
    (SGD, CLIP, "microbatches of two", "dp_sgd.py", "clipped = clip_rows(per_example, clip)",
     "pairs = [per_example[i : i + 2] for i in range(0, len(per_example), 2)]\n        clipped = np.concatenate("
     "[clip_rows(p.mean(axis=0)[None], clip).repeat(len(p), 0) for p in pairs] or [per_example])"),
    (SGD, "index shift", "started at one", "dp_sgd.py", "w = np.array(", "w = 1 + np.array("),
    (SGD, NOISE, "per coordinate", "dp_sgd.py", "/ size\n    for", "/ size / np.sqrt(d)\n    for"),
    (FTRL, SHIFT, "asked before the newest leaf", "dp_ftrl.py", "        theta = -tree", "        theta0 = -tree",
     LAST, "        if tree.leaves:\n            theta = -tree.prefix() / s['regularisation']\n" + LAST,
     "        theta0 = -tree.prefix() / s[\"regularisation\"]\n", ""),
    (FTRL, MISSING, "nodes but the last", "dp_ftrl.py", "total = total + self.node(start + 1, start + width)",
     "total = self.node(start + 1, start + width)"),
    (FTRL, SHIFT, "node from one leaf earlier", "dp_ftrl.py", "self.leaves[first - 1 : last]",
     "self.leaves[max(first - 2, 0) : last - 1] or self.leaves[:1]"),
    (FTRL, "factor", "mean of a batch", "dp_ftrl.py", "clip).sum(axis=0)", "clip).mean(axis=0)"),
    (FTRL, BARE, "newest leaf exact", "dp_ftrl.py", "        theta = into_ball(theta",
     "        theta = theta - 0.0\n        if len(tree.leaves) == 1:\n            theta = -leaf / s['regularisation']\n"
     "        theta = into_ball(theta"),
    (OPT, BARE, "exact curvature decides", "opt.py", "if smallest >= -eps_H:",
     "if np.linalg.eigvalsh(f.hessian(w))[0] >= -eps_H:"),
    (OPT, BARE, "exact gradient turns the direction", "opt.py", "if p @ g > 0:", "if p @ f.gradient(w) > 0:"),
    (OPT, BARE, "exact first gradient", "opt.py", "if length(g) > eps_g:",
     "if k == 0:\n            g = f.gradient(w)\n        if length(g) > eps_g:"),
    (OPT, BARE, "lower half exact", "risks.py", "found.T[upper] = noisy", "found.T[upper] = matrix[upper]",
     "found[upper] = noisy\n", "pass\n", "found.T[upper] = matrix[upper]",
     "found.T[upper] = matrix[upper]\n    found[upper] = noisy"),
    (OPT, BARE, "off-diagonal exact", "risks.py", "found[upper] = noisy\n",
     "found[upper] = noisy\n    keep = np.diag(np.diag(found))\n", "found.T[upper] = noisy",
     "found = matrix - np.diag(np.diag(matrix)) + keep"),
    (OPT, "missing term, index shift", "upper half alone", "risks.py", "    found.T[upper] = noisy\n", ""),
    (OPT, "factor", "symmetrised by half", "risks.py", "    return found\n\n\ndef smallest",
     "    return (np.triu(found) + np.triu(found).T) / 2\n\n\ndef smallest"),
    (OPT, SHIFT, "largest eigenvalue", "risks.py", "return float(values[0]), vectors[:, 0]\n    d",
     "return float(values[-1]), vectors[:, -1]\n    d"),
    (OPT, SIGN, "uphill along the gradient", "opt.py", "w = w - g / G", "w = w + g / G"),
    (OPT, "decision, sign", "certified too early", "opt.py", "smallest >= -eps_H", "smallest >= eps_H"),
    (OPT, "calls, index shift", "hessian before gradient", "opt.py", GRADIENT, "H = release_matrix("
     'tape, "hessian", f.hessian(w), std_H, sens["hessian"])\n        ' + GRADIENT,
     '            continue\n        H = release_matrix(tape, "hessian", f.hessian(w), std_H, sens["hessian"])\n',
     "            continue\n"),
    (OPT, "factor", "margin forgotten", "opt.py", 's["eigen"]["margin"] * accuracy', "accuracy"),
    (SEARCH, BARE, "exact slack decides", "opt_ls.py", "index = tape.above_threshold(", "tape.above_threshold(",
     "    return fallback if index", "    index = next((i for i, one in enumerate(steps) if slack(one) >= 0), None)\n"
     "    return fallback if index"),
    (SEARCH, BARE, "slope from the exact gradient", "opt_ls.py", "c_g * step * (g @ g)",
     "c_g * step * (f.gradient(w) @ f.gradient(w))"),
    (SEARCH, SHIFT, "step after the found one", "opt_ls.py", "steps[int(index)]",
     "steps[min(int(index) + 1, trials - 1)]"),
    (SEARCH, SHIFT, "stale value", "opt_ls.py", "        here = f.value(w)",
     "        here = f.value(w) if k == 0 else here0",
     "            w = w - gamma * g", "            here0 = here\n            w = w - gamma * g"),
    (SEARCH, "noise scale", "scales exchanged", "opt_ls.py", "threshold_scale=2", "threshold_scale=4",
     "query_scale=4", "query_scale=2"),
    (SEARCH, "noise scale, sensitivity", "length of g forgotten", "opt_ls.py",
     'sens["gradient"] * initial * length(g)', 'sens["gradient"] * initial'),
    (SEARCH, "factor", "norm for squared norm", "opt_ls.py", "c_g * step * (g @ g)", "c_g * step * length(g)"),
    (SEARCH, "missing term", "decrease forgotten", "opt_ls.py", " - c_g * step * (g @ g)", ""),
    (RGDA, SHIFT, "last for best", "dp_rgda.py", "return best[1:]", "return (y_old, v, u)"),
    (RGDA, "decision, sign", "worst for best", "dp_rgda.py", "mapping < best[0]", "mapping > best[0]"),
    (RGDA, SHIFT, "y after the step", "dp_rgda.py", "best = (mapping, y, v, u)", "best = (mapping, y_new, v, u)"),
    (RGDA, SHIFT, "x not moved on", "dp_rgda.py", "x_old, y_old, y = x, y, y_new", "y_old, y = y, y_new"),
    (RGDA, "calls", "u before v", "dp_rgda.py", REFRESHED, "", "        return v, u\n\n    def change",
     "        " + REFRESHED + "return v, u\n\n    def change"),
    (RGDA, BARE, "exact size decides", "dp_rgda.py", "size = length(v)",
     "size = length(inner.mean(f.in_x(x, y, np.arange(f.n)), s['clip_refresh']))"),
    (RGDA, "factor", "not normalised", "dp_rgda.py", 's["descent_step"] * v / size', 's["descent_step"] * v'),
    (RGDA, BARE, "only v noised at a refresh", "dp_rgda.py", 'u = self.tape.gaussian("refresh/u"',
     'self.tape.gaussian("refresh/u"'),
    (RGDA, "noise scale", "refresh sensitivity without two", "dp_rgda.py", 'std = scale(s, "refresh", sensitivity)',
     'std = scale(s, "refresh", sensitivity / 2)'),
    (RGDA, BATCH, "u on all records", "dp_rgda.py", "u = self.mean(f.in_y(x, y, chosen), s",
     "u = self.mean(f.in_y(x, y, np.arange(f.n)), s"),
    (SPIDER, BARE, "estimate of the exact change", "dp_spider.py", OLD_MEAN,
     "v = v + rows_v.mean(axis=0)\n            tape.gaussian"),
    (SPIDER, CLIP, "clipped apart", "dp_spider.py", f"clip_rows({X_CHANGE}, bound)",
     'clip_rows(gradients(rows, x, chosen), s["difference_clip"]) - clip_rows(gradients(rows, x_old, chosen), '
     's["difference_clip"])'),
    (SPIDER, SHIFT, "old point one step older", "dp_spider.py", "    x_old, v, path", "    x_older, x_old, v, path",
     "= x, np.zeros(2), [x]", "= x, x, np.zeros(2), [x]", "gradients(rows, x_old, chosen), bound",
     "gradients(rows, x_older, chosen), bound", "        x_old = x\n", "        x_older, x_old = x_old, x\n"),
    (SPIDER, MISSING, "estimate forgotten", "dp_spider.py", OLD_MEAN, "v = tape.gaussian"),
    (SPIDER, BATCH, "small batch at a refresh", "dp_spider.py", X_REFRESH,
     'rows_v = clip_rows(gradients(rows, x, chosen[: s["step_batch"]]), s["clip"])'),
    (SPIDER, "output, index shift", "first for last", "dp_spider.py", '"x": x}', '"x": path[-2]}'),
    (RECURSIVE, SHIFT, "floored value of before", "recursive_spider.py", "        value = (1 - s",
     "        old = value\n        value = (1 - s",
     "floored = max(value, 1.0)", "floored = max(old, 1.0)"),
    (RECURSIVE, MISSING, "radius forgotten", "recursive_spider.py", ' + problem["radius"]', ""),
    (RECURSIVE, "missing term", "no log", "recursive_spider.py", " + math.log(floored)", ""),
    (RECURSIVE, SHIFT, "temperature moved first", "recursive_spider.py", "before, now = now, (now[0]",
     "before, now = (now[0], temp), (now[0]"),
    (RECURSIVE, BATCH, "value on the first records", "recursive_spider.py", "new = self.inner_values(*now, chosen)",
     "new = self.inner_values(*now, np.arange(len(chosen)))"),
    (RECURSIVE, CLIP, "values not limited", "recursive_spider.py", 'np.clip(values, 1.0, self.s["value_clip"])',
     "values"),
    (DOUBLE, SHIFT, "x refreshed at the old dual", "double_spider.py", 'est.refresh("x", (x, eta_new))',
     'est.refresh("x", (x, eta))'),
    (DOUBLE, BATCH, "x on the batch of eta", "double_spider.py", DRAWN + 'f"{block}/refresh batch", s["n"], size)',
     DRAWN + 'f"{block}/refresh batch", s["n"], size)\n        if block == "eta":\n            self.kept = chosen\n'
     "        chosen = self.kept"),
    (DOUBLE, SHIFT, "old dual not kept", "double_spider.py", "x_old, eta_old = x, eta\n        x, eta = x",
     "x_old = x\n        x, eta = x"),
    (DOUBLE, "clip norm, missing term, factor", "sum of moves", "double_spider.py",
     'max(rule["per_x"] * moved_x, rule["per_eta"] * moved_eta)',
     '(rule["per_x"] * moved_x + rule["per_eta"] * moved_eta)'),
    (DOUBLE, SHIFT, "chosen step one early", "double_spider.py", "if t + 1 == chosen", "if t == chosen"),
    (DOUBLE, "missing term", "eta not moved", "double_spider.py", "G * eta) / weight", "0 * eta) / weight"),
    (SGDA, SHIFT, "weights not alternating", "sgda.py", 'y_new if s["alternating"] else y', "y"),
    (SGDA, BARE, "exact losses in y", "sgda.py", "(noisy - p", "(capped - p"),
    (SGDA, MISSING, "weights forgotten", "sgda.py", "(weights[chosen, None] * rows)", "(rows / n)"),
    (SGDA, CLIP, "mean of the losses clipped", "sgda.py", 'capped = np.minimum(f.losses(x, everyone), s["clip_y"])',
     'capped = f.losses(x, everyone)\n        capped = capped * min(1, s["clip_y"] / capped.mean())'),
    (SGDA, "sensitivity, noise scale", "average weight", "sgda.py", "float(weights.max())", "float(weights.mean())"),
    (PHASED, MISSING, "centre forgotten", "phased.py", "into_ball(centre - slope / weight",
     "into_ball(-slope / weight"),
    (PHASED, BARE, "exact centre", "phased.py", "centre = tape.gaussian", "tape.gaussian", "        if s[\"project\"]",
     "        centre = point\n        if s[\"project\"]"),
    (PHASED, BATCH, "all records so far", "phased.py", "np.array(parts[k].indices, dtype=int)",
     "np.concatenate([np.array(one.indices, dtype=int) for one in parts[: k + 1]])"),
    (PHASED, NOISE, "noise of the first phase", "phased.py", "std = scale(s, f\"x/{k + 1}\", sensitivity)",
     "std = scale(s, \"x/1\", s['sensitivities'][0])"),
    (STOCHASTIC, SHIFT, "drift not reset", "stochastic_spider.py", "drift, count, refreshes = 0.0, 0,",
     "count, refreshes = 0,"),
    (STOCHASTIC, MISSING, "curvature forgotten", "stochastic_spider.py", "g + bend @ move", "g"),
    (STOCHASTIC, BARE, "exact estimate moves", "stochastic_spider.py", "            step = noisy",
     "            step = noisy if not refresh else gradient"),
    (STOCHASTIC, SHIFT, "saddle after the step", "stochastic_spider.py", "move = x - at", "move = x_old - at"),
    (STOCHASTIC, BATCH, "hessian on the gradient's batch", "stochastic_spider.py",
     "H, read = f.hessian(x, chosen_h), [other]", "H, read = f.hessian(x, chosen), [other]"),
)  # fmt: skip


def slipped() -> list[Planted]:
    """All of them."""
    found = []
    for algorithm, kind, what, file, *texts in SAID:
        text = (OUTSIDER / file).read_text(encoding="utf-8")
        for before, after in zip(texts[::2], texts[1::2], strict=True):
            if text.count(before) != 1:
                raise ValueError(f"{algorithm}, {what}: {text.count(before)} times {before!r}")
            text = text.replace(before, after)
        found.append(Planted(f"{what}, {file}", algorithm, kind, ((file, text),)))
    return found
