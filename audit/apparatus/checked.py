"""Findings about what a run was drawn, recorded and accounted with, each with the function that is wrong.

Seeds are fixed, so that the same code has the same answer. A check is made once for a version of the code and the
parameters at which it is used; what it found is kept under a hash of both (:mod:`dpassay.reference.kept`).
"""

import inspect
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference import Account, LiveTape, account
from dpassay.reference.accounting.parts import curve
from dpassay.reference.blocks.clipping import clip_rows
from dpassay.reference.blocks.tree import TreeSum
from dpassay.reference.findings import Finding, Kind, merge
from dpassay.reference.kept import keep, kept
from dpassay.reference.laws.categorical import Selection, exponential, permute_and_flip
from dpassay.reference.laws.law import Law
from dpassay.reference.sources import code_of, own
from dpassay.reference.transcript import Draw, RecordDrawer, Release, Transcript

from . import laws, tapes
from .accounts import wrong_account, wrong_cost, wrong_curve

_SEED = 20_250_217
_LAWS = 6  # parameters of one law, and shapes of it, at which it is checked: the extremes and some between
_PARTS = 20  # of an account, whose curves are looked at
_CANDIDATES = 20  # of a choice that are compared with the textbook
_NODE = re.compile(r"/\(\d+,\d+\)$")  # how a tree labels its releases
_PACKAGE = Path(__file__).resolve().parents[2]
_known: dict[str, dict[str, str]] = {}  # by the module of what is checked: what is wrong, or nothing


def apparatus(transcript: Transcript, cost: Account, delta: float) -> list[Finding]:
    """What is wrong with laws, tails down to the claim's delta, drawers, streams, tree and account, if anything is."""
    found: list[Finding] = []
    for check in _checks(transcript, delta):
        merge(found, check)
    for release in {(type(one.law), one.label): one for one in transcript.releases}.values():
        merge(found, _findings(type(release.law).cost, wrong_cost(release), release.step))
    for part in sorted({part for parts in (cost.common, *cost.alternatives) for part, _ in parts}, key=repr)[:_PARTS]:
        merge(found, _once(f"{part} {cost.relation}", curve, wrong_curve, part, cost.relation))
    merge(found, _findings(account, wrong_account(transcript, cost, delta)))
    return found


def _checks(transcript: Transcript, delta: float) -> Iterator[list[Finding]]:
    drawn = sum(1 if one.law.query is None else one.law.query.size for one in transcript.releases)
    for key, law in _laws_used(transcript.releases).items():
        if not own(type(law).__module__):  # its code may change while ours does not: nothing is kept
            yield _findings(type(law).sample, laws.wrong_draws(law, _SEED))
            continue
        yield _once(key, type(law).sample, laws.wrong_sampler, law, _SEED)
        share = 2.0 ** math.floor(math.log2(delta / drawn)) if delta else 0.0
        yield _once(f"tails {share} {key}", type(law).sample, laws.wrong_tails, law, share)
        yield _once("wide", type(law).sample, laws.wrong_wide, law, _SEED)
        yield _once("tiny", type(law).sample, laws.wrong_choice, law, _SEED)
        if isinstance(law, Selection):
            count = min(len(law.support), _CANDIDATES)
            for make in (exponential, permute_and_flip):
                yield _once(f"{law.rate} {count}", make, laws.wrong_selection, make, law.rate, count)
        yield _once(key, type(law).log_density, laws.wrong_density, law, _SEED)
        yield _once(key, type(law).distance, laws.wrong_distance, law)
        yield _once(key, type(law).tilted, laws.wrong_tilts, law, _SEED)
    passes: list[Draw] = []
    for draw in transcript.draws:
        if draw.kind == "fresh":
            passes.append(draw)
        else:
            key = f"{draw.kind} {draw.n} {draw.size} {draw.rate}"
            yield _once(key, RecordDrawer.indices, tapes.wrong_batches, draw, _SEED)
    if passes:
        key = json.dumps([passes[0].n, passes[0].hidden, *(one.size for one in passes)])
        yield _once(key, RecordDrawer.indices, tapes.wrong_pass, passes, _SEED)
    if any(_NODE.search(one.label) for one in transcript.releases):
        yield _once("tree", TreeSum, tapes.wrong_tree, _SEED)
    yield _once("streams", LiveTape, tapes.wrong_streams, _SEED)
    yield _once("calls", LiveTape, tapes.wrong_calls, _SEED)
    yield _once("clipping", clip_rows, tapes.wrong_clipping, _SEED)
    yield _once("comparison", lockstep, tapes.wrong_comparison, _SEED)


def _laws_used(releases: Iterable[Release]) -> dict[str, Law]:
    """One law for each type, shape and parameters; of many parameters some."""
    groups: dict[str, dict[str, Law]] = {}
    for release in releases:
        law = release.law
        shape = None if law.query is None else law.query.shape
        public = {name: value for name, value in sorted(vars(law).items()) if isinstance(value, int | float | bool)}
        name = f"{type(law).__module__}.{type(law).__qualname__} {shape}"
        groups.setdefault(name, {}).setdefault(json.dumps(public), law)
    found = {}
    for name, alike in groups.items():
        keys = sorted(alike, key=lambda key: (alike[key].scale, key))
        for place in np.unique(np.linspace(0, len(keys) - 1, min(_LAWS, len(keys))).astype(int)):
            found[f"{name} {keys[place]}"] = alike[keys[place]]
    return found


def _once(key: str, function: Any, check: Callable[..., Iterator[str]], *given: Any) -> list[Finding]:
    """What a check of this room says, made now or before: ``scipy.stats``, which it needs, takes a second to load."""
    name, home = f"{_name(function)} {key}", str(getattr(given[0], "__module__", __name__))
    known = _known.setdefault(home, {})
    if name not in known:
        code = code_of([__name__, home])
        known.update(kept(f"apparatus/{home}", code) or {})
        if name not in known:
            known[name] = _first(check(*given))
            keep(f"apparatus/{home}", code, known)
    return _findings(function, filter(None, [known[name]]))


def _first(wrong: Iterator[str]) -> str:
    try:
        return next(wrong, "")
    except (ArithmeticError, ValueError) as error:
        return f"raises {type(error).__name__}: {error}"


def _findings(function: Any, wrong: Iterator[str], step: int = 0) -> list[Finding]:
    return [Finding(Kind.APPARATUS, _name(function), step, text) for text in wrong][:1]


@cache
def _name(function: Any) -> str:
    """The function with its file and line."""
    try:
        path, line = Path(inspect.getsourcefile(function) or "").resolve(), inspect.getsourcelines(function)[1]
    except (OSError, TypeError):
        return str(function.__qualname__)
    place = path.relative_to(_PACKAGE).as_posix() if path.is_relative_to(_PACKAGE) else path.name
    return f"{function.__qualname__} ({place}:{line})"
