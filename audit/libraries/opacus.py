"""Opacus on the tape: a training loop with its own per-sample gradients and clipping; the noise is asked for.

``PrivacyEngine.make_private`` wraps model, optimizer and loader as in the library's examples. Hooks, clipping and the
division by the expected batch are not touched. ``DPOptimizer.add_noise`` hands the clipped sum of all parameters and
its standard deviation to the tape; Poisson batches come from the tape as well. The claim is what the library's own
accountant says of the training, which is of records that are added or removed.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import lru_cache, partial
from typing import Any

import numpy as np

from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.space import Rows, Sizes, Space
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch
from dpassay.reference.types import Array

from .data import ABSENT
from .model import Model
from .redirect import Patch, Patches, on_tape, on_the_tape

DELTA = 1e-5
CLIP, MULTIPLIER, STEPS, RATE = 1.0, 1.5, 3, 0.5
_BATCH: ContextVar[Batch | None] = ContextVar("batch", default=None)


def _patches() -> list[Patch]:
    from opacus.optimizers.optimizer import DPOptimizer
    from opacus.utils.uniform_sampler import UniformWithReplacementSampler

    return [
        Patch(DPOptimizer, "add_noise", on_the_tape(_add_noise)),
        Patch(UniformWithReplacementSampler, "__iter__", on_the_tape(_batches)),
    ]


PATCHES = Patches(_patches)


def _add_noise(tape: Tape, optimizer: Any) -> None:
    """One release of the sums of all parameters, flattened: their clipped norms are bounded together."""
    import torch
    from opacus.optimizers.optimizer import _check_processed_flag, _mark_as_processed

    sums = [p.summed_grad for p in optimizer.params]
    for one in sums:
        _check_processed_flag(one)
    noisy = tape.gaussian(
        "DPOptimizer",
        np.concatenate([np.asarray(one.detach(), dtype=float).ravel() for one in sums]),
        std=float(optimizer.noise_multiplier * optimizer.max_grad_norm),
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


def _train(sampled: bool, clipping: str, reduction: str, data: Array) -> Mapping[str, Any]:
    """Three steps as the library's examples write them; two layers, so that clipping is over both."""
    import torch
    from opacus import PrivacyEngine

    _BATCH.set(None)
    layers = torch.nn.Linear(data.shape[1] - 1, 2, bias=False), torch.nn.Linear(2, 1, bias=False)
    model = torch.nn.Sequential(*layers).double()
    for layer in layers:
        torch.nn.init.constant_(layer.weight, 0.5)
    rows = torch.as_tensor(data, dtype=torch.float64)
    dataset = torch.utils.data.TensorDataset(rows[:, :-1], rows[:, -1:])
    size = max(1, round(RATE * len(data))) if sampled else len(data)
    norms = [0.75, 1.0] if clipping == "per_layer" else CLIP  # 1.25 together, without rounding
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that this is no secure generator, that hooks are old
        model, optimizer, loader = PrivacyEngine(accountant="rdp").make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
            data_loader=torch.utils.data.DataLoader(dataset, batch_size=size),
            noise_multiplier=MULTIPLIER,
            max_grad_norm=norms,
            clipping=clipping,
            loss_reduction=reduction,
            poisson_sampling=sampled,
        )
        loss_of = torch.nn.MSELoss(reduction=reduction)
        done = 0
        while done < STEPS:
            for x, y in loader:
                if done == STEPS:
                    break
                optimizer.zero_grad()
                loss_of(model(x), y).backward()
                optimizer.step()
                done += 1
    return {name: value.detach().numpy().copy() for name, value in model.state_dict().items()}


@lru_cache(maxsize=8)
def _claimed(rate: float) -> float:
    """Epsilon of three steps by the library's RDP accountant, as ``PrivacyEngine.get_epsilon`` says it."""
    from opacus.accountants import RDPAccountant

    accountant = RDPAccountant()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the best order is the largest or the smallest of those tried
        for _ in range(STEPS):
            accountant.step(noise_multiplier=MULTIPLIER, sample_rate=rate)
        return float(accountant.get_epsilon(DELTA))


def _there(rows: Array, sizes: Sizes) -> Array:
    """A record that is not there is zero: no input, no gradient. How many there may be is public."""
    return np.where(np.all(rows == ABSENT, axis=1, keepdims=True), 0.0, rows)


def _left(rows: Array, sizes: Sizes) -> Array:
    """A record that is not there is left out, and with it one of the number of records."""
    present = rows[~np.all(rows == ABSENT, axis=1)]
    return np.vstack([present, np.zeros((1, rows.shape[1]))])  # a loader refuses data without a record


def models() -> Sequence[Model]:
    """Full and Poisson batches, both ways of clipping, and how many records there are as public or not."""
    logging.getLogger("opacus").setLevel(logging.ERROR)  # that a batch is empty, that the generator is not secure
    found = []
    for name, sampled, clipping, reduction in (
        ("full batches", False, "flat", "mean"),
        ("full batches, clipped by layer", False, "per_layer", "mean"),
        ("Poisson batches", True, "flat", "mean"),
    ):
        run = on_tape(PATCHES, partial(_train, sampled, clipping, reduction), "train")
        found.append(_model(f"make_private, {name}", run, sampled, public=True))
    for reduction in ("sum", "mean"):
        run = on_tape(PATCHES, partial(_train, False, "flat", reduction), "train")
        title = f"make_private, full batches, number of records not public, {reduction}"
        found.append(_model(title, run, sampled=False, public=False))
    return found


def _model(title: str, run: Any, sampled: bool, public: bool) -> Model:
    sizes = {"n": (2, 4) if sampled else (2, 3), "d": (2, 3)}
    relations: tuple[Relation, ...] = ("replace-one", "add-remove") if public else ("add-remove",)
    spaces: dict[Relation, Space] = {}
    for relation in relations:
        absent = np.array([ABSENT]) if relation == "add-remove" else None
        rows = _there if public else _left
        spaces[relation] = Space(Rows("d", None), sizes, rows, relation=relation, absent=absent)
    return Model(title, run, _claimed(RATE if sampled else 1.0), spaces, "weights after the last step", 40, delta=DELTA)
