"""How far a correct implementation may be off: from rounding, conditioning and the noise (docs/vectors.md).

A correct implementation in floating point computes, for every quantity that it hands to the tape, the exact value for
inputs that are off by a relative (m u), where u is half a unit in the last place and m counts the roundings: the
lengths of the sums (n records, d coordinates) and ``PER_STEP`` operations for every release so far. How far such a
change of the inputs moves a quantity is its condition number. It is measured: the reference is run on inputs moved by
relative amounts of at most H, in random directions, with every value of the problem's functions moved by itself as
well (a difference of gradients loses what they have in common), and the largest movement is divided by H. ``SAFETY``
stands for the directions that were not tried.

A difference below ``NOISE_SHARE`` of the noise is no difference: a query that is off by a share s of its standard
deviation changes mu of Gaussian differential privacy by at most s for each release.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any

import numpy as np

from dpassay.audit.plain import NOT_FINITE
from dpassay.reference.errors import BadInput
from dpassay.reference.problems.finite_sum import Convex, FiniteSum

from .encoding import encode
from .recording import Diverged, Run, VectorTape, events_of, run_again

H = 2.0**-30  # far above rounding (2^-53), far below what bends
DIRECTIONS = 6
SAFETY = 4.0
PER_STEP = 32
UNIT64, UNIT32 = 2.0**-53, 2.0**-24
NOISE_SHARE = 1e-9
COMPUTED = ("query", "std", "scale", "sensitivity", "queries", "threshold", "threshold_scale", "query_scale",
            "utilities", "rate", "edges", "lower", "upper", "bound", "grid", "epsilon", "gamma",
            "log_probabilities")  # fmt: skip
FUNCTIONS = (
    "value", "gradient", "hessian", "values", "gradients", "hessians", "rows", "mean_operator",
    "gradients_x", "gradients_y", "value_gradients", "losses", "loss_gradients", "eta_gradients", "x_gradients",
    "inner_values", "inner_x_gradients", "inner_temperature_gradients",
)  # fmt: skip


class Jitter:
    """Relative amounts for every number that a function of a problem returns; ``largest`` is the largest of them.

    Args:
        size: of the relative amounts, at most.
        seed: of their draws.
    """

    def __init__(self, size: float, seed: int):
        self._size, self._rng = size, np.random.default_rng(seed)
        self.largest = 0.0

    def __call__(self, value: Any) -> Any:
        """The value, a little off."""
        if isinstance(value, float | np.ndarray):
            found = np.asarray(value, dtype=float)
            with np.errstate(invalid="ignore"):
                self.largest = max(self.largest, float(np.max(np.abs(found), initial=0.0)))
                moved = found * (1 + self._size * self._rng.uniform(-1, 1, found.shape))
            return moved if isinstance(value, np.ndarray) else float(moved)
        return value

    def on(self, problem: Any) -> Any:
        """The problem itself, changed: its functions, and those of its parts, go through this. Give it a fresh one.

        Problems that a solver solves stay: a solver would look for the solution of a function that is never the same.
        """
        if is_dataclass(problem) and not isinstance(problem, type | FiniteSum | Convex):
            for field in fields(problem):
                self.on(getattr(problem, field.name))
            kind = type(problem)
            own = {
                name: self._through(getattr(kind, name)) for name in FUNCTIONS if callable(getattr(kind, name, None))
            }
            if own:
                object.__setattr__(problem, "__class__", type(kind.__name__, (kind,), own))
        return problem

    def _through(self, function: Any) -> Any:
        @wraps(function)
        def off(*positional: Any, **named: Any) -> Any:
            return self(function(*positional, **named))

        return off


Amounts = list[dict[str, float]]
Moved = tuple[list[dict[str, Any]], Any, float]  # events, output, the largest number that a function returned
LARGEST32 = 1e38


def numbers(value: Any) -> list[float]:
    """Every number in encoded data, in order (true and false are none; whole numbers count)."""
    if isinstance(value, Mapping):
        return [one for entry in value.values() for one in numbers(entry)]
    if isinstance(value, list):
        return [one for entry in value for one in numbers(entry)]
    if isinstance(value, str):
        return [NOT_FINITE[value]] if value in NOT_FINITE else []
    if not isinstance(value, int | float) or isinstance(value, bool):
        return []
    try:
        return [float(value)]
    except OverflowError:  # a whole number with hundreds of digits
        return [math.inf if value > 0 else -math.inf]


def visible_events(run: Mapping[str, Any], before: int | None = None) -> list[dict[str, Any]]:
    """The events of a run (before one of them) but for inner randomness: what two implementations have in common."""
    return [event for event in run["events"][:before] if event["event"] != "secret"]


def computed(event: Mapping[str, Any]) -> dict[str, Any]:
    """What an implementation computes for this event, by name."""
    names = () if event["event"] == "draw" else (*COMPUTED, "value") if event["event"] == "reveal" else COMPUTED
    return {name: event[name] for name in names if event.get(name) is not None}


def rounding(run: Run, vector: Mapping[str, Any]) -> tuple[Amounts, float, bool]:
    """What rounding may do to every computed quantity of a vector, in float64, and to its output.

    Returns:
        One amount by name for every event; that of the output; and whether single precision makes the same decisions.
    """
    events, count = vector["events"], _size(vector)
    moved = [_moved(run, vector, H, seed) for seed in range(DIRECTIONS)]
    kept = [one for one in moved if one is not None]
    amounts, releases = [], 0
    for step, event in enumerate(events):
        releases += event["event"] == "release"
        share = UNIT64 * (count + PER_STEP * (releases + 1))
        found = {}
        for name, value in computed(event).items():
            others = [computed(one[0][step]).get(name) for one in kept]
            found[name] = _two_digits(share * max(_largest(value), SAFETY * _condition(value, others)))
        amounts.append(found)
    share = UNIT64 * (count + PER_STEP * (releases + 1))
    outputs = [one[1] for one in kept]
    whole = share * max(_largest(vector["output"]), SAFETY * _condition(vector["output"], outputs))
    coarse = [_moved(run, vector, 64 * UNIT32, seed) for seed in range(2)]
    single = all(one is not None and one[2] < LARGEST32 and _follows(events, amounts, one[0]) for one in coarse)
    return amounts, _two_digits(whole), bool(kept) and single


def _follows(events: Sequence[Mapping[str, Any]], amounts: Amounts, moved: Sequence[Mapping[str, Any]]) -> bool:
    """Do movements of the size of single precision stay what small ones say (no clip or cap turns over)?"""
    for event, amount, other in zip(events, amounts, moved, strict=True):
        there = computed(other)
        for name, value in computed(event).items():
            if _condition(value, [there.get(name)]) * H > 4 * UNIT32 / UNIT64 * amount[name]:
                return False
    return True


def _moved(run: Run, vector: Mapping[str, Any], size: float, seed: int) -> Moved | None:
    """Events and output on inputs moved by a relative ``size``; None where another path is taken."""
    for records in (True, False):  # records on a boundary may not move
        rng = np.random.default_rng(seed)
        events = [dict(event) for event in vector["events"]]
        for event in events:
            if "value" in event:
                event["value"] = _move(event["value"], size, rng, alone=True)
        tape, jitter = VectorTape(events), Jitter(size, seed)
        parts = {"problem": _move(vector["problem"], size, rng)} if records else {}
        parts["schedule"] = _move(vector["schedule"], size, rng)
        try:
            output = run_again(run, {**vector, **parts}, tape, jitter.on)
        except (BadInput, Diverged, ArithmeticError, np.linalg.LinAlgError):
            continue
        if tape.position == len(visible_events(vector)):
            return events_of(tape), encode(output), jitter.largest
    return None


def _move(value: Any, size: float, rng: np.random.Generator, alone: bool = False) -> Any:
    """Numbers in lists (records, points) a little nearer to zero, so that no bound is broken; constants stay."""
    if isinstance(value, Mapping):
        return {name: entry if name == "derived" else _move(entry, size, rng) for name, entry in value.items()}
    if isinstance(value, list):
        numbers_only = all(type(one) is float for one in value)
        whole = numbers_only and all(one.is_integer() for one in value)  # labels, signs, axes
        if numbers_only and not whole:  # the same numbers as one by one, in one draw
            return (np.array(value) * (1 - size * rng.uniform(size=len(value)))).tolist()
        return [_move(one, size, rng, alone=not whole) for one in value]
    if alone and isinstance(value, float):
        return value * (1 - size * rng.uniform())
    return value


def _condition(value: Any, others: Sequence[Any]) -> float:
    """The largest movement, divided by H."""
    here = np.array(numbers(value))
    largest = 0.0
    for other in others:
        there = np.array(numbers(other))
        if there.shape != here.shape:
            return math.inf
        finite = np.isfinite(here) & np.isfinite(there)
        largest = max(largest, float(np.max(np.abs(here - there)[finite], initial=0.0)))
    return largest / H


def _largest(value: Any) -> float:
    found = np.abs(np.array(numbers(value)))
    return float(np.max(found[np.isfinite(found)], initial=0.0))


def _size(vector: Mapping[str, Any]) -> int:
    """Records and coordinates: the longest sums."""
    shapes = [np.shape(one) for one in _lists(vector["problem"])]
    return sum(max((shape[axis] for shape in shapes if len(shape) > axis), default=0) for axis in (0, 1))


def _lists(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [one for entry in value.values() for one in _lists(entry)]
    return [value] if isinstance(value, list) else []


def _two_digits(value: float) -> float:
    """Upwards, so that the text is short and the bound holds."""
    if value == 0 or not math.isfinite(value):
        return value
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / unit) * unit:.2g}")
