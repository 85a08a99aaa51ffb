"""What an algorithm releases, as data that can be compared from one day to the next: laws, noise, sensitivities, order.

For a case of the catalogue it is the run on its own data that spends the most; for one's own algorithm a run on fixed
data of the largest sizes of its space. Neither depends on what a search came upon.
"""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from dpassay.audit.plain_numpy.audited import random_rows, trial_pairs
from dpassay.audit.plain_numpy.mechanism import PlainMechanism
from dpassay.audit.plain_numpy.signature import is_plain
from dpassay.audit.search.ground import AllOf, Data, Ground, OnePair
from dpassay.reference import LiveTape, Pair, Space
from dpassay.reference.transcript import Transcript

_TRIES = 4  # sizes of a space, the largest first; the first on which the algorithm does not raise counts


def transcript_of(run: Callable[..., Any], where: Space | Pair[Any]) -> Transcript | None:
    """One run on fixed data: of the largest sizes of a space, or on the pair; None if it raises on all that is tried.

    Args:
        run: as for :func:`dpassay.audit.assay`, on a tape.
    """
    ground: Ground = OnePair(run, where) if isinstance(where, Pair) else AllOf(run, where)
    tried = [Data()]
    if isinstance(ground, AllOf):
        sizes = ground.combinations[: -_TRIES - 1 : -1]
        rows = [random_rows(ground.space, one, one["n"], np.random.default_rng(0)) for one in sizes]
        tried = [Data(one, made, made[0].copy(), 0) for one, made in zip(sizes, rows, strict=True)]
    for data in tried:
        tape = LiveTape(0)
        with suppress(Exception):  # sizes that make no problem, code of others: the search says on which data it raises
            setting = ground.setting(data)
            tape.transcript.output = setting.mechanism(setting.pair.here, tape)
            return tape.transcript
    return None


def releases_of(transcript: Transcript) -> list[dict[str, Any]]:
    """One entry a label, in order of first use.

    Each has ``label``, ``law``, ``count``, ``scale`` (smallest and largest noise, a standard deviation or a scale),
    ``sensitivity`` (smallest and largest that is declared; None if one of them declares none) and ``participation``.
    """
    found: dict[str, dict[str, Any]] = {}
    for release in transcript.releases:
        taking_part = transcript.participation(release)
        law, label, stated = release.law, release.label, release.sensitivity
        new = {"label": label, "law": type(law).__name__, "count": 0, "scale": [], "sensitivity": []}
        entry = found.setdefault(label, new | {"participation": taking_part})
        entry["count"] += 1
        named = [name for name in vars(law) if name.endswith("scale")]
        scales = [law.scale] if law.scale or not named else [getattr(law, name) for name in named]
        entry["scale"] = _range([*entry["scale"], *map(float, scales)])
        known = entry["sensitivity"]
        entry["sensitivity"] = None if stated is None or known is None else _range([*known, float(stated)])
        if taking_part != entry["participation"]:
            entry["participation"] = "mixed"
    return list(found.values())


def sequence_of(transcript: Transcript) -> str:
    """A hash of the sequence of labels and laws."""
    digest = hashlib.sha256()
    for release in transcript.releases:
        digest.update(f"{release.label}\0{type(release.law).__name__}\0".encode())
    return digest.hexdigest()[:16]


def own_releases(run: Callable[..., Any], where: Space | Pair[Any], seed: int = 0) -> tuple[list[dict[str, Any]], str]:
    """Releases and their sequence, of one's own algorithm.

    A release of plain NumPy code is called by its number: its own label is a line of the source, which any edit above
    it moves. Nobody declares its sensitivity. Code that an audit has read already is taken in that reading, else in the
    first one that stands.
    """
    plain = isinstance(run, PlainMechanism) or is_plain(run)
    if plain:
        mechanism = run if isinstance(run, PlainMechanism) else PlainMechanism(run)
        run = mechanism.tried(trial_pairs(where, seed), seed)
    transcript = transcript_of(run, where)
    if transcript is None:
        return [], ""
    found = releases_of(transcript)
    if not plain:
        return found, sequence_of(transcript)
    names = {entry["label"]: f"noise {number}" for number, entry in enumerate(found, 1)}
    for entry in found:
        entry |= {"label": names[entry["label"]], "sensitivity": None}
    order = "\0".join(f"{names[one.label]}\0{type(one.law).__name__}" for one in transcript.releases)
    return found, hashlib.sha256(order.encode()).hexdigest()[:16]


def _range(values: Sequence[float]) -> list[float]:
    return [min(values), max(values)]
