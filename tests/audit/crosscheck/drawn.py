"""Planted differences, drawn by a seed from rules and from slips, and what the diagnosis says of them.

``python -m tests.audit.crosscheck.drawn SEED COUNT`` prints one line for each, and how many were named rightly.
"""

from __future__ import annotations

import importlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from dpassay.audit.crosscheck.adapter import Result, judged
from dpassay.audit.crosscheck.diagnosis import Diagnosis, diagnose
from dpassay.audit.crosscheck.further import asked_again
from dpassay.audit.crosscheck.storage import load
from dpassay.audit.crosscheck.worker import answer

from .operators import OUTSIDER, Planted, planted
from .slipped import slipped

KEPT = "outsider.cost"  # slow to compute, and never changed
SEED, COUNT, NAMED = 5, 30, 27  # the draw that the page tells of, and how many of it are named
MISNAMED = {
    "term left out, opt_ls line 100: curvature_steps + certified": "index shift: a count without its last one",
    "margin forgotten, opt.py": "sign: one step in place of many, whatever changes their number so",
    "last for best, dp_rgda.py": "decision: the comparison that chooses the best is always true",
}


@lru_cache(maxsize=16)
def _vectors(algorithm: str) -> tuple[dict[str, Any], ...]:
    return tuple(one for one in load(algorithm) if one["expect"] == "run")


def diagnosed(one: Planted) -> Diagnosis | None:
    """Of the first vector that the changed program fails; None where no vector is failed, or one stops the program."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(OUTSIDER, Path(folder) / "outsider")
        for file, text in one.edits:
            (Path(folder) / "outsider" / file).write_text(text, encoding="utf-8")
        sys.path.insert(0, folder)
        try:
            run = importlib.import_module("outsider.adapter").run

            def again(vectors: Sequence[dict[str, Any]]) -> list[Result]:
                with np.errstate(all="ignore"):
                    return [judged(one, json.loads(json.dumps(answer(run, one))), False) for one in vectors]

            vectors = _vectors(one.algorithm)
            results = again(vectors)
            outcomes = {one.outcome for one in results}
            if "fail" not in outcomes or "error" in outcomes:
                return None
            first, *others = asked_again(results, {one["id"]: one for one in vectors}, again)
            return diagnose(*first, others=others, again=again)
        finally:
            sys.path.remove(folder)
            for name in [name for name in sys.modules if name.partition(".")[0] == "outsider" and name != KEPT]:
                del sys.modules[name]


def named_rightly(one: Planted, found: Diagnosis) -> bool:
    """Is it the kind, or one of the kinds, that was written down?"""
    return found.kind.value in one.kind.split(", ")


def drawn(seed: int) -> Iterator[Planted]:
    """Rules and slips in turn; of the rules first a kind, then an algorithm, then a place."""
    rng = np.random.default_rng(seed)
    rules, slips = planted(), slipped()
    order = rng.permutation(len(slips))
    for number in range(len(slips)):
        kind = _one_of(rng, [one.kind for one in rules])
        left = [one for one in rules if one.kind == kind]
        algorithm = _one_of(rng, [one.algorithm for one in left])
        left = [one for one in left if one.algorithm == algorithm]
        chosen = left[int(rng.integers(len(left)))]
        rules.remove(chosen)
        yield chosen
        yield slips[order[number]]


def _one_of(rng: np.random.Generator, names: list[str]) -> str:
    known = sorted(set(names))
    return known[int(rng.integers(len(known)))]


def trial(seed: int, count: int) -> Iterator[tuple[Planted, Diagnosis, float]]:
    """The first so many that change something, with their diagnoses and its processor seconds."""
    made = 0
    for one in drawn(seed):
        start = process_time()
        found = diagnosed(one)
        if found is not None:
            yield one, found, process_time() - start
            made += 1
        if made == count:
            return


if __name__ == "__main__":
    right = total = 0
    for one, found, seconds in trial(int(sys.argv[1]), int(sys.argv[2])):
        total, right = total + 1, right + named_rightly(one, found)
        mark = "    " if named_rightly(one, found) else "MISS"
        print(f"{mark} {seconds:5.1f}s {one.algorithm}: {one.name} [{one.kind}]", flush=True)
        print("       " + str(found).replace("\n", "\n       "), flush=True)
    print(f"{right} of {total}")
