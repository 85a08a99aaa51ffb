"""Opacus on the tape: a training loop with its own per-sample gradients and clipping; the noise is asked for.

``PrivacyEngine.make_private`` wraps model, optimizer and loader as in the library's examples. Hooks, clipping and the
division by the expected batch are not touched. ``DPOptimizer.add_noise`` hands the clipped sum of all parameters and
its standard deviation to the tape; Poisson batches come from the tape as well. The claim is what the library's own
accountant says of the training, which is of records that are added or removed.

Adaptive clipping under Poisson sampling: a lower bound of epsilon from the law of what every step shows.

No likelihood audit on the tape is made of it: a batch matters by its other records too (they are counted), and an empty
one ends the training with an error. Two records at rate 1/2 are few enough to write the law down. The target's gradient
has the clipping norm ``C`` and is clipped; the other one has none and is not. A batch that is not empty holds the
target, the other or both, each with probability 1/3, and the step then shows two numbers: the noisy sum over ``C``,
along the target's gradient, and the noisy number of gradients that are not clipped over the size of the batch, which
the next clipping bound tells. Both are counted in cells: that hides something and adds nothing, and losses are rounded
towards the other side, so the bound holds exactly, but for rounding.
"""

import logging
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import Any, Literal

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.arrays import Array
from dpassay.reference.space import Rows, Sizes
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch

from .data import ABSENT, left_in, opposite, space_of
from .model import Model, current_tape, on_tape, patch

Parts = Sequence[tuple[float, int, int]]

_EMPTY = {"here": 0.25, "opposite": 0.25, "absent": 0.25, "removed": 0.5}  # no record is drawn, at rate 1/2
_PARTS: dict[str, Parts] = {  # the sum over C, gradients that are not clipped, records: target alone, other alone, both
    "here": ((1.0, 0, 1), (0.0, 1, 1), (1.0, 1, 2)),
    "opposite": ((-1.0, 0, 1), (0.0, 1, 1), (-1.0, 1, 2)),
    "absent": ((0.0, 1, 1), (0.0, 1, 1), (0.0, 2, 2)),  # a record without a gradient in its place
    "removed": ((0.0, 1, 1),),
}
_SUMS, _SHARES = np.linspace(-13.0, 13.0, 1301), np.linspace(-15.0, 16.0, 776)  # edges; what lies outside is left out
_GRID = 1e-3  # of losses
_ROUNDING = 1e-9  # of delta: transforms of some 1e5 numbers, each with an error of 1e-16


def adjusted(multiplier: float, deviation: float) -> float:
    """The noise of the sum that leaves room for the number of gradients: Theorem 1 of arXiv 1905.03871."""
    return float((multiplier**-2 - (2 * deviation) ** -2) ** -0.5)


def shown(
    relation: Relation, multiplier: float, deviation: float, steps: int, delta: float, removed: bool = False
) -> float:
    """Epsilon that some steps realise at least, for whoever sees weights, clipping bounds and where it ends.

    Args:
        relation: of the record that is the target; what is added takes the place of one without a gradient.
        multiplier: ``noise_multiplier`` of ``make_private``.
        deviation: ``unclipped_num_std``.
        steps: of the training.
        delta: of the claim.
        removed: what is not there has nothing in its place: one record is left. More is shown, as the number counts.
    """
    other = "opposite" if relation == "replace-one" else "removed" if removed else "absent"
    sides = [(_cells(one, multiplier, deviation), _EMPTY[one]) for one in ("here", other)]
    return max(_one_way(a, b, steps, delta) for a, b in (sides, sides[::-1]))


def _cells(name: str, multiplier: float, deviation: float) -> Array:
    """What a step shows if its batch is not empty, by cells; the sum is the chance that it is not empty."""
    scale, parts = adjusted(multiplier, deviation), _PARTS[name]
    found = [
        np.outer(np.diff(norm.cdf(_SUMS, move, scale)), np.diff(norm.cdf(_SHARES, kept / size, deviation / size)))
        for move, kept, size in parts
    ]
    return np.asarray((1 - _EMPTY[name]) * np.mean(found, axis=0))


def _one_way(one_side: tuple[Array, float], other: tuple[Array, float], steps: int, delta: float) -> float:
    """Where the hockey-stick divergence of all ends together comes down to delta."""
    (here, empty), (there, empty_there) = one_side, other
    seen = (here > 1e-300) & (there > 1e-300)
    places = np.floor(np.log(here[seen] / there[seen]) / _GRID).astype(int)
    first, one = int(places.min()), np.bincount(places - places.min(), weights=here[seen])
    ended = math.log(empty / empty_there) if empty else 0.0  # the loss of an error, which comes where a batch is empty
    ends, law, start = [], np.ones(1), 0
    for _ in range(steps):
        ends.append((empty * law, (np.arange(len(law)) + start) * _GRID + ended))
        size = len(law) + len(one) - 1
        law = np.maximum(np.fft.irfft(np.fft.rfft(law, size) * np.fft.rfft(one, size), size), 0.0)
        start += first
    ends.append((law, (np.arange(len(law)) + start) * _GRID))

    def excess(epsilon: float) -> float:
        parts = [mass[losses > epsilon] @ -np.expm1(epsilon - losses[losses > epsilon]) for mass, losses in ends]
        return float(sum(parts) - delta - _ROUNDING)

    return float(brentq(excess, 0.0, 100.0)) if excess(0.0) > 0 else 0.0


