"""Data frames in certificates, against pandas on random neighbours."""

import math

import numpy as np
import pytest

from dpassay.audit.certify.certificate import certify
from dpassay.audit.plain_numpy.frames import frame
from dpassay.reference import Space

pd = pytest.importorskip("pandas")
COLUMNS = ["age", "group", "income"]
WHERE = Space.matrix(n=(5,), d=(3,))


def mean_of_a_column(df):
    return df["income"].clip(lower=0, upper=2).mean()


def chosen_with_brackets(df):
    return len(df[(df.age > 0) & (df["age"] < 1)])


def chosen_with_loc(df):
    return df.loc[df["age"].between(0, 1), "income"].clip(0, 2).sum()


def of_each_group(df):
    return [df[df["group"] == group]["income"].clip(0, 1).sum() for group in (-1, 0, 1)]


def changed_columns(df):
    df = df.copy()
    df["income"] = df["income"].clip(0, 2)
    df["age"] = np.clip(df["age"], 0, 1)
    return df[["age", "income"]].to_numpy().sum(axis=0)


def spread(df):
    return df["age"].clip(0, 1).var()


def as_an_array(df):
    rows = df.values
    return (rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))).sum(axis=0)


MOVES = {  # in the 1-norm
    mean_of_a_column: 0.4,
    chosen_with_brackets: 1.0,
    chosen_with_loc: 2.0,
    of_each_group: 2.0,
    changed_columns: 3.0,
    spread: 0.75,
    as_an_array: 2 * math.sqrt(3),
}


def noisy(query):
    return lambda rows, rng: np.array(query(frame(rows, COLUMNS))) + rng.laplace(size=np.shape(query(EXAMPLE)))


EXAMPLE = pd.DataFrame(np.zeros((5, 3)), columns=COLUMNS)


@pytest.mark.parametrize("query", MOVES, ids=lambda query: query.__name__)
def test_what_is_asked_of_a_frame_moves_as_in_pandas(query):
    found = certify(noisy(query), WHERE, delta=1e-9, any_length=True)
    assert found.epsilon is not None, found.open
    certified = sum(one.moves for one in found.releases)
    assert certified == pytest.approx(MOVES[query])
    rng, most = np.random.default_rng(0), 0.0
    for _ in range(60):
        here = np.round(rng.normal(size=(5, 3)) * 2, 1)
        here[:, 1] = rng.integers(-1, 2, size=5)
        there = here.copy()
        there[3] = [rng.normal(), rng.integers(-1, 2), rng.choice([-9, 0, 1, 9])]
        one, other = (np.asarray(query(pd.DataFrame(rows, columns=COLUMNS))) for rows in (here, there))
        most = max(most, float(np.abs(one - other).sum()))
    assert 0 < most <= certified * (1 + 1e-9)


def returned(df):
    return df["age"]


def all_of_it(df):
    return df


def groups(df):
    return df.groupby("group")["income"].sum()


def unclipped(df):
    return df["income"].sum()


def of_other_records(df):
    kept = df[df["age"] > 0]
    kept["age"] = df["age"].clip(0, 1)
    return kept["age"].sum()


def of_the_sample_by_numpy(df):
    return np.std(df["age"].clip(0, 1))


def clipped_in_its_values(df):
    df["age"] = df["age"] + 0.0
    values = df["age"].values
    values[values > 1] = 1.0
    values[values < 0] = 0.0
    return df["age"].sum()


def decided(df):
    return 1.0 if df["age"].max() > 3 else 0.0


@pytest.mark.parametrize(
    "query",
    [returned, all_of_it, groups, of_other_records, of_the_sample_by_numpy, decided, clipped_in_its_values],
)
def test_what_has_no_rule_or_leaves_is_open(query):
    assert certify(lambda rows, rng: query(frame(rows, COLUMNS)), WHERE, delta=1e-9, any_length=True).epsilon is None


def test_what_nothing_bounds_has_no_bound():
    assert certify(noisy(unclipped), WHERE, delta=1e-9, any_length=True).epsilon == math.inf
