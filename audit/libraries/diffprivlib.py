"""diffprivlib on the tape: mechanisms, random states, and the three places where a model sees more than it releases.

Every ``randomise`` is asked of the tape with the mechanism's own scale and sensitivity. Random states are public: the
models use them for what does not depend on the data. Quantiles, objective perturbation and trees compute a private
intermediate and release something coarser; there the law of what is released goes onto the tape, and the model's own
lines compute it again.
"""

import sys
from collections.abc import Callable
from functools import cache, partial
from types import FrameType
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.laws import number
from dpassay.reference.laws.categorical import Categorical, Selection, exponential, permute_and_flip
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.intervals import Intervals
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law
from dpassay.reference.laws.objective_perturbation import ObjectivePerturbation
from dpassay.reference.tape import Tape

from .model import caller, current_tape, patch, place
from .rejected_bingham import SampledBingham

LawOf = Callable[[Any, Any], Law]


def bare(value: Any) -> Law:
    """No noise: what a mechanism with sensitivity zero or infinite epsilon releases."""
    return Gaussian(np.asarray(value, dtype=float), 0.0)


def _with(
    kind: Callable[..., Law], scale_of: Callable[[Any], Any], inside: Callable[[Any, Any], Any] | None = None
) -> LawOf:
    """Noise of one scale; with ``inside``, how a value gets between the mechanism's ends, the law has these as well."""

    def law(mech: Any, value: Any) -> Law:
        scale, ends = float(scale_of(mech)), () if inside is None else (float(mech.lower), float(mech.upper))
        if not scale > 0:
            return bare(value if inside is None else inside(mech, value))
        return kind(np.asarray(float(value)), scale, *ends)

    return law


def _laplace_scale(mech: Any) -> Any:
    return mech.sensitivity / (mech.epsilon - np.log(1 - mech.delta))


def _domain_scale(mech: Any) -> Any:
    if mech._scale is None:
        mech._scale = mech._find_scale()
    return mech._scale


def _geometric_scale(mech: Any) -> Any:
    return -1 / mech._scale


def _rate(mech: Any) -> float:
    return float(mech.epsilon / mech.sensitivity / (2 - mech.monotonic))


def _exponential(mech: Any, value: Any) -> Law:
    utilities = np.asarray(mech.utility, dtype=float)
    if mech.measure:
        with np.errstate(divide="ignore"):
            logs = _rate(mech) * utilities + np.log(np.asarray(mech.measure, dtype=float))
        logs -= np.logaddexp.reduce(logs)
        return Selection(tuple(range(len(logs))), logs, utilities, _rate(mech), mech.monotonic)
    return exponential(list(utilities), _rate(mech), mech.candidates, mech.monotonic)


def _categorical(mech: Any, value: Any) -> Law:
    support = list(mech._normalising_constant)
    weights = np.array([mech._get_prob(value, one) for one in support])
    return Categorical(tuple(support), np.log(weights / weights.sum()))


def _binary(mech: Any, value: Any) -> Law:
    stays = (np.exp(mech.epsilon) + mech.delta) / (np.exp(mech.epsilon) + 1)
    first = stays if value == mech.value0 else 1 - stays
    return Categorical((mech.value0, mech.value1), np.log([first, 1 - first]))


LAWS: dict[str, LawOf] = {  # by class name in diffprivlib.mechanisms; Vector has no law by itself (see the adapter)
    "Laplace": _with(Laplace, _laplace_scale),
    "LaplaceTruncated": _with(number.TruncatedLaplace, _laplace_scale, lambda mech, value: mech._truncate(value)),
    "LaplaceFolded": _with(number.FoldedLaplace, _laplace_scale, lambda mech, value: mech._fold(value)),
    "LaplaceBoundedDomain": _with(
        number.BoundedLaplace, _domain_scale, lambda mech, value: max(min(value, mech.upper), mech.lower)
    ),
    "Geometric": _with(number.Geometric, _geometric_scale),
    "GeometricTruncated": _with(number.TruncatedGeometric, _geometric_scale, lambda mech, value: mech._truncate(value)),
    "GeometricFolded": _with(number.FoldedGeometric, _geometric_scale, lambda mech, value: mech._fold(value)),
    "Gaussian": _with(Gaussian, lambda mech: mech._scale),
    "GaussianDiscrete": _with(number.DiscreteGaussian, lambda mech: mech._scale),
    "Exponential": _exponential,
    "PermuteAndFlip": lambda mech, value: permute_and_flip(
        list(mech.utility), _rate(mech), mech.candidates, mech.monotonic
    ),
    "ExponentialCategorical": _categorical,
    "Binary": _binary,
    "Bingham": lambda mech, value: SampledBingham(
        np.asarray(value, dtype=float), float(mech.epsilon / 4 / mech.sensitivity)
    ),
}