DELTA = 1e-5
Batches = Literal["all", "Poisson", "in order"]
GHOST = ("ghost", "ghost, column")  # with losses of shape (n,), and of shape (n, 1)
CLIP, MULTIPLIER, STEPS, RATE = 1.0, 1.5, 3, 0.5
PASS = 16  # records of one pass in order
ADAPTIVE = {
    "target_unclipped_quantile": 0.5,
    "clipbound_learning_rate": 0.2,
    "max_clipbound": 1e4,  # bounds that no run comes to: 13 deviations of all that three steps may add
    "min_clipbound": 1e-4,
    "unclipped_num_std": 2.0,
}
_BATCH: ContextVar[Batch | None] = ContextVar("batch", default=None)


@cache
def patched() -> None:
    """The optimizers and the sampler ask the tape."""
    from opacus.optimizers.adaclipoptimizer import AdaClipDPOptimizer
    from opacus.optimizers.optimizer import DPOptimizer
    from opacus.optimizers.optimizer_fast_gradient_clipping import DPOptimizerFastGradientClipping
    from opacus.utils.uniform_sampler import UniformWithReplacementSampler

    patch(DPOptimizer, "add_noise", _add_noise)
    patch(DPOptimizerFastGradientClipping, "add_noise", _add_noise)
    patch(AdaClipDPOptimizer, "add_noise", _add_noise_to_both)
    patch(UniformWithReplacementSampler, "__iter__", _batches)


def _add_noise(tape: Tape, optimizer: Any) -> None:
    """One release of the sums of all parameters, flattened: their clipped norms are bounded together."""
    _noisy(tape, optimizer, float(optimizer.noise_multiplier))


def _add_noise_to_both(tape: Tape, optimizer: Any) -> None:
    """Adaptive clipping: the sums with the multiplier of Theorem 1 (arXiv 1905.03871), and how many are not clipped."""
    import torch

    deviation = float(optimizer.unclipped_num_std)
    _noisy(tape, optimizer, adjusted(optimizer.noise_multiplier, deviation))
    count = tape.gaussian(
        "AdaClipDPOptimizer, number not clipped",
        float(optimizer.unclipped_num),
        std=deviation,
        sensitivity=1.0,  # Theorem 1: half of it where a record appears
        batch=_BATCH.get(),
    )
    optimizer.unclipped_num = torch.as_tensor(count)


def _noisy(tape: Tape, optimizer: Any, multiplier: float) -> None:
    import torch
    from opacus.optimizers.optimizer import _check_processed_flag, _mark_as_processed

    sums = [p.summed_grad for p in optimizer.params]
    for one in sums:
        _check_processed_flag(one)
    noisy = tape.gaussian(
        "DPOptimizer",
        np.concatenate([np.asarray(one.detach(), dtype=float).ravel() for one in sums]),
        std=multiplier * float(optimizer.max_grad_norm),
        sensitivity=2 * float(optimizer.max_grad_norm),  # of replacing a record; half of it where one appears
        batch=_BATCH.get(),
    )
    parts = torch.split(torch.as_tensor(noisy, dtype=sums[0].dtype), [one.numel() for one in sums])
    for p, part in zip(optimizer.params, parts, strict=True):
        p.grad = part.reshape(p.shape).clone()
        _mark_as_processed(p.summed_grad)


def _batches(tape: Tape, sampler: Any) -> Iterator[list[int]]:
    for _ in range(sampler.steps):
        batch = tape.poisson("UniformWithReplacementSampler", sampler.num_samples, float(sampler.sample_rate))
        _BATCH.set(batch)
        yield batch.indices.tolist()


