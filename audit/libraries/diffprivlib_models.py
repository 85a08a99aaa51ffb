"""Models and tools of diffprivlib as they are searched: what they are told, on which data, and what a user sees."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from dpassay.reference.arrays import Array

from .data import Rowset, anchored, anchored_at_zero, spaces, two_or_more, with_gaps
from .diffprivlib import patched
from .model import Model, on_tape

_SKIPPED = ("n_features_in_", "estimator_")  # the width of the data, which is public; a template that was not fitted
Ends = tuple[float, ...]  # lower and upper
# of the library, features, labels and bounds: a fitted model, or the answer of a tool
Work = Callable[[Any, Array, Array, Ends], Any]


def fitted(model: Any) -> dict[str, Any]:
    """Attributes that end in an underscore, as scikit-learn names what was learned; trees as arrays."""
    found = {}
    for name, value in vars(model).items():
        if not name.endswith("_") or name.startswith("_") or name in _SKIPPED:
            continue
        if name == "tree_":
            value = [value.__getstate__()[part].tolist() for part in ("nodes", "values")]
        elif name == "estimators_":
            value = [fitted(one)["tree_"] for one in value]
        found[name] = value
    return found


def _model(name: str, work: Work, where: Any, **rest: Any) -> Model:
    def seen(data: Rowset) -> Mapping[str, Any]:
        import diffprivlib.models
        import diffprivlib.tools

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = work(diffprivlib, data.X.copy(), data.y.copy(), tuple(data.bounds))  # PCA writes into its input
        return fitted(found) if hasattr(found, "fit") else {"result": found}

    return Model(name, on_tape(patched, seen, name), 1.0, where, **rest)


# -- models ------------------------------------------------------------------------------------------------------------
def _bounded(name: str, label: type | None = None, **options: Any) -> Work:
    """Told the bounds and these options, and fitted with labels of this type; None: without labels."""

    def fit(lib: Any, x: Array, y: Array, bounds: Ends) -> Any:
        model = getattr(lib.models, name)(epsilon=1.0, bounds=bounds, **options)
        return model.fit(x) if label is None else model.fit(x, y.astype(label))

    return fit


def _linear_regression(lib: Any, x: Array, y: Array, bounds: Ends, intercept: bool) -> Any:
    model = lib.models.LinearRegression(epsilon=1.0, bounds_X=bounds, bounds_y=bounds, fit_intercept=intercept)
    return model.fit(x, bounds[0] + (bounds[1] - bounds[0]) * y)


def _logistic_regression(lib: Any, x: Array, y: Array, bounds: Ends, weight: float = 1.0) -> Any:
    norm = max(map(abs, bounds)) * x.shape[1] ** 0.5
    return lib.models.LogisticRegression(epsilon=1.0, data_norm=norm, C=weight, fit_intercept=False).fit(x, y)


def _pca(lib: Any, x: Array, y: Array, bounds: Ends, centered: bool) -> Any:
    norm = (bounds[1] - bounds[0]) * x.shape[1] ** 0.5
    return lib.models.PCA(epsilon=1.0, n_components=1, bounds=bounds, data_norm=norm, centered=centered).fit(x)


_LABELS = (0.0, 1.0)
_LABELLED = spaces(n=(2, 3, 4), d=(1, 2), labels=_LABELS, problem=two_or_more)
_ANCHORED = spaces(n=(1, 2, 3), d=(1, 2), labels=_LABELS, problem=anchored)  # both classes always have records
_LONG = spaces(n=(1, 2), d=(1,), bounds=(5,), labels=_LABELS, problem=anchored_at_zero)


def models() -> Sequence[Model]:
    """All models."""
    plain = spaces(n=(2, 3, 4), d=(1, 2), problem=two_or_more)
    wide = spaces(n=(3, 4), d=(2, 3), problem=two_or_more)
    longest, tiny = "LogisticRegression, no intercept, norm 1000, C 3e-5", partial(_logistic_regression, weight=3e-5)
    shuffled = {"replace-one": _LABELLED["replace-one"]}
    tree = _bounded("DecisionTreeClassifier", int, max_depth=2, classes=[0, 1])
    forest = partial(_bounded, "RandomForestClassifier", int, n_estimators=2, max_depth=1, classes=[0, 1])
    return [
        _model("GaussianNB", _bounded("GaussianNB", float), _LABELLED),
        _model("GaussianNB, both classes present", _bounded("GaussianNB", float), _ANCHORED),
        _model("StandardScaler", _bounded("StandardScaler"), plain),
        _model("LinearRegression", partial(_linear_regression, intercept=True), plain),
        _model("LinearRegression, no intercept", partial(_linear_regression, intercept=False), plain),
        _model("LogisticRegression, no intercept", _logistic_regression, _LABELLED),
        _model("LogisticRegression, no intercept, both classes present", _logistic_regression, _ANCHORED),
        _model(longest, tiny, _LONG, examples=600),
        _model("KMeans", _bounded("KMeans", n_clusters=2), plain),
        _model("PCA", partial(_pca, centered=False), wide),
        _model("PCA, centered", partial(_pca, centered=True), wide),
        _model("DecisionTreeClassifier", tree, _LABELLED),
        _model("RandomForestClassifier", forest(shuffle=False), _LABELLED),
        _model("RandomForestClassifier, shuffled", forest(shuffle=True), shuffled),
    ]


# -- tools -------------------------------------------------------------------------------------------------------------
def _along(name: str) -> Work:
    """Along the first axis."""
    return lambda lib, x, y, bounds: getattr(lib.tools, name)(x, epsilon=1.0, bounds=bounds, axis=0)


def _ranked(name: str, *rank: float) -> Work:
    return lambda lib, x, y, bounds: getattr(lib.tools, name)(x[:, 0], *rank, epsilon=1.0, bounds=bounds)


def tools() -> Sequence[Model]:
    """All tools."""
    plain, gaps = spaces(n=(1, 2, 3), d=(1, 2)), spaces(n=(2, 3, 4), d=(1, 2), problem=with_gaps)
    one = {"epsilon": 1.0, "bins": 2}
    counts: dict[str, Work] = {
        "count_nonzero": lambda lib, x, y, bounds: lib.tools.count_nonzero(x[:, 0] > bounds[0], epsilon=1.0),
        "histogram": lambda lib, x, y, bounds: lib.tools.histogram(x[:, 0], epsilon=1.0, bins=3, range=bounds)[0],
        "histogram2d": lambda lib, x, y, bounds: lib.tools.histogram2d(x[:, 0], x[:, -1], **one, range=[bounds] * 2)[0],
        "histogramdd": lambda lib, x, y, bounds: lib.tools.histogramdd(x, **one, range=[bounds] * x.shape[1])[0],
    }
    found = [(name, _along(name), plain) for name in ("mean", "var", "std", "sum")]
    found += [(f"{name}, data with NaN", _along(name), gaps) for name in ("nanmean", "nanvar", "nanstd", "nansum")]
    found += [(name, work, plain) for name, work in counts.items()]
    ranks: dict[str, tuple[float, ...]] = {"quantile": (0.3,), "percentile": (70,), "median": ()}
    found += [(name, _ranked(name, *rank), plain) for name, rank in ranks.items()]
    return [_model(*each, output="result") for each in found]
