"""Binary tasks with row norms <= 1: scikit-learn's sets, stand-ins with the paper's shapes, loaders for its own files.

Column ranges are treated as public (they come from the description of each set); rows are then divided by max(1, norm),
which is done record by record. The preprocessing of `second_order_erm` Appendix E.1 ("we normalize") does not say how;
the z-score of the original numerical columns (`standardise=True`) uses means and deviations of the private data: good
for comparing with the printed tables, outside every privacy claim.
"""

from io import BytesIO
from pathlib import Path

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import BadInput, require
from dpassay.reference.extras import Later
from dpassay.reference.files import contents, numbers_of

datasets = Later("sklearn.datasets")

Task = tuple[Array, Array]  # features (n, d) with row norms <= 1, labels (n,) in {-1, +1}

COVERTYPE_SHAPE = (495_141, 54)  # records of classes 1 and 2; second_order_erm, Appendix E.1
IJCNN_SHAPE = (49_990, 22)  # the original training file
_COVERTYPE_NUMERICAL = 10
_IJCNN_CATEGORIES = 10


def into_unit_ball(features: Array) -> Array:
    """Divide each row by max(1, its norm): a record-wise map, so neighbours stay neighbours."""
    norms = np.sqrt(np.einsum("ij,ij->i", features, features))
    return np.asarray(features / np.maximum(1.0, norms)[:, None])


def breast_cancer() -> Task:
    """Wisconsin breast cancer, n = 569, d = 30; columns mapped to [-1, 1] by their published ranges; benign is +1."""
    data = datasets.load_breast_cancer()
    x = np.asarray(data.data, dtype=np.float64)
    low, high = x.min(axis=0), x.max(axis=0)  # the ranges printed in the set's own description
    return into_unit_ball(2 * (x - low) / (high - low) - 1), np.where(data.target == 1, 1.0, -1.0)


def digits() -> Task:
    """Digits, n = 1797, d = 64, odd (+1) against even (-1); pixels are 0 to 16 by the file format."""
    data = datasets.load_digits()
    return into_unit_ball(np.asarray(data.data, dtype=np.float64) / 8 - 1), np.where(data.target % 2 == 1, 1.0, -1.0)


def covertype_stand_in(rng: np.random.Generator, n: int = COVERTYPE_SHAPE[0]) -> Task:
    """Synthetic records of Covertype's shape: 10 correlated numerical columns, one-hot of 4, one-hot of 40."""
    x = np.zeros((n, COVERTYPE_SHAPE[1]))
    mix = rng.normal(size=(_COVERTYPE_NUMERICAL, _COVERTYPE_NUMERICAL)) / np.sqrt(_COVERTYPE_NUMERICAL)
    x[:, :10] = rng.normal(size=(n, _COVERTYPE_NUMERICAL)) @ mix
    x[np.arange(n), 10 + rng.choice(4, size=n, p=[0.45, 0.05, 0.44, 0.06])] = 1.0
    x[np.arange(n), 14 + rng.choice(40, size=n, p=rng.dirichlet(np.full(40, 0.5)))] = 1.0
    return _labelled(x, rng, positive=0.43)


def ijcnn_stand_in(rng: np.random.Generator, n: int = IJCNN_SHAPE[0]) -> Task:
    """Synthetic records of IJCNN's shape: one-hot of 10, then 12 numerical columns; about a tenth positive."""
    x = np.zeros((n, IJCNN_SHAPE[1]))
    x[np.arange(n), rng.integers(_IJCNN_CATEGORIES, size=n)] = 1.0
    x[:, 10:] = rng.normal(scale=0.5, size=(n, 12))
    return _labelled(x, rng, positive=0.1)


def covertype_file(path: str | Path, *, standardise: bool = False) -> Task:
    """Read `covtype.data` (plain or .gz): 54 columns and class, comma-separated; keep classes 1 and 2, class 2 is -1.

    Raises BadInput naming the file when it is absent, unreadable, of another shape or empty.
    """
    raw = contents(path, "path")
    try:
        text = raw.decode("ascii")
    except UnicodeDecodeError as problem:
        raise BadInput("path", str(path), f"not a table of numbers ({problem})") from None
    table, columns = numbers_of(text, "path", str(path)), COVERTYPE_SHAPE[1] + 1
    require(table.shape[1] == columns, "path", str(path), f"expected {columns} columns, found {table.shape[1]}")
    _require_finite(path, table)
    table = table[np.isin(table[:, -1], (1, 2))]
    require(len(table) > 0, "path", str(path), "no record of class 1 or 2")
    x, y = table[:, :-1], np.where(table[:, -1] == 1, 1.0, -1.0)
    numerical = x[:, :_COVERTYPE_NUMERICAL]
    x[:, :_COVERTYPE_NUMERICAL] = _z_scores(numerical) if standardise else numerical / _COVERTYPE_SCALES
    return into_unit_ball(x), y


def ijcnn_file(path: str | Path, *, standardise: bool = False) -> Task:
    """Read the LIBSVM-format file `ijcnn1` (plain, .gz or .bz2; 22 columns, labels -1 and 1).

    Raises BadInput naming the file.
    """
    raw = contents(path, "path")
    require(b"\0" not in raw, "path", str(path), "not a LIBSVM file with 22 columns (it holds a zero byte)")
    try:
        x, y = datasets.load_svmlight_file(BytesIO(raw), n_features=IJCNN_SHAPE[1], dtype=np.float64)
    except (ValueError, OverflowError) as problem:
        raise BadInput("path", str(path), f"not a LIBSVM file with 22 columns ({problem})") from None
    dense = np.asarray(x.todense())
    _require_finite(path, dense)
    if not len(dense) or not np.isin(y, (-1, 1)).all():
        raise BadInput("path", str(path), "expected at least one record and labels -1 or 1")
    if standardise:
        dense[:, _IJCNN_CATEGORIES:] = _z_scores(dense[:, _IJCNN_CATEGORIES:])
    return into_unit_ball(dense), np.asarray(y, dtype=np.float64)


# Elevation, aspect, slope, two distances to water, distance to roads, three hill shades, distance to fire points:
# the scale of each numerical column, from its unit and range in the set's description
_COVERTYPE_SCALES = np.array([3858.0, 360.0, 66.0, 1397.0, 601.0, 7117.0, 254.0, 254.0, 254.0, 7173.0])


def _labelled(x: Array, rng: np.random.Generator, positive: float) -> Task:
    x = into_unit_ball(x)
    score = x @ rng.normal(scale=3.0, size=x.shape[1]) + rng.logistic(scale=0.5, size=len(x))
    return x, np.where(score >= np.quantile(score, 1 - positive), 1.0, -1.0)


def _z_scores(x: Array) -> Array:
    spread = x.std(axis=0)
    return np.asarray((x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _require_finite(path: str | Path, table: Array) -> None:
    """Not a number, or infinite, is no feature: it would be one silent NaN in every gradient."""
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        row, column = (int(one) for one in bad[0])
        raise BadInput(f"{path}: record {row + 1}, column {column + 1}", table[row, column], "must be finite")
