"""Outputs of the bug zoo that are no few numbers, and other noises: wide, nested, texts, lists, pictures.

The entries of ``held_out`` were written before the audit saw them, to tell what it finds that it was not made for. At
first sight, with 1,000 outputs a side, 6 of the 8 bugs were found in all of three seeds (the bins in one of them, the
times in none); with 10,000 all, in one seed; no alarm on the 4 others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array

from . import laws as law
from .laws import EPSILON, INFINITE, Bulk, Entry, Rng, bulk, gauss, one_by_one, pure

Sampler = Callable[[float, Rng, int], Any]
UNIT = (0.0, 1.0)


@bulk
def one_column(value: Any, rng: Rng, size: int, width: int, column: int, scale: float) -> Array:
    """Laplace noise of scale 1 / epsilon in all columns but one, which carries the answer with noise of its own."""
    table = rng.laplace(0, 1 / EPSILON, (size, width))
    table[:, column] = value + scale * rng.laplace(size=size)
    return table


def _tree(leaves: int) -> Array:
    """Which node of a binary tree covers which leaf, shape (nodes, leaves), leaves first."""
    rows, span = [], 1
    while span <= leaves:
        rows += [[first <= leaf < first + span for leaf in range(leaves)] for first in range(0, leaves, span)]
        span *= 2
    return np.array(rows, dtype=float)


def _prefixes(leaves: int) -> Array:
    """Which nodes add up to which prefix sum, shape (leaves, nodes): the binary digits of its length."""
    tree = _tree(leaves)
    rows = np.zeros((leaves, len(tree)))
    for length in range(1, leaves + 1):
        start = 0
        for bit in reversed(range(leaves.bit_length())):
            if length >> bit & 1:
                offset = sum(leaves >> level for level in range(bit))
                rows[length - 1, offset + start // 2**bit] = 1
                start += 2**bit
    return rows


def prefix_sums(leaves: int, std: float, bare: int | None) -> Bulk:
    """Prefix sums from noisy nodes of a tree; the node of leaf `bare` gets no noise. The data: which leaf has a one."""
    tree, sums = _tree(leaves), _prefixes(leaves)

    def many(leaf: Any, rng: Rng, size: int) -> Array:
        noise = rng.normal(0, std, (size, len(tree)))
        if bare is not None:
            noise[:, bare] = 0.0
        answer = np.zeros(leaves) if leaf is None else np.eye(leaves)[int(leaf)]
        return np.asarray((tree @ answer + noise) @ sums.T)

    return Bulk(many)


def prefix_mu(leaves: int, std: float, leaf: int) -> float:
    """Exact mu of all prefix sums when one leaf changes by one."""
    sums = _prefixes(leaves)
    moved = sums @ _tree(leaves)[:, leaf]
    return float(np.sqrt(moved @ np.linalg.solve(sums @ sums.T, moved)) / std)


@bulk
def written(value: Any, rng: Rng, size: int, scale: float, form: str) -> list[Any]:
    """A Laplace answer as "text", "json" text, or a "nested" dict."""

    def one(x: float) -> Any:
        if form == "text":
            return f"The mean is {x:.4f}, with noise."
        document = {"status": "ok", "result": {"mean": x, "unit": "kg"}}
        return json.dumps(document) if form == "json" else document

    return [one(float(x)) for x in value + rng.laplace(0, scale, size)]


@bulk
def optional_field(value: Any, rng: Rng, size: int, rates: tuple[float, float]) -> list[dict[str, Any]]:
    """A dict whose field "note" is there in a share of runs that depends on the data."""
    there = rng.random(size) < rates[int(value)]
    return [
        {"x": float(x), **({"note": None} if yes else {})} for x, yes in zip(rng.normal(size=size), there, strict=True)
    ]


@one_by_one
def number_of_entries(records: float, rng: Rng) -> list[float]:
    """A list of noise, one entry a record."""
    return [float(x) for x in rng.laplace(size=5 + int(records))]


@bulk
def vector(value: Any, rng: Rng, size: int, shift: float, width: int, std: float, laplace: bool) -> Array:
    """All of `width` answers move by `shift`; noise is drawn for each."""
    noise = rng.laplace(0, std, (size, width)) if laplace else rng.normal(0, std, (size, width))
    return np.asarray(float(value) * shift + noise)


@bulk
def drawn(value: Any, rng: Rng, size: int, sampler: Sampler) -> Array:
    """A mechanism of one number."""
    return np.asarray(sampler(float(value), rng, size), dtype=float)[:, None]


def _positive_laplace(value: float, rng: Rng, size: int) -> Array:
    """Laplace noise drawn again until the output is positive (by inversion)."""
    lost = 0.5 * np.exp(-value)
    u = lost + (1 - lost) * rng.random(size)
    return np.asarray(value - np.sign(u - 0.5) * np.log1p(-2 * np.abs(u - 0.5)))


def _rare_signal(value: float, rng: Rng, size: int) -> Array:
    """Laplace noise, and in three runs of a thousand another place that shows the side."""
    signal = rng.random(size) < 0.003
    return np.where(signal, 1000 + 20 * value + rng.normal(size=size), value + rng.laplace(0, 1 / EPSILON, size))


@bulk
def categories(value: Any, rng: Rng, size: int, keep: float, count: int) -> Array:
    """Randomised response over several categories."""
    other = (int(value) + rng.integers(1, count, size)) % count
    return np.where(rng.random(size) < keep, int(value), other).astype(float)[:, None]


@bulk
def zero_sum(value: Any, rng: Rng, size: int, width: int) -> Array:
    """Laplace noise on each bin, centred so that 'the total stays right': the total is exact."""
    noise = rng.laplace(0, 2 / EPSILON, (size, width))
    noise -= noise.mean(axis=1, keepdims=True)
    noise[:, 0] += float(value)
    return noise


@bulk
def shared_noise(value: Any, rng: Rng, size: int, width: int, first: int, second: int) -> Array:
    """Two of the columns carry the same noise; the answer is in one of them."""
    table = rng.laplace(0, 1 / EPSILON, (size, width))
    table[:, second] = table[:, first] + float(value)
    return table


def _wide() -> Iterator[Entry]:
    yield pure("64 columns", one_column(64, 37, 1 / EPSILON), UNIT, EPSILON)
    yield pure("column 5 of 64 exact", one_column(64, 5, 0.0), UNIT, INFINITE)
    yield pure("column 37 of 64 exact", one_column(64, 37, 0.0), UNIT, INFINITE)
    yield pure("column 200 of 300 at epsilon 5", one_column(300, 200, 0.2), UNIT, 5.0)
    yield pure("image of 8 x 8, one pixel at epsilon 3", one_column(64, 43, 1 / 3), UNIT, 3.0)
    yield pure("histogram of 100 bins", one_column(100, 60, 1 / EPSILON), UNIT, EPSILON)
    for column in (3, 30, 60):
        yield pure(f"histogram of 100 bins, bin {column} at epsilon 20", one_column(100, column, 0.05), UNIT, 20.0)
    for leaves in (16, 32, 64):
        bare, std = leaves // 2 + 2, float(np.sqrt(leaves.bit_length()))
        mechanism = prefix_sums(leaves, std, bare)
        yield gauss(f"{leaves} prefix sums, one leaf bare", mechanism, (None, bare), 1.0, INFINITE)
    std = float(np.sqrt(6))
    yield gauss("32 prefix sums", prefix_sums(32, std, None), (None, 18), 1.0, prefix_mu(32, std, 18))
    yield gauss("gaussian in 30 columns", vector(1 / np.sqrt(30), 30, 1.0, False), UNIT, 1.0, 1.0)
    yield gauss(
        "gaussian in 30 columns, noise a third too small", vector(1 / np.sqrt(30), 30, 2 / 3, False), UNIT, 1.0, 1.5
    )
    yield pure("two answers, epsilon halved", vector(1.0, 2, 2 / EPSILON, True), UNIT, EPSILON)
    yield pure("two answers, epsilon spent twice", vector(1.0, 2, 1 / EPSILON, True), UNIT, 2 * EPSILON)
    yield pure("ten answers, sensitivity of one", vector(1.0, 10, 1 / EPSILON, True), UNIT, 10 * EPSILON)
    yield pure("noise that adds up to zero", zero_sum(20), UNIT, INFINITE)
    yield pure("the same noise in two of ten columns", shared_noise(10, 2, 9), UNIT, INFINITE)


def _texts() -> Iterator[Entry]:
    for form, name in (("text", "text"), ("json", "JSON text"), ("nested", "nested dict")):
        yield pure(f"laplace as {name}", written(1 / EPSILON, form), UNIT, EPSILON)
        yield pure(f"laplace at epsilon 4 as {name}", written(0.25, form), UNIT, 4.0)
    fair = float(np.e / (1 + np.e))
    yield pure("optional field", optional_field((fair, 1 - fair)), UNIT, EPSILON)
    yield pure("optional field, wrong rate", optional_field((0.9, 0.3)), UNIT, float(np.log(7)))
    yield pure("one entry a record", number_of_entries(), UNIT, INFINITE)


def _noises() -> Iterator[Entry]:
    yield pure(
        "laplace, rounded and clipped",
        drawn(lambda v, r, n: np.clip(np.round(v + r.laplace(size=n), 1), -2, 3)),
        UNIT,
        EPSILON,
    )
    yield pure("laplace, drawn again until positive", drawn(_positive_laplace), UNIT, 1 + float(np.log(2 - np.exp(-1))))
    yield pure("uniform noise", drawn(lambda v, r, n: v + r.uniform(-5, 5, n)), UNIT, INFINITE)
    yield pure("discrete laplace at epsilon 1.5", law.discrete_laplace(1.5), (3, 4), 1.5)
    keep = float(np.e / (np.e + 9))
    yield pure("ten categories", categories(keep, 10), (2, 7), EPSILON)
    yield pure("ten categories, wrong rate", categories(0.4, 10), (2, 7), float(np.log(6)))
    scores = (np.array([1.0, 0, 0, 0, 0]), np.array([0.0, 1, 1, 1, 1]))
    logs = [one - np.log(np.exp(2 * EPSILON * one).sum()) / (2 * EPSILON) for one in scores]
    truth = float(2 * EPSILON * np.abs(logs[0] - logs[1]).max())
    yield pure("exponential mechanism, sensitivity forgotten", law.exponential_mechanism(4 * EPSILON), scores, truth)
    yield pure("rare signal, 0.3 % of runs", drawn(_rare_signal), UNIT, INFINITE)
    yield pure("rounds until a noisy stop", drawn(lambda v, r, n: r.geometric(0.1 + 0.2 * v, n)), UNIT, INFINITE)
    yield pure("spread of the noise depends on the data", drawn(lambda v, r, n: r.normal(0, 1 + v, n)), UNIT, INFINITE)
    yield gauss("gaussian in one column of 20, noise halved", one_of_gaussian(20, 13, 0.5), UNIT, 1.0, 2.0)
    yield pure("laplace, noise 30 % too small", law.laplace_noise(0.7 / EPSILON), UNIT, EPSILON / 0.7)


@bulk
def one_of_gaussian(value: Any, rng: Rng, size: int, width: int, column: int, std: float) -> Array:
    """Gaussian noise of deviation 1 in all columns but one."""
    table = rng.normal(size=(size, width))
    table[:, column] = float(value) + std * table[:, column]
    return table


def shapes() -> list[Entry]:
    """Wide outputs, texts and nested ones, noise of other shapes."""
    return [*_wide(), *_texts(), *_noises()]


@bulk
def picture(value: Any, rng: Rng, size: int, side: int, pixel: tuple[int, int], scale: float) -> Array:
    """Laplace noise on each pixel; one of them carries the answer with noise of its own."""
    flat = one_column(side * side, pixel[0] * side + pixel[1], scale)
    return np.asarray(flat.many(value, rng, size)).reshape(size, side, side)


@one_by_one
def ragged(value: float, rng: Rng, scale: float) -> list[float]:
    """Lists of 2 to 8 noisy numbers; the length is drawn, and the answer is in the last one."""
    row = rng.laplace(0, 1 / EPSILON, int(rng.integers(2, 9)))
    row[-1] = value + rng.laplace(0, scale)
    return [float(x) for x in row]


@bulk
def several(value: Any, rng: Rng, size: int, scale: float) -> list[Any]:
    """A tuple of noise, a dict with the answer, and a word."""
    noise, answers = rng.laplace(size=size), float(value) + rng.laplace(0, scale, size)
    return [(float(a), {"mean": float(b), "unit": "kg"}, "done") for a, b in zip(noise, answers, strict=True)]


@bulk
def key_of_the_record(value: Any, rng: Rng, size: int) -> list[dict[str, float]]:
    """A dict with a noisy count for each group that has records; the record is alone in its group."""
    groups = ["a", "b"] + (["c"] if value else [])
    noise = rng.laplace(0, 1 / EPSILON, (size, len(groups)))
    return [{name: float(x) for name, x in zip(groups, row, strict=True)} for row in noise]


@bulk
def absent_or_noise(value: Any, rng: Rng, size: int, rates: tuple[float, float]) -> list[float | None]:
    """None in a share of runs that depends on the data, else noise."""
    there = rng.random(size) < rates[int(value)]
    return [float(x) if yes else None for x, yes in zip(rng.normal(size=size), there, strict=True)]


@bulk
def rounded_noise(value: Any, rng: Rng, size: int, digits: int) -> Array:
    """The noise is rounded, and not the output: the answer's further digits stay."""
    return np.asarray(float(value) / 3 + np.round(rng.laplace(0, 1 / (3 * EPSILON), size), digits))[:, None]