PACKAGE = "diffprivlib"
_INSIDE = ("/mechanisms/", "/diffprivlib/utils.py", "/validation.py")
_PUBLIC = ("random", "random_sample", "randint", "uniform", "permutation", "standard_normal", "normal", "gamma")
_STEP = 1e-5  # of central differences of a gradient: the error of a Hessian is about 1e-10


class TapeRandom(np.random.RandomState):
    """A random state whose draws are public randomness of the current tape."""

    following: Any = None  # what the next call of random() gives: the place of a quantile in its interval

    def __init__(self) -> None:
        super().__init__(0)

    def random(self, size: Any = None) -> Any:
        """Uniform numbers."""
        if self.following is not None and size is None:
            found, self.following = self.following, None
            return found
        return self._public("random", size)

    def randint(self, *args: Any, **kwargs: Any) -> Any:
        """Whole numbers; for a leaf of a tree without records, the label that the tape has for it."""
        frame = sys._getframe(1)
        if _fits_a_tree(frame):
            return _leaf_labels(frame)[frame.f_locals["node"].node_id]
        return self._public("randint", *args, **kwargs)

    def _public(self, name: str, *args: Any, **kwargs: Any) -> Any:
        tape = current_tape()
        if tape is None:
            return getattr(np.random.RandomState, name)(self, *args, **kwargs)

        def draw(rng: np.random.Generator) -> Any:
            return getattr(np.random.RandomState(int(rng.integers(2**32))), name)(*args, **kwargs)

        return tape.public(f"{name} at {place(caller(PACKAGE, _INSIDE))}", draw)


for _name in _PUBLIC:
    if _name not in vars(TapeRandom):
        setattr(TapeRandom, _name, lambda self, *a, _of=_name, **k: self._public(_of, *a, **k))


@cache
def patched() -> None:
    """All mechanisms, and every name under which the library makes random states, ask the tape."""
    import diffprivlib.models
    import diffprivlib.tools  # noqa: F401
    from diffprivlib import mechanisms

    for name, law in LAWS.items():
        patch(getattr(mechanisms, name), "randomise", _randomise(law))
    patch(mechanisms.Vector, "randomise", partial(_objective, mechanisms.Vector.randomise))
    for module in [one for name, one in sys.modules.items() if name.startswith(f"{PACKAGE}.")]:
        if "check_random_state" in vars(module):
            patch(module, "check_random_state", _random_state)


def _random_state(tape: Tape, seed: Any = None, secure: bool = False) -> TapeRandom:
    return seed if isinstance(seed, TapeRandom) else TapeRandom()


def _randomise(law_of: LawOf) -> Callable[..., Any]:
    def answer(tape: Tape, mech: Any, value: Any = None) -> Any:
        mech._check_all(value)
        frame, name = caller(PACKAGE, _INSIDE), type(mech).__name__
        label = f"{name}{_group(frame)} at {place(frame)}"
        if name == "PermuteAndFlip" and frame is not None and _fits_a_tree(frame):
            return _leaf_labels(frame)[frame.f_locals["leaf"]]
        if name == "Exponential" and mech.measure and frame is not None and "quant" in frame.f_locals:
            return _quantile(tape, mech, frame, label)
        if isinstance(value, float | np.floating) and np.isnan(value):
            return tape.reveal(label, float(value))  # noise does not hide it: the library hands it back as it is
        law = law_of(mech, value)
        sensitivity = getattr(mech, "sensitivity", None)
        return tape.release(label, law, sensitivity=None if sensitivity is None else float(sensitivity))

    return answer


