"""Outputs on both datasets, drawn in a few parts, each with a stream of randomness of its own, and kept as they come.

So the number of processes changes no number, and an interrupted audit goes on where it was and ends with the same ones.
Outputs stand in a store (``store.py``), a few at a time, each time with the state of the part's stream after them.
Beside them stands what was asked: mechanism, its source, datasets, number of runs and seed. Another question is
refused, so that no outputs of two mechanisms are ever mixed.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.audit.running.store import Store
from dpassay.reference.errors import BadInput, require

from .outputs import Each, Mechanism, draw
from .programs import KeptAlive
from .sources import Named, Source

FIELD = "--checkpoint"
PARTS = 8  # a side
LEAST = 50  # outputs of a part: fewer are one part
PACE = 0.5  # seconds between two writes
_QUICK = 0.05  # seconds; a slice that takes less may be longer
_ASKED, _DRAWN = "black box: asked", "black box: outputs"
_NUMERIC = "biufcUS"  # kinds of arrays that are kept, byte by byte


@dataclass(frozen=True)
class Part:
    """Outputs of one part: pieces in order, how many they are together, the stream after them (None: it is whole)."""

    pieces: tuple[Any, ...] = ()
    count: int = 0
    stream: Any = None


def draw_both(
    source: Source, samples: int, seed: tuple[int, ...], jobs: int, each: Each, kept: Kept | None = None
) -> tuple[Any, Any]:
    """`samples` outputs on both datasets.

    Args:
        seed: of all parts; a part adds its side and its place.
        jobs: processes; each of them loads the mechanism, or starts the program, anew.
        kept: where outputs are kept as they come, and found again; it changes no number.
    """
    parts = PARTS if samples >= PARTS * LEAST else 1
    sizes = [samples * (i + 1) // parts - samples * i // parts for i in range(parts)]
    found: dict[tuple[int, int], list[Any]] = {}
    asked = []
    for where in product((0, 1), range(parts)):
        before = kept.part(*where) if kept else Part()
        found[where] = list(before.pieces)
        if before.count:
            each(before.count)
        if before.count < sizes[where[1]]:
            size = sizes[where[1]] - before.count
            asked.append((source.named, source.datasets[where[0]], where, size, (*seed, *where), before.stream))
    if jobs > 1:
        from dpassay.audit.running.workers import worked  # slow to import, and one process needs none of it

        for where, outputs in worked(_drawn, asked, jobs, ""):
            if kept is not None:
                kept.put(where, kept.part(*where).count, outputs)
            found[where].append(outputs)
            each(len(outputs))
    else:
        for _, dataset, where, size, key, stream in asked:
            how = source.mechanism, dataset, size, stream_of(key, stream), each
            found[where].append(draw(*how) if kept is None else kept.draw(*how, where))
    p, q = (_joined([piece for i in range(parts) for piece in found[side, i]]) for side in (0, 1))
    return p, q


def _drawn(
    named: Named, dataset: Any, where: tuple[int, int], size: int, key: tuple[int, ...], stream: Any
) -> tuple[tuple[int, int], Any]:
    """One part, or what is left of it, in a process of its own."""
    mechanism = named.load()
    try:
        return where, draw(mechanism, dataset, size, stream_of(key, stream))
    finally:
        if isinstance(mechanism, KeptAlive):
            mechanism.close()


def _joined(parts: list[Any]) -> Any:
    """Parts of one sample, in order."""
    arrays = all(isinstance(one, np.ndarray) for one in parts)
    if len(parts) == 1 or (arrays and len({(one.dtype, one.shape[1:]) for one in parts}) == 1):
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    return [output for one in parts for output in one]


class Kept:
    """The outputs of one audit on disk.

    Args:
        path: the file, made if it is not there.
        source, samples, seed: what is asked; it must be what the file was begun with.

    Raises:
        BadInput: the file cannot be used, is damaged, or was begun with another question.
    """

    def __init__(self, path: Path, source: Source, samples: int, seed: tuple[int, ...]) -> None:
        self.path, self._store = path, Store(path, FIELD)
        asked = {
            "mechanism": source.name,
            "its source": _code(source),
            "keep alive": source.named.keep_alive,
            "dataset": _digest(source.datasets[0]),
            "neighbour": _digest(source.datasets[1]),
            "samples": samples,
            "seed": list(seed),
        }
        with self._store.transaction():
            before = self._store.records(_ASKED)
            for name in asked if before else ():
                why = "was begun with another one: name a new file, or go on as it was begun"
                require(before.get(name) == {"is": asked[name]}, f"{FIELD} {path}", name, why)
            self._parts = _by_part(self._store.records(_DRAWN), path)
            require(bool(before) or not self._parts, FIELD, str(path), "is damaged: outputs without a question")
            if not before:
                self._store.put(_ASKED, {name: {"is": value} for name, value in asked.items()})

    def part(self, side: int, place: int) -> Part:
        """What is there of a part."""
        return self._parts.get((side, place), Part())

    def count(self) -> int:
        """Outputs that are on disk."""
        return sum(int(piece["count"]) for piece in self._store.records(_DRAWN).values())

    def put(self, where: tuple[int, int], start: int, outputs: Any, stream: Any = None) -> None:
        """Keep outputs ``start``, ``start + 1``, ... of a part, and its stream after them (None: the part is whole)."""
        piece = {"outputs": encoded(outputs), "count": len(outputs), "stream": stream}
        self._store.put(_DRAWN, {f"{where[0]}/{where[1]}/{start}": piece})

    def draw(
        self,
        mechanism: Mechanism,
        dataset: Any,
        size: int,
        rng: np.random.Generator,
        each: Each,
        where: tuple[int, int],
    ) -> Any:
        """As ``outputs.draw``, the ``size`` outputs that a part lacks: all but those of the last moment are on disk.

        Of a mechanism with ``many`` a part is kept when it is whole.
        """
        start = self.part(*where).count
        if getattr(mechanism, "many", None) is not None:
            found = draw(mechanism, dataset, size, rng, each)
            self.put(where, start, found)
            return found
        fresh: list[Any] = []
        good: tuple[int, Any] = (0, None)  # outputs whose stream is known; one assignment, so no signal comes between
        kept, last, most = 0, time.monotonic(), 1
        try:
            while len(fresh) < size:
                begun = time.monotonic()
                count = min(most, size - len(fresh))
                fresh += draw(mechanism, dataset, count, rng)
                good = len(fresh), state_of(rng)
                each(count)
                now = time.monotonic()
                most = 2 * most if now - begun < _QUICK else 1
                if now - last > PACE:
                    self.put(where, start + kept, fresh[kept : good[0]], good[1])
                    kept, last = good[0], now
        finally:
            if good[0] > kept:
                self.put(where, start + kept, fresh[kept : good[0]], good[1])
        return fresh


def stream_of(key: Sequence[int], state: Any = None) -> np.random.Generator:
    """The stream of a part from its beginning, or from where ``state_of`` saw it; nothing is spawned twice."""
    if state is None:
        return np.random.default_rng(list(key))
    generator = np.random.PCG64(np.random.SeedSequence(list(key), n_children_spawned=state["spawned"]))
    generator.state = state["bits"]
    return np.random.Generator(generator)


def state_of(rng: np.random.Generator) -> dict[str, Any]:
    """All that a stream's future depends on, as JSON."""
    sequence: Any = rng.bit_generator.seed_seq
    return {"bits": dict(rng.bit_generator.state), "spawned": int(sequence.n_children_spawned)}


