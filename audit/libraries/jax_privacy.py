"""jax-privacy on the tape: a training loop with its own clipping, and its privatizer asking the tape for noisy sums.

``clipped_grad`` is the library's own: per-example gradients, clipping and sum are not touched, and the sensitivity
that it states is what is declared. ``gaussian_privatizer`` hands sum and standard deviation to the tape; Poisson
batches come from the tape as well. The claim is what the library's event and an accountant say of such a training.
"""

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np

from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.arrays import Array
from dpassay.reference.space import Rows
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch

from .data import left_in, opposite, space_of
from .dp_accounting import DELTA, epsilons
from .model import Model, current_tape, on_tape, patch

CLIP, MULTIPLIER, STEPS, RATE = 1.0, 1.5, 3, 0.25


@dataclass
class _Step:
    """What the privatizer cannot know of the sum that it is given."""

    sensitivity: float | None = None
    batch: Batch | None = None


_STEP: ContextVar[_Step] = ContextVar("step")


@cache
def patched() -> None:
    """The privatizer and the batches ask the tape."""
    from jax_privacy import batch_selection, noise_addition

    patch(noise_addition, "gaussian_privatizer", _privatizer)
    patch(batch_selection.CyclicPoissonSampling, "batch_iterator", _batches)


def _privatizer(tape: Tape, *, stddev: float, **_: Any) -> Any:
    """An optax transformation whose update is a release of the whole tree, flattened."""
    import optax
    from jax.flatten_util import ravel_pytree

    def update(sum_of_clipped_grads: Any, noise_state: Any, params: Any = None) -> tuple[Any, Any]:
        flat, back = ravel_pytree(sum_of_clipped_grads)
        now, step = current_tape(), _STEP.get()
        assert now is not None
        query = np.asarray(flat, dtype=float)
        label = "gaussian_privatizer"
        noisy = now.gaussian(label, query, std=float(stddev), sensitivity=step.sensitivity, batch=step.batch)
        return back(np.asarray(noisy, dtype=flat.dtype)), noise_state

    return optax.GradientTransformation(lambda tree: (), update)


def _batches(tape: Tape, strategy: Any, num_examples: int, rng: Any = None) -> Any:
    """Plain Poisson sampling (one group, no truncation)."""
    for _ in range(strategy.iterations):
        batch = tape.poisson("CyclicPoissonSampling", num_examples, float(strategy.sampling_prob))
        _STEP.get().batch = batch
        yield batch.indices


def _loss(weights: Any, x: Any, y: Any) -> Any:
    import jax.numpy as jnp

    return 0.5 * jnp.sum((x @ weights["w"] + weights["b"] - y) ** 2)


@lru_cache(maxsize=8)
def _gradient(rescale: bool, microbatch: int | None) -> tuple[Any, Any]:
    """The library's function, and the same compiled once for every shape."""
    import jax
    from jax_privacy import clipping

    gradient = clipping.clipped_grad(
        _loss, l2_clip_norm=CLIP, batch_argnums=(1, 2), rescale_to_unit_norm=rescale, microbatch_size=microbatch
    )
    return gradient, jax.jit(gradient.fun)


def _train(sampled: bool, rescale: bool, microbatch: int | None, data: Array) -> Mapping[str, Any]:
    """Gradient descent as the library's examples write it."""
    import dp_accounting
    import jax.numpy as jnp
    from jax_privacy import batch_selection, noise_addition

    _STEP.set(step := _Step())
    gradient, compiled = _gradient(rescale, microbatch)
    step.sensitivity = gradient.sensitivity(dp_accounting.NeighboringRelation.REPLACE_ONE)
    privatizer = noise_addition.gaussian_privatizer(stddev=MULTIPLIER * gradient.sensitivity(), prng_key=0)
    weights: Any = {"w": jnp.zeros(data.shape[1] - 1), "b": jnp.zeros(())}
    state = privatizer.init(weights)
    n = len(data)
    strategy = batch_selection.CyclicPoissonSampling(sampling_prob=RATE, iterations=STEPS)
    batches: Any = strategy.batch_iterator(n) if sampled else [np.arange(n)] * STEPS
    for indices in batches:
        rows = data[indices]
        if len(rows) == 0:  # no record was drawn: the sum is empty
            total: Any = {"w": jnp.zeros(data.shape[1] - 1), "b": jnp.zeros(())}
        else:
            total = compiled(weights, jnp.asarray(rows[:, :-1]), jnp.asarray(rows[:, -1]))
        noisy, state = privatizer.update(total, state)
        weights = {name: weights[name] - 0.1 * noisy[name] for name in weights}
    return {name: np.asarray(value) for name, value in weights.items()}


def _claimed(sampled: bool, relation: Relation) -> float:
    """Epsilon by the library's own event; its accountant for the relation."""
    import dp_accounting
    from jax_privacy.experimental import accounting

    event = accounting.dpsgd_event(MULTIPLIER, STEPS, sampling_prob=RATE if sampled else 1.0)
    return next(epsilons(dp_accounting, event, relation))[1]


def models() -> Sequence[Model]:
    """Full batches and Poisson batches, and the options that change what is clipped."""
    import jax

    jax.config.update("jax_enable_x64", True)  # rounding of single precision would exceed every sensitivity by 1e-7
    found = []
    ways: list[tuple[str, bool, bool, int | None]] = [
        ("full batches", False, False, None),
        ("full batches, rescaled to norm one", False, True, None),
        ("full batches, microbatches of 1", False, False, 1),
        ("Poisson batches", True, False, None),
    ]
    for name, sampled, rescale, microbatch in ways:
        title = f"clipped_grad and gaussian_privatizer, {name}"
        run = on_tape(patched, partial(_train, sampled, rescale, microbatch), "train")
        found.append(_model(title, run, sampled, "replace-one"))
        if not sampled:  # a Poisson batch of our tape ranges over a public number of records
            found.append(_model(title, run, sampled, "add-remove"))
    return found


def _model(title: str, run: Callable[[Any, Tape], Any], sampled: bool, relation: Relation) -> Model:
    epsilon = _claimed(sampled, relation)
    shift = int(relation == "add-remove")
    sizes = {"n": tuple(one + shift for one in (1, 2, 3)), "d": (2, 3)}
    space = space_of(relation, Rows("d", None), sizes, left_in)
    seen, pairs = "weights after the last step", {relation: opposite(1 if sampled else 2, relation)}
    return Model(title, run, epsilon, {relation: space}, seen, 40, delta=DELTA, pairs=pairs)
