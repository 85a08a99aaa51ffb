"""Training algorithms that can be attacked by name: some of scikit-learn, one's own, and DP-SGD."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from dpassay.audit.inputs.foreign import foreign_code, is_code, load_object
from dpassay.reference.arrays import Array, Indices
from dpassay.reference.baselines import dp_sgd
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import read_numbers
from dpassay.reference.problems import real_data
from dpassay.reference.problems.models import ClassificationLoss, Model
from dpassay.reference.tape import LiveTape

Predict = Callable[[Array], Array]  # class probabilities of rows, shape (rows, classes)
Trainer = Callable[[Array, Indices, np.random.Generator], Predict]  # from labelled rows; all randomness is given


def sklearn_trainer(make: Callable[[], Any], classes: int) -> Trainer:
    """Any scikit-learn estimator with `fit` and `predict_proba`; `make()` gives an untrained one.

    Labels are 0 .. classes - 1; a class that is missing in a training set gets probability 0. What the estimator cannot
    be trained on (no records, one class alone) is bad input: nothing is put in its place. Every `random_state`, its own
    and those of its parts, comes from the generator of the game.
    """

    def train(x: Array, y: Indices, rng: np.random.Generator) -> Predict:
        with foreign_code("estimator", getattr(make, "__name__", "estimator")):
            estimator = make()
        for method in ("fit", "predict_proba"):
            has = callable(getattr(estimator, method, None))
            require(has, "make", type(estimator).__name__, f"the estimator has no {method}")
        known = np.unique(y)
        good = known.dtype.kind in "iu" and bool(np.isin(known, np.arange(classes)).all())
        require(good, "labels", known.tolist(), f"must be classes 0 .. {classes - 1}, as integers")
        what = f"class {known[0]}" if len(known) == 1 else f"{len(known)} classes"
        name = f"{type(estimator).__name__} on " + (f"{len(x)} records of {what}" if len(x) else "0 records")
        with foreign_code("estimator", name):
            parameters: dict[str, Any] = getattr(estimator, "get_params", dict)()
            for key in sorted(key for key in parameters if key.rpartition("__")[2] == "random_state"):
                estimator.set_params(**{key: int(rng.integers(2**31))})
            estimator.fit(x, y)
            columns = np.asarray(estimator.classes_, dtype=np.int64)

        def probabilities(rows: Array) -> Array:
            with foreign_code("estimator", name):
                seen = np.asarray(estimator.predict_proba(rows), dtype=float)
            good = seen.shape == (len(rows), len(columns))
            require(good, "estimator", name, f"gives probabilities of shape {seen.shape}, not one for each class")
            require(not bool(np.isnan(seen).any()), "estimator", name, "gives NaN for a probability")
            found = np.zeros((len(rows), classes))
            found[:, columns] = seen
            return found

        return probabilities

    return train


class Samples:
    """A classification loss with the names that the algorithms of `reference` use, in parameters counted from `start`.

    Behind the records stand `constant` gradients, one a row: of canaries, or zeros for records that stayed out, so that
    n is public.
    """

    def __init__(self, loss: ClassificationLoss, start: Array, constant: Array) -> None:
        self.loss, self.start, self.constant = loss, start, constant
        self.n, self.d = loss.n + len(constant), loss.d

    def gradients(self, w: Array, indices: Indices) -> Array:
        """Per-record gradients at `start + w`, shape (len(indices), d)."""
        found = np.empty((len(indices), self.d))
        real = indices < self.loss.n
        found[real] = self.loss.loss_gradients(self.start + w, indices[real])
        found[~real] = self.constant[indices[~real] - self.loss.n]
        return found


def dp_sgd_trainer(model: Model, schedule: dp_sgd.Schedule, size: int, start: Array) -> Trainer:
    """A numpy model of `reference` trained by DP-SGD from `start`, shape (d,).

    `size` is public: records that stay out count as zero gradients.
    """

    def train(x: Array, y: Indices, rng: np.random.Generator) -> Predict:
        problem = Samples(ClassificationLoss(model, x, y), start, np.zeros((size - len(x), model.d)))
        parameters = start + dp_sgd.run(problem, schedule, LiveTape(int(rng.integers(2**31))))

        def probabilities(rows: Array) -> Array:
            return ClassificationLoss(model, rows, np.zeros(len(rows), dtype=np.int64)).probabilities(parameters)

        return probabilities

    return train


DP_SGD = "dp-sgd"
STEPS = 20
ESTIMATORS: dict[str, Callable[[], Any]] = {
    "DecisionTreeClassifier": DecisionTreeClassifier,
    "RandomForestClassifier": lambda: RandomForestClassifier(n_estimators=20),
    "ExtraTreesClassifier": lambda: ExtraTreesClassifier(n_estimators=20),
    "HistGradientBoostingClassifier": lambda: HistGradientBoostingClassifier(max_iter=30),
    "LogisticRegression": lambda: LogisticRegression(max_iter=1000),
    "KNeighborsClassifier": KNeighborsClassifier,
    "GaussianNB": GaussianNB,
    "MLPClassifier": lambda: MLPClassifier((32,), max_iter=200),
}


def trainer_named(name: str, classes: int, trusted: bool = False) -> Trainer:
    """A scikit-learn estimator of the list, of ``MODULE:NAME``, or like that of a trusted .joblib file; or BadInput."""
    if name in ESTIMATORS:
        return sklearn_trainer(ESTIMATORS[name], classes)
    known = ", ".join(ESTIMATORS)
    file = not is_code(name) and name.endswith(".joblib")
    why = f"must be {DP_SGD}, MODULE:NAME, a .joblib file or one of {known}"
    require(is_code(name) or file, "--estimator", name, why)
    require(trusted or not file, "--estimator", name, "may run any code when it is read: --trusted, if you trust it")
    with foreign_code("--estimator", name):
        kept = _kept(name) if file else load_object(name, "--estimator")
        if file or not callable(kept):
            kind = f"must be a scikit-learn estimator, and is of the type {type(kept).__name__}"
            require(hasattr(kept, "fit") and hasattr(kept, "get_params"), "--estimator", name, kind)
            clone(kept)
            return sklearn_trainer(lambda: clone(kept), classes)
    return sklearn_trainer(kept, classes)


def _kept(name: str) -> Any:
    try:
        return joblib.load(name)
    except OSError as error:
        raise BadInput("--estimator", name, f"cannot be read: {error.strerror}") from None
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
        why = "damaged, not written by joblib.dump, or made with a library or a version that is not installed here"
        raise BadInput("--estimator", name, f"joblib cannot read it ({said}): {why}") from None


def dp_sgd_schedule(noise_multiplier: float) -> dp_sgd.Schedule:
    """20 full-batch steps."""
    require(1e-9 <= noise_multiplier <= 1e9, "--noise-multiplier", noise_multiplier, "must lie in 1e-9..1e9")
    return dp_sgd.with_multiplier(STEPS, learning_rate=2.0, clip=1.0, noise_multiplier=noise_multiplier)


def dp_sgd_mu(noise_multiplier: float) -> float:
    """The mu of DP-SGD above when a record's gradient, or a canary's, becomes zero and n is public.

    Each of the T sums of clipped gradients moves by at most C, its noise is N(0, (noise_multiplier C)^2): exactly
    mu = sqrt(T) / noise_multiplier (Dong, Roth and Su 2022, Cor. 3.3), reached by a canary of constant gradient norm C.
    """
    return math.sqrt(STEPS) / noise_multiplier


def labelled_data(name: str) -> tuple[Array, Indices]:
    """`breast cancer`, `digits`, or a .csv file of numbers whose last column is the class 0, 1, 2, ..."""
    known = {"breast cancer": real_data.breast_cancer, "digits": real_data.digits}
    if name in known:
        features, signs = known[name]()
        return features, (signs > 0).astype(np.int64)
    require(name.endswith(".csv"), "--data", name, "must be 'breast cancer', 'digits' or a .csv file")
    table = read_numbers(Path(name), "--data")
    require(table.shape[1] >= 2, "--data", table.shape, "needs features and a class in each line")
    require(bool(np.isfinite(table).all()), "--data", name, "has NaN or infinity")
    present, labels = np.unique(table[:, -1], return_inverse=True)
    good = bool((present >= 0).all() and (present == np.floor(present)).all() and present[-1] >= 1)
    require(good, "--data: last column", name, "must be classes 0, 1, 2, ...")
    gaps = np.flatnonzero(present != np.arange(present.size))
    why = f"must be classes 0, 1, 2, ...; class {gaps[0] if gaps.size else present.size} is missing"
    require(not gaps.size, "--data: last column", name, why)
    return table[:, :-1], labels