@bulk
def running_mean(value: Any, rng: Rng, size: int, steps: int, std: float) -> Array:
    """Means of the first 1, 2, ... of as many noisy answers: the first one moves by the record."""
    noisy = rng.normal(0, std, (size, steps))
    noisy[:, 0] += float(value)
    return np.asarray(noisy.cumsum(axis=1) / np.arange(1, steps + 1))


def forms() -> Iterator[Entry]:
    """Very wide outputs, pictures, lists of changing length, several answers at once, last digits."""
    yield pure("column 700 of 1000 at epsilon 4", one_column(1000, 700, 0.25), UNIT, 4.0)
    yield pure("picture of 28 x 28", picture(28, (9, 17), 1 / EPSILON), UNIT, EPSILON)
    yield pure("picture of 28 x 28, one pixel at epsilon 4", picture(28, (9, 17), 0.25), UNIT, 4.0)
    yield pure("lists of changing length", ragged(1 / EPSILON), UNIT, EPSILON)
    yield pure("lists of changing length, the last entry at epsilon 3", ragged(1 / 3), UNIT, 3.0)
    yield pure("several answers", several(1 / EPSILON), UNIT, EPSILON)
    yield pure("several answers, one at epsilon 3", several(1 / 3), UNIT, 3.0)
    yield pure("a key for the record alone", key_of_the_record(), (0, 1), INFINITE)
    fair = float(np.e / (1 + np.e))
    yield pure("no answer at times", absent_or_noise((fair, 1 - fair)), (0, 1), EPSILON)
    yield pure("no answer at times, wrong rate", absent_or_noise((0.99, 0.9)), (0, 1), float(np.log(10)))
    yield pure("noise rounded to four digits, output not", rounded_noise(4), UNIT, INFINITE)
    yield gauss("running means", running_mean(20, 1.0), UNIT, 1.0, 1.0)
    yield gauss("running means, noise halved", running_mean(20, 0.5), UNIT, 1.0, 2.0)