def _group(frame: FrameType | None) -> str:
    """The class or cluster that a loop of the library is at: what is told of one is not compared with another's."""
    for one in (frame, frame.f_back if frame else None):
        for name, word in (("y_i", "class"), ("cluster", "cluster")):
            if one is not None and name in one.f_locals:
                return f" of {word} {one.f_locals[name]}"
    return ""


# -- a quantile: an interval is chosen, but only a point of it is told ------------------------------------------------
class _Place:
    """A uniform number that is told what ``low + u * width`` shall come to."""

    def __init__(self, value: float):
        self.value = value

    def __mul__(self, width: Any) -> "_Place":
        return self

    def __add__(self, low: Any) -> float:
        return self.value


def _quantile(tape: Tape, mech: Any, frame: FrameType, label: str) -> int:
    edges = np.asarray(frame.f_locals["array"], dtype=float)
    law = Intervals(edges, np.asarray(mech.utility, dtype=float), _rate(mech))
    value = tape.release(label, law, sensitivity=float(mech.sensitivity))
    frame.f_locals["random_state"].following = _Place(value)
    return law.interval(value)


# -- a tree: every leaf gets a label, with records (permute-and-flip) or without (uniform, which is the same law) ------
def _fits_a_tree(frame: FrameType) -> bool:
    return frame.f_code.co_name == "fit" and "unique_leaves" in frame.f_locals


def _leaf_labels(frame: FrameType) -> dict[int, int]:
    """Labels of all leaves, released in the order of the nodes the first time that one is asked for."""
    seen = frame.f_locals
    tree, leaves, labels, classes = seen["self"], seen["leaves"], seen["y"], seen["self"].classes
    tape = current_tape()
    if not hasattr(tree, "_labels_on_tape") and tape is not None:
        tree._labels_on_tape = {}
        for node in tree.nodes:
            if node.left_child != tree._TREE_LEAF:
                continue
            inside = labels[leaves == node.node_id]
            counts = [float(np.sum(inside == one)) for one in classes]
            law = permute_and_flip(counts, float(tree.epsilon), monotonic=True)
            label = f"PermuteAndFlip at {place(frame).split(':')[0]}"
            tree._labels_on_tape[node.node_id] = tape.release(label, law, sensitivity=1.0)
    found: dict[int, int] = tree._labels_on_tape
    return found


# -- objective perturbation: only the minimiser is told ----------------------------------------------------------------
class _Silent(np.random.RandomState):
    """Draws nothing, and keeps the scale of the noise that was asked for."""

    scale = 0.0

    def standard_normal(self, size: Any = None) -> Any:
        """A direction that is multiplied by zero."""
        return np.ones(size)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        """Length zero."""
        self.scale = float(scale)
        return np.zeros(size)


def _objective(original: Any, tape: Tape, mech: Any, value: Any) -> Any:
    """``Vector.randomise``: the library's own function without noise tells objective and scale."""
    label = f"Vector at {place(caller(PACKAGE, _INSIDE))}"
    law_of = minimisers(original, mech, value)
    minimiser: list[Array] = []

    def perturbed(w: Array, *args: Any) -> Any:
        if not minimiser:
            law = law_of(*args)
            minimiser.append(np.asarray(tape.release(label, law, sensitivity=None)))
        gap = np.asarray(w) - minimiser[0]
        return 0.5 * float(gap @ gap), gap

    return perturbed


def minimisers(randomise: Any, mech: Any, value: Any) -> Callable[..., ObjectivePerturbation]:
    """The law of the minimiser, for what else the objective is handed; ``randomise`` is the library's own."""
    kept, mech._rng = mech._rng, (silent := _Silent(0))
    noiseless = randomise(mech, value)
    mech._rng = kept
    return lambda *args: _minimiser_law(lambda x: mech.n * noiseless(x, *args)[1], mech.dimension, silent.scale)


def _minimiser_law(gradient: Callable[[Array], Array], dimension: int, scale: float) -> ObjectivePerturbation:
    def hessian(w: Array) -> Array:
        steps = _STEP * np.eye(dimension)
        columns = [(gradient(w + step) - gradient(w - step)) / (2 * _STEP) for step in steps]
        matrix = np.stack(columns, axis=1)
        return np.asarray((matrix + matrix.T) / 2)

    return ObjectivePerturbation(gradient, hessian, dimension, scale)
