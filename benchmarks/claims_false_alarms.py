"""How often `dpassay check --baseline` goes red where nothing changed: 200 checks of the same code, other seeds.

    python benchmarks/claims_false_alarms.py [--quick] [--write]        (about ten processor minutes)

With the same seed a check is the same, bit for bit, so an unchanged project is never red. Here every check has another
seed, for the search and for the statistics, and is held against the lock of the check before it. Five claims that
hold, each claiming exactly what its releases add up to (nothing is harder not to accuse): a clipped mean, Laplace
noise, a sampled batch, a decision on a noisy value, an epsilon that depends on the size. Budget: 5 % for the file.
"""

import math
from collections import Counter
from typing import Any

import audit_figures as figures
import numpy as np
from scipy.stats import binomtest

from dpassay.audit.claims.audited import audited, resolve
from dpassay.audit.claims.compare import compare
from dpassay.audit.claims.lock import Block, block_of
from dpassay.audit.claims.model import ClaimsFile
from dpassay.audit.claims.reached import lines_of
from dpassay.audit.verdict import Verdict
from dpassay.reference import Space

DELTA, CHECKS = 1e-5, 200
space = Space.matrix(n=(1, 2, 3), d=(1, 2), radius=3.0)
batches = Space.matrix(n=(4, 6), d=(1,), radius=1.0)


def clip(rows: Any) -> Any:
    return rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))


def mean(rows: Any, tape: Any) -> Any:
    return tape.gaussian("mean", clip(rows).mean(axis=0), std=8.0 / len(rows), sensitivity=2.0 / len(rows))


def laplace(rows: Any, tape: Any) -> Any:
    return tape.laplace("sum", float(np.clip(rows, -1, 1)[:, 0].sum()), scale=4.0, sensitivity=2.0)


def sampled(rows: Any, tape: Any) -> Any:
    out = 0.0
    for _ in range(2):
        batch = tape.batch("batch", len(rows), 2)
        out = tape.gaussian("mean", clip(rows)[batch.indices].mean(axis=0), std=2.0, sensitivity=1.0, batch=batch)
    return out


def decides(rows: Any, tape: Any) -> Any:
    first = tape.gaussian("first", clip(rows).sum(axis=0), std=6.0, sensitivity=2.0)
    if np.linalg.norm(first) > 10.0:
        return tape.gaussian("far", clip(rows).sum(axis=0), std=6.0, sensitivity=2.0)
    return tape.gaussian("near", clip(rows).sum(axis=0), std=6.0, sensitivity=2.0)


def uneven(rows: Any, tape: Any) -> Any:
    return tape.gaussian("mean", clip(rows).mean(axis=0), std=6.0, sensitivity=2.0 / len(rows))


def claims(seed: int, epsilons: dict[str, float]) -> ClaimsFile:
    """The file, each claim with what it adds up to (before that is known: any)."""
    listed = [
        {
            "name": name,
            "algorithm": f"claims_false_alarms:{name}",
            "space": f"claims_false_alarms:{'batches' if name == 'sampled' else 'space'}",
            "epsilon": epsilons.get(name, 50.0),
            "delta": DELTA,
            "seed": seed,
            "runs": 200,
            "examples": 50,
            "effort": "quick",
        }
        for name in ("mean", "laplace", "sampled", "decides", "uneven")
    ]
    return ClaimsFile.model_validate({"version": 1, "claim": listed})


def check(seed: int, epsilons: dict[str, float], lock: dict[str, Block] | None) -> dict[str, Any]:
    """One check, on the pairs of the lock: rows by name."""
    file = claims(seed, epsilons)
    pairs = {name: block.pair for name, block in (lock or {}).items()}
    return {one.name: audited(one, file.confidence, pairs.get(one.name, {})) for one in file.claim}


def main() -> None:
    """Measure, print, and write the page."""
    options = figures.options(__doc__)
    checks = 10 if options.quick else CHECKS
    first = claims(0, {})
    epsilons = {name: math.nextafter(row.accounted, math.inf) for name, row in check(0, {}, None).items()}
    sources = {
        one.name: lines_of(resolve(one))
        for one in first.claim  # type: ignore[union-attr]
    }
    rules: Counter[str] = Counter()
    red = violated = inconclusive = 0
    before: dict[str, Block] | None = None
    for seed in range(checks + 1):
        rows = check(seed, epsilons, before)
        blocks = {name: block_of(row, name, "") for name, row in rows.items()}
        if before is not None:
            found = [
                change.what for name in rows for change in compare(name, before[name], blocks[name], sources[name])
                if change.fails
            ]  # fmt: skip
            rules.update(found)
            failed = [row for row in rows.values() if Verdict(row.verdict).failed]
            violated += bool(failed)
            inconclusive += any(row.verdict == Verdict.INCONCLUSIVE for row in rows.values())
            red += bool(found or failed)
        before = blocks
        print(f"{seed} of {checks}: {red} red", end="\r", flush=True)
    interval = binomtest(red, checks).proportion_ci(0.95)
    counts = {
        "red": red, "a claim failed (violated, leaks, overshoots, over budget)": violated,
        "a claim inconclusive": inconclusive, **dict(sorted(rules.items())),
    }  # fmt: skip
    table = [(f"all {checks}", checks, ""), *((name, count, f"{count / checks:.1%}") for name, count in counts.items())]
    note = f"Red between {interval.low:.1%} and {interval.high:.1%} (95 %). Budget: 5 %."
    title = "False alarms of `dpassay check --baseline`"
    figures.finish("claims_false_alarms", title, ("of checks", "number", "share"), table, [note], options.write)


if __name__ == "__main__":
    main()
