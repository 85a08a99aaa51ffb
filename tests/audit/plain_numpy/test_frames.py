"""Data frames in certificates, against pandas on random neighbours."""

import math

import numpy as np
import pytest

from dpassay.audit.certify.certificate import certify
from dpassay.audit.plain_numpy.frames import frame
from dpassay.audit.plain_numpy.mechanism import on_tape
from dpassay.reference import Space, record

pd = pytest.importorskip("pandas")
COLUMNS = ["age", "group", "income"]
WHERE = Space.matrix(n=(5,), d=(3,))


def changed_columns(df):
    df = df.copy()
    df["income"] = df["income"].clip(0, 2)
    df["age"] = np.clip(df["age"], 0, 1)
    return df[["age", "income"]].to_numpy().sum(axis=0)


def as_an_array(df):
    rows = df.values
    return (rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))).sum(axis=0)


MOVES = {  # what is asked, and how far a record moves it in the 1-norm
    "mean of a column": (lambda df: df["income"].clip(lower=0, upper=2).mean(), 0.4),
    "loc": (lambda df: df.loc[df["age"].between(0, 1), "income"].clip(0, 2).sum(), 2.0),
    "by number": (lambda df: df.iloc[:, 0][df.iloc[:, -1] > 0].clip(0, 2).sum(), 2.0),
    "groups": (lambda df: [df[df["group"] == one]["income"].clip(0, 1).sum() for one in (-1, 0, 1)], 2.0),
    "changed columns": (changed_columns, 3.0),
    "variance": (lambda df: df["age"].clip(0, 1).var(0), 0.75),
    "another frame": (lambda df: [df.loc[:].__setitem__("age", df.age * 0), df.age.clip(0, 1).sum()][1], 1.0),
    "array": (as_an_array, 2 * math.sqrt(3)),
    "counts": (lambda df: df["group"].value_counts().reindex([-1, 0, 1], fill_value=0), 2.0),
    "assigned": (lambda df: df.assign(age=df.age.clip(0, 1), twice=lambda one: one.age * 2).twice.sum(), 2.0),
}


def noisy(query):
    size = np.shape(query(pd.DataFrame(np.zeros((5, 3)), columns=COLUMNS)))  # which no certificate follows
    return lambda rows, rng: np.array(query(frame(rows, COLUMNS))) + rng.laplace(size=size)


@pytest.mark.parametrize(("query", "moves"), MOVES.values(), ids=MOVES)
def test_what_is_asked_of_a_frame_moves_as_in_pandas(query, moves):
    found = certify(noisy(query), WHERE, delta=1e-9, any_length=True)
    assert found.epsilon is not None, found.open
    certified = sum(one.moves for one in found.releases)
    assert certified == pytest.approx(moves)
    rng, most = np.random.default_rng(0), 0.0
    for _ in range(60):
        here = np.round(rng.normal(size=(5, 3)) * 2, 1)
        here[:, 1] = rng.integers(-1, 2, size=5)
        there = here.copy()
        there[3] = [rng.normal(), rng.integers(-1, 2), rng.choice([-9, 0, 1, 9])]
        one, other = (np.asarray(query(pd.DataFrame(rows, columns=COLUMNS))) for rows in (here, there))
        most = max(most, float(np.abs(one - other).sum()))
    assert 0 < most <= certified * (1 + 1e-9)


def of_other_records(df):
    kept = df[df["age"] > 0]
    kept["age"] = df["age"].clip(0, 1)
    return kept["age"].sum()


def clipped_in_its_values(df):
    df["age"] = df["age"] + 0.0
    values = df["age"].values
    values[values > 1] = 1.0
    values[values < 0] = 0.0
    return df["age"].sum()


def in_place(df):
    column = df["age"].copy()
    column[column > 1] = 1.0
    return column.sum()


OPEN = {
    "in place": in_place,
    "a column": lambda df: df["age"],
    "a column twice": lambda df: df[["age", "age"]].to_numpy().clip(0, 1).sum(),
    "counts of unknown values": lambda df: df["group"].value_counts(),
    "groupby": lambda df: df.groupby("group")["income"].sum(),
    "NumPy's deviation": lambda df: np.std(df["age"].clip(0, 1)),
    "a decision": lambda df: 1.0 if df["age"].max() > 3 else 0.0,
    "a text": lambda df: float(len(str(df)) + len(f"{df['age']}")),
    "compared": lambda df: df == 0.0,
    "of other records": of_other_records,
    "clipped in its values": clipped_in_its_values,
}


@pytest.mark.parametrize("query", OPEN.values(), ids=OPEN)
def test_what_has_no_rule_or_leaves_is_open(query):
    found = certify(lambda rows, rng: query(frame(rows, COLUMNS)), WHERE, delta=1e-9, any_length=True)
    assert found.epsilon is None and ("column is changed in place" in str(found)) == (query.__name__ == "in_place")


@pytest.mark.parametrize("form", [pd.DataFrame, lambda rows: pd.Series(rows[:, 0])])
def test_noise_that_is_added_to_a_frame_is_released_where_it_is_handed_out(form):
    run = on_tape(lambda rows, rng: form(rows) + rng.laplace(scale=3.0, size=form(rows).shape))
    (release,) = record(lambda tape: run(np.ones((2, 2)), tape), seed=0).releases
    assert release.law.scale == 3.0