def _by_part(records: dict[str, Any], path: Path) -> dict[tuple[int, int], Part]:
    """What is there of each part."""
    found: dict[tuple[int, int], Part] = {}
    for key, piece in records.items():
        side, place, start = (int(one) for one in key.split("/"))
        before, outputs = found.get((side, place), Part()), decoded(piece["outputs"])
        good = start == before.count and len(outputs) == piece["count"]
        require(good, FIELD, str(path), f"is damaged: {key} does not go on where the outputs before it end")
        found[side, place] = Part((*before.pieces, outputs), start + len(outputs), piece["stream"])
    return found


def encoded(value: Any) -> Any:
    """An output as JSON: what ``decoded`` makes of it has the same types and bits.

    Raises:
        BadInput: a type that has no form in JSON.
    """
    if value is None or isinstance(value, bool | str) or type(value) is int:
        return value
    if type(value) is float:
        return value if np.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in _NUMERIC:
        data, one = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode(), isinstance(value, np.generic)
        return {"array": data, "dtype": value.dtype.str, "shape": list(value.shape), "one": one}
    if type(value) is list:
        return [encoded(one) for one in value]
    if type(value) is tuple:
        return {"tuple": [encoded(one) for one in value]}
    if type(value) is dict:
        return {"dict": [[encoded(key), encoded(one)] for key, one in value.items()]}
    why = "outputs of this type cannot be kept: give numbers, arrays, text, dicts"
    raise BadInput(FIELD, type(value).__name__, why)


def decoded(value: Any) -> Any:
    """What ``encoded`` was given."""
    if isinstance(value, list):
        return [decoded(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return float(value["float"])
    if "array" in value:
        flat = np.frombuffer(base64.b64decode(value["array"]), dtype=np.dtype(value["dtype"]))
        return flat[0] if value["one"] else flat.reshape(value["shape"]).copy()
    if "tuple" in value:
        return tuple(decoded(one) for one in value["tuple"])
    return {decoded(key): decoded(one) for key, one in value["dict"]}


def _digest(dataset: Any) -> str:
    return hashlib.sha256(json.dumps(encoded(dataset), sort_keys=True).encode()).hexdigest()[:16]


def _code(source: Source) -> str:
    """A hash of the file that the callable stands in, or of those that the command names."""
    digest, files = hashlib.sha256(), list(source.named.command)
    if source.named.function is not None:
        spec = importlib.util.find_spec(source.named.function.partition(":")[0])
        files = [spec.origin] if spec is not None and spec.origin else []
    for path in map(Path, files):
        try:
            digest.update(path.read_bytes() if path.is_file() else b"")
        except OSError:
            continue  # it cannot be read, but perhaps run
    return digest.hexdigest()[:16]