EPOCH, DAY = 1_760_000_000.0, 86_400.0  # seconds


@bulk
def mirrored_pixel(value: Any, rng: Rng, size: int, side: int, pixels: tuple[int, int]) -> Array:
    """A noisy picture; the noise of the pixel with the answer stands in another pixel, with the other sign."""
    flat = rng.laplace(0, 1 / EPSILON, (size, side * side))
    flat[:, pixels[1]] = -flat[:, pixels[0]]
    flat[:, pixels[0]] += float(value)
    return flat.reshape(size, side, side)


@bulk
def blurred(value: Any, rng: Rng, size: int, side: int) -> Array:
    """A noisy picture, blurred afterwards by a kernel that can be undone (for an odd side)."""
    picture = rng.laplace(0, 1 / EPSILON, (size, side, side))
    picture[:, side // 2, side // 3] += float(value)
    for axis in (1, 2):
        picture = 0.5 * picture + 0.25 * (np.roll(picture, 1, axis) + np.roll(picture, -1, axis))
    return picture


@bulk
def csv_line(value: Any, rng: Rng, size: int, fields: int, answer: int, scale: float) -> list[str]:
    """A line of numbers, divided by semicolons, with a name in front."""
    table = rng.laplace(0, 1 / EPSILON, (size, fields))
    table[:, answer] = float(value) + rng.laplace(0, scale, size)
    return ["store 7;" + ";".join(f"{x:.3f}" for x in row) for row in table]


@one_by_one
def bins_in_any_order(value: float, rng: Rng, bins: int, answer: int, scale: float) -> str:
    """JSON text: a list of bins, each with its number and its noisy count, in random order."""
    counts = rng.laplace(0, 1 / EPSILON, bins)
    counts[answer] = value + rng.laplace(0, scale)
    return json.dumps([{"bin": int(k), "count": round(float(counts[k]), 4)} for k in rng.permutation(bins)])


@one_by_one
def words(value: float, rng: Rng, stops: tuple[float, float]) -> str:
    """Random words until a stop, whose rate depends on the data."""
    known = np.array(["ash", "beech", "cedar", "elm", "fir"])
    return " ".join(known[rng.integers(0, known.size, rng.geometric(stops[int(value)]))])


@bulk
def undefined_at_times(value: Any, rng: Rng, size: int, rates: tuple[float, float]) -> Array:
    """Three numbers, noise alone; the second is NaN in a share of runs that depends on the data."""
    table = rng.normal(size=(size, 3))
    table[rng.random(size) < rates[int(value)], 1] = np.nan
    return table


@bulk
def times(value: Any, rng: Rng, size: int, slower: float, answer: bool) -> Array:
    """Seconds since 1970 of a start and of an end; how long it took may depend on the data. Then a noisy answer."""
    start = EPOCH + DAY * rng.random(size)
    took = 0.1 + rng.exponential(0.05 * (1 + slower * float(value)), size)
    noisy = float(value) * answer + rng.laplace(0, 1 / EPSILON, size)
    return np.stack([start, start + took, noisy], axis=1)


@bulk
def ranking(value: Any, rng: Rng, size: int, digits: int, by_truth: bool) -> list[str]:
    """Text: two noisy counts, the larger one first; where they are tied, the one that is truly larger, or the first."""
    truly = {"a": 4.0 + float(value), "b": 4.5}
    found = []
    for noise in rng.laplace(0, 1 / EPSILON, (size, 2)):
        noisy = {name: round(count + x, digits) for (name, count), x in zip(truly.items(), noise, strict=True)}
        order = sorted((-noisy[name], -truly[name] if by_truth else 0.0, name) for name in noisy)
        found.append(", ".join(f"{name} {noisy[name]:.{digits}f}" for _, _, name in order))
    return found


@bulk
def flags(value: Any, rng: Rng, size: int, count: int, flag: int, keep: float) -> Array:
    """Many coins, one of which answers by randomised response."""
    table = rng.integers(0, 2, (size, count)).astype(float)
    kept = rng.random(size) < keep
    table[:, flag] = np.where(kept, int(value), 1 - int(value))
    return table


@one_by_one
def journal(value: float, rng: Rng) -> dict[str, Any]:
    """A dict with a journal of changing length, whose entries may be missing, and a noisy answer."""
    entries = [None if rng.random() < 0.2 else float(x) for x in rng.normal(size=rng.geometric(0.3))]
    return {"journal": entries, "answer": float(value + rng.laplace(0, 1 / EPSILON))}


def held_out() -> Iterator[Entry]:
    """See the top of this file."""
    yield pure("picture of 12 x 12, the noise of a pixel mirrored", mirrored_pixel(12, (40, 99)), UNIT, INFINITE)
    yield pure("line of eight numbers, one at epsilon 4", csv_line(8, 5, 0.25), UNIT, 4.0)
    yield pure("JSON bins in any order, one at epsilon 4", bins_in_any_order(12, 7, 0.25), UNIT, 4.0)
    yield pure("words until a stop that depends on the data", words((0.3, 0.5)), (0, 1), INFINITE)
    yield pure("undefined at times, wrong rate", undefined_at_times((0.05, 0.3)), (0, 1), float(np.log(6)))
    yield pure("times of start and end, the data decide how long", times(0.5, False), UNIT, INFINITE)
    yield pure("ranking as text, ties broken by the truth", ranking(0, True), UNIT, INFINITE)
    yield pure("400 flags, one at epsilon 3", flags(400, 123, float(1 / (1 + np.exp(-3)))), (0, 1), 3.0)
    yield pure("picture of 11 x 11, blurred", blurred(11), UNIT, EPSILON)
    yield pure("times and a noisy answer", times(0.0, True), UNIT, EPSILON)
    yield pure("ranking as text", ranking(3, False), UNIT, EPSILON)
    yield pure("dict with a journal", journal(), UNIT, EPSILON)