def _train(batches: Batches, clipping: str, reduction: str, data: Array) -> Mapping[str, Any]:
    """Three steps as the library's examples write them; two layers, so that clipping is over both.

    Batches are ``all`` records, ``Poisson``, or one record each ``in order``; then there is one pass. Clipping is a
    word of the library, or ``ghost``, with losses of shape (n,) or, ``ghost, column``, (n, 1).
    """
    import torch
    from opacus import PrivacyEngine

    _BATCH.set(None)
    layers = torch.nn.Linear(data.shape[1] - 1, 2, bias=False), torch.nn.Linear(2, 1, bias=False)
    model = torch.nn.Sequential(*layers).double()
    for layer in layers:
        torch.nn.init.constant_(layer.weight, 0.5)
    rows = torch.as_tensor(data, dtype=torch.float64)
    dataset = torch.utils.data.TensorDataset(rows[:, :-1], rows[:, -1:])
    size = {"all": len(data), "Poisson": max(1, round(RATE * len(data))), "in order": 1}[batches]
    steps = len(data) if batches == "in order" else STEPS
    ghost, criterion = clipping in GHOST, torch.nn.MSELoss(reduction=reduction)
    norms = [0.75, 1.0] if clipping == "per_layer" else CLIP  # 1.25 together, without rounding
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that this is no secure generator, that hooks are old
        made = PrivacyEngine(accountant="rdp").make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
            data_loader=torch.utils.data.DataLoader(dataset, batch_size=size),
            noise_multiplier=MULTIPLIER,
            max_grad_norm=norms,
            clipping="flat" if ghost else clipping,
            loss_reduction=reduction,
            poisson_sampling=batches == "Poisson",
            **({"grad_sample_mode": "ghost", "criterion": criterion} if ghost else {}),
            **(ADAPTIVE if clipping == "adaptive" else {}),
        )
        model, optimizer, loss_of, loader = made if ghost else (made[0], made[1], criterion, made[2])
        done = 0
        while done < steps:
            for x, y in loader:
                if done == steps:
                    break
                if batches == "in order":
                    _BATCH.set(_next_record(len(data)))
                optimizer.zero_grad()
                found = model(x)
                (loss_of(found[:, 0], y[:, 0]) if clipping == GHOST[0] else loss_of(found, y)).backward()
                optimizer.step()
                done += 1
    return {name: value.detach().numpy().copy() for name, value in model.state_dict().items()}


def _next_record(n: int) -> Batch | None:
    """The loader takes the next one, and so does the tape."""
    tape = current_tape()
    return None if tape is None else tape.fresh("loader", n, 1, order="index")


@lru_cache(maxsize=8)
def _claimed(rate: float, steps: int = STEPS) -> float:
    """Epsilon of some steps by the library's RDP accountant, as ``PrivacyEngine.get_epsilon`` says it."""
    from opacus.accountants import RDPAccountant

    accountant = RDPAccountant()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the best order is the largest or the smallest of those tried
        for _ in range(steps):
            accountant.step(noise_multiplier=MULTIPLIER, sample_rate=rate)
        return float(accountant.get_epsilon(DELTA))


def _there(rows: Array, sizes: Sizes) -> Array:
    """A record that is not there is zero: no input, no gradient. How many there may be is public."""
    return np.where(np.all(rows == ABSENT, axis=1, keepdims=True), 0.0, rows)


def _left(rows: Array, sizes: Sizes) -> Array:
    """A record that is not there is left out, and with it one of the number of records."""
    return np.vstack([left_in(rows, sizes), np.zeros((1, rows.shape[1]))])  # a loader refuses data without a record


def models() -> Sequence[Model]:
    """Full, Poisson and ordered batches, four ways of clipping, and how many records there are as public or not."""
    logging.getLogger("opacus").setLevel(logging.ERROR)  # that a batch is empty, that the generator is not secure
    found = []
    kinds: tuple[tuple[str, Batches, str], ...] = (
        ("full batches", "all", "flat"),
        ("full batches, clipped by layer", "all", "per_layer"),
        ("full batches, ghost clipping", "all", GHOST[0]),
        ("full batches, ghost clipping, losses of shape (n, 1)", "all", GHOST[1]),
        ("Poisson batches", "Poisson", "flat"),
        ("Poisson batches, adaptive clipping", "Poisson", "adaptive"),
        (f"one pass over {PASS} records in order, without Poisson sampling", "in order", "flat"),
    )
    for name, batches, clipping in kinds:
        run = on_tape(patched, partial(_train, batches, clipping, "mean"), "train")
        one = _model(f"make_private, {name}", run, batches, public=True)
        found.append(replace(one, shown=_by_law) if (batches, clipping) == ("Poisson", "adaptive") else one)
    for clipping, reduction in (("flat", "sum"), ("flat", "mean"), ("adaptive", "sum")):
        run = on_tape(patched, partial(_train, "all", clipping, reduction), "train")
        how = ", adaptive clipping" if clipping == "adaptive" else ""
        title = f"make_private, full batches, number of records not public, {reduction}{how}"
        found.append(_model(title, run, "all", public=False))
    return found


def _model(title: str, run: Any, batches: str, public: bool) -> Model:
    sizes = {"n": {"all": (2, 3), "Poisson": (2, 4), "in order": (PASS,)}[batches], "d": (2, 3)}
    claimed = {"all": _claimed(1.0), "Poisson": _claimed(RATE), "in order": _claimed(1 / PASS, PASS)}[batches]
    relations: tuple[Relation, ...] = ("replace-one", "add-remove") if public else ("add-remove",)
    rows = _there if public else _left
    spaces = {relation: space_of(relation, Rows("d", None), sizes, rows) for relation in relations}
    pairs = {relation: opposite(max(2, min(sizes["n"])), relation) for relation in relations}
    return Model(title, run, claimed, spaces, "weights after the last step", 40, delta=DELTA, pairs=pairs)


def _by_law(relation: Relation) -> tuple[float, str]:
    """Two records at rate 1/2, as of :func:`opposite`."""
    return shown(relation, MULTIPLIER, ADAPTIVE["unclipped_num_std"], STEPS, DELTA), "law of what a step shows, exact"
