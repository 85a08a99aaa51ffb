"""What an algorithm releases, as data that can be compared from one day to the next: laws, noise, sensitivities, order.

For a case of the catalogue it is the run on its own data that spends the most; for one's own algorithm a run on fixed
data of the largest sizes of its space. Neither depends on what a search came upon.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from dpassay.audit.plain_numpy.audited import random_rows, trial_pairs
from dpassay.audit.plain_numpy.mechanism import PlainMechanism
from dpassay.audit.plain_numpy.signature import is_plain
from dpassay.audit.search.ground import AllOf, Data
from dpassay.reference.laws.law import Law
from dpassay.reference.neighbours import Pair
from dpassay.reference.space import Space
from dpassay.reference.tape import LiveTape
from dpassay.reference.transcript import Transcript

_TRIES = 4  # sizes of a space, the largest first; the first on which the algorithm does not raise counts


def transcript_of(run: Callable[..., Any], where: Space | Pair[Any]) -> Transcript | None:
    """One run on fixed data: of the largest sizes of a space, or on the pair; None if it raises on all that is tried.

    Args:
        run: as for :func:`dpassay.audit.assay`, on a tape.
    """
    settings: Iterable[tuple[Callable[..., Any], Any]]
    settings = [(run, where.here)] if isinstance(where, Pair) else _settings(run, where)
    for mechanism, problem in settings:
        tape = LiveTape(0)
        try:
            tape.transcript.output = mechanism(problem, tape)
        except Exception:  # code of others; the search says on which data it raises
            continue
        return tape.transcript
    return None


def _settings(run: Callable[..., Any], space: Space) -> Iterable[tuple[Callable[..., Any], Any]]:
    ground = AllOf(run, space)
    for sizes in ground.combinations[: -_TRIES - 1 : -1]:
        rows = random_rows(space, sizes, sizes["n"], np.random.default_rng(0))
        try:
            setting = ground.setting(Data(sizes, rows, rows[0].copy(), 0))
        except Exception:  # a problem or a schedule that does not stand these sizes
            continue
        yield setting.mechanism, setting.pair.here


def releases_of(transcript: Transcript) -> list[dict[str, Any]]:
    """One entry a label, in order of first use.

    Each has ``label``, ``law``, ``count``, ``scale`` (smallest and largest noise, a standard deviation or a scale),
    ``sensitivity`` (smallest and largest that is declared; None if one of them declares none) and ``participation``.
    """
    found: dict[str, dict[str, Any]] = {}
    for release in transcript.releases:
        taking_part = transcript.participation(release)
        entry = found.setdefault(
            release.label,
            {
                "label": release.label,
                "law": type(release.law).__name__,
                "count": 0,
                "scale": [],
                "sensitivity": [],
                "participation": taking_part,
            },
        )
        entry["count"] += 1
        entry["scale"] = _range([*entry["scale"], *_scales(release.law)])
        stated, known = release.sensitivity, entry["sensitivity"]
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
    plain = None
    if isinstance(run, PlainMechanism) or is_plain(run):
        plain = run if isinstance(run, PlainMechanism) else PlainMechanism(run)
        run = plain.tried(trial_pairs(where, seed), seed)
    transcript = transcript_of(run, where)
    if transcript is None:
        return [], ""
    found = releases_of(transcript)
    if plain is None:
        return found, sequence_of(transcript)
    names = {entry["label"]: f"noise {number}" for number, entry in enumerate(found, 1)}
    for entry in found:
        entry |= {"label": names[entry["label"]], "sensitivity": None}
    order = "\0".join(f"{names[one.label]}\0{type(one.law).__name__}" for one in transcript.releases)
    return found, hashlib.sha256(order.encode()).hexdigest()[:16]


def _scales(law: Law) -> list[float]:
    if law.scale or not is_dataclass(law):
        return [float(law.scale)]
    named = [field.name for field in fields(law) if field.name.endswith("scale")]
    return [float(getattr(law, name)) for name in named] or [0.0]


def _range(values: Sequence[float]) -> list[float]:
    return [min(values), max(values)]
