"""Models and tools of diffprivlib as they are searched: what they are told, on which data, and what a user sees."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from .data import Rowset, anchored, anchored_at_zero, spaces, two_or_more, with_gaps
from .diffprivlib import patched
from .model import Model, on_tape

_SKIPPED = ("n_features_in_", "estimator_")  # the width of the data, which is public; a template that was not fitted


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


def _quietly(work: Callable[[Any], Mapping[str, Any]]) -> Callable[[Any], Mapping[str, Any]]:
    def silent(problem: Any) -> Mapping[str, Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fresh = problem._replace(X=problem.X.copy(), y=problem.y.copy())  # PCA writes into its input
            return work(fresh)

    return silent


def _model(name: str, work: Callable[[Any], Mapping[str, Any]], where: Any, **rest: Any) -> Model:
    return Model(name, on_tape(patched, _quietly(work), name), 1.0, where, **rest)


# -- models ------------------------------------------------------------------------------------------------------------
def _gaussian_nb(data: Rowset) -> Mapping[str, Any]:
    from diffprivlib.models import GaussianNB

    return fitted(GaussianNB(epsilon=1.0, bounds=tuple(data.bounds)).fit(data.X, data.y))


def _standard_scaler(data: Rowset) -> Mapping[str, Any]:
    from diffprivlib.models import StandardScaler

    return fitted(StandardScaler(epsilon=1.0, bounds=tuple(data.bounds)).fit(data.X))


def _linear_regression(intercept: bool, data: Rowset) -> Mapping[str, Any]:
    from diffprivlib.models import LinearRegression

    y = data.bounds.lower + (data.bounds.upper - data.bounds.lower) * data.y
    model = LinearRegression(
        epsilon=1.0, bounds_X=tuple(data.bounds), bounds_y=tuple(data.bounds), fit_intercept=intercept
    )
    return fitted(model.fit(data.X, y))


def _logistic_regression(data: Rowset, weight: float = 1.0) -> Mapping[str, Any]:
    from diffprivlib.models import LogisticRegression

    norm = max(abs(data.bounds.lower), abs(data.bounds.upper)) * data.X.shape[1] ** 0.5
    model = LogisticRegression(epsilon=1.0, data_norm=norm, C=weight, fit_intercept=False)
    return fitted(model.fit(data.X, data.y))


def _k_means(data: Rowset) -> Mapping[str, Any]:
    from diffprivlib.models import KMeans

    return fitted(KMeans(n_clusters=2, epsilon=1.0, bounds=tuple(data.bounds)).fit(data.X))


def _pca(centered: bool, data: Rowset) -> Mapping[str, Any]:
    from diffprivlib.models import PCA

    norm = (data.bounds.upper - data.bounds.lower) * data.X.shape[1] ** 0.5
    model = PCA(epsilon=1.0, n_components=1, bounds=tuple(data.bounds), data_norm=norm, centered=centered)
    return fitted(model.fit(data.X))


def _tree(data: Rowset) -> Mapping[str, Any]:
    from diffprivlib.models import DecisionTreeClassifier

    model = DecisionTreeClassifier(epsilon=1.0, max_depth=2, bounds=tuple(data.bounds), classes=[0, 1])
    return fitted(model.fit(data.X, data.y.astype(int)))


def _forest(shuffle: bool, data: Rowset) -> Mapping[str, Any]:
    from diffprivlib.models import RandomForestClassifier

    model = RandomForestClassifier(
        n_estimators=2, epsilon=1.0, max_depth=1, bounds=tuple(data.bounds), classes=[0, 1], shuffle=shuffle
    )
    return fitted(model.fit(data.X, data.y.astype(int)))


_LABELS = (0.0, 1.0)
_LABELLED = spaces(n=(2, 3, 4), d=(1, 2), labels=_LABELS, problem=two_or_more)
_ANCHORED = spaces(n=(1, 2, 3), d=(1, 2), labels=_LABELS, problem=anchored)  # both classes always have records
_LONG = spaces(n=(1, 2), d=(1,), bounds=(5,), labels=_LABELS, problem=anchored_at_zero)


def models() -> Sequence[Model]:
    """All models."""
    plain = spaces(n=(2, 3, 4), d=(1, 2), problem=two_or_more)
    wide = spaces(n=(3, 4), d=(2, 3), problem=two_or_more)
    return [
        _model("GaussianNB", _gaussian_nb, _LABELLED),
        _model("GaussianNB, both classes present", _gaussian_nb, _ANCHORED),
        _model("StandardScaler", _standard_scaler, plain),
        _model("LinearRegression", partial(_linear_regression, True), plain),
        _model("LinearRegression, no intercept", partial(_linear_regression, False), plain),
        _model("LogisticRegression, no intercept", _logistic_regression, _LABELLED),
        _model("LogisticRegression, no intercept, both classes present", _logistic_regression, _ANCHORED),
        _model(
            "LogisticRegression, no intercept, norm 1000, C 3e-5",
            partial(_logistic_regression, weight=3e-5),
            _LONG,
            examples=600,
        ),
        _model("KMeans", _k_means, plain),
        _model("PCA", partial(_pca, False), wide),
        _model("PCA, centered", partial(_pca, True), wide),
        _model("DecisionTreeClassifier", _tree, _LABELLED),
        _model("RandomForestClassifier", partial(_forest, False), _LABELLED),
        _model("RandomForestClassifier, shuffled", partial(_forest, True), {"replace-one": _LABELLED["replace-one"]}),
    ]


# -- tools -------------------------------------------------------------------------------------------------------------
def _tool(name: str, data: Rowset, **how: Any) -> Mapping[str, Any]:
    from diffprivlib import tools

    if name == "count_nonzero":
        return {"result": tools.count_nonzero(data.X[:, 0] > data.bounds.lower, epsilon=1.0)}
    if name == "histogram":
        return {"result": tools.histogram(data.X[:, 0], epsilon=1.0, bins=3, range=tuple(data.bounds))[0]}
    if name == "histogram2d":
        x = (data.X[:, 0], data.X[:, -1])
        return {"result": tools.histogram2d(*x, epsilon=1.0, bins=2, range=[tuple(data.bounds)] * 2)[0]}
    if name == "histogramdd":
        return {
            "result": tools.histogramdd(data.X, epsilon=1.0, bins=2, range=[tuple(data.bounds)] * data.X.shape[1])[0]
        }
    if name in ("quantile", "percentile", "median"):
        rank = {"quantile": (0.3,), "percentile": (70,), "median": ()}[name]
        return {"result": getattr(tools, name)(data.X[:, 0], *rank, epsilon=1.0, bounds=tuple(data.bounds))}
    return {"result": getattr(tools, name)(data.X, epsilon=1.0, bounds=tuple(data.bounds), **how)}


def tools() -> Sequence[Model]:
    """All tools; along the first axis where they take several columns."""
    plain, gaps = spaces(n=(1, 2, 3), d=(1, 2)), spaces(n=(2, 3, 4), d=(1, 2), problem=with_gaps)
    found = [
        _model(name, partial(_tool, name, axis=0), plain, output="result") for name in ("mean", "var", "std", "sum")
    ]
    found += [
        _model(f"{name}, data with NaN", partial(_tool, name, axis=0), gaps, output="result")
        for name in ("nanmean", "nanvar", "nanstd", "nansum")
    ]
    others = ("count_nonzero", "histogram", "histogram2d", "histogramdd", "quantile", "percentile", "median")
    found += [_model(name, partial(_tool, name), plain, output="result") for name in others]
    return found
