"""Every rule of a certificate, as programs on random numbers: `case(g, d)` gives a function of rows (n, d)."""

from functools import partial

import numpy as np
from scipy.special import expit

from dpassay.audit.certify import shapes
from dpassay.audit.certify.value import Value


def of_table(table, places):
    return shapes.of_table(table, places) if isinstance(places, Value) else table[places]


def lengths(x, order=None, keep=True):
    return np.linalg.norm(x, ord=order, axis=1, keepdims=keep)


def unary(f):
    return lambda g, d: f


def drawn(make):
    """Cases of rows and what is drawn by `make`, which is public."""

    def of(f):
        def case(g, d):
            c = make(g, d)
            return lambda x: f(x, c)

        return case

    return of


with_number = drawn(lambda g, d: float(g.uniform(0.2, 3)))
with_signed = drawn(lambda g, d: float(g.normal()))
with_vector = drawn(lambda g, d: g.normal(size=d))
with_matrix = drawn(lambda g, d: g.normal(size=(d, int(g.integers(1, 4)))))
with_weights = drawn(lambda g, d: g.normal(size=50))  # public numbers, one a record


def of(make, f):
    """`f` of one value, under one name."""
    return lambda x: f(make(x))


def joined(x):
    half = (x.shape[1] + 1) // 2
    a, b = x[:, :half], x[:, half:]
    total = np.sqrt(np.sum(a**2, axis=1) + np.sum(b**2, axis=1))[:, None]
    return np.concatenate([a / np.maximum(1, total), b / np.maximum(1, total)], axis=1)


def by_block(x, c):
    half = (x.shape[1] + 1) // 2
    parts = [x[:, :half], x[:, half:]] if x.shape[1] > 1 else [x]
    return np.concatenate([one / np.maximum(1, lengths(one) / c) for one in parts], axis=1)


def softmax(x):
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def in_place(x, c):
    y = x * 1.0
    y += c
    y *= 2.0
    return y


def assigned(x, c):
    y = x * 1.0
    y[:, 0] = c
    y[y > c] = c
    return y


def loop(x):
    total = np.zeros(x.shape[1])
    for row in x:
        total = total + row / np.maximum(1, np.linalg.norm(row))
    return total


ROWS = {
    "clip by division": with_number(lambda x, c: x / np.maximum(1, lengths(x) / c)),
    "clip by factor": with_number(
        lambda x, c: x * np.minimum(1, c / np.maximum(lengths(x, keep=False), 1e-12))[:, None]
    ),
    "clip by ratio": with_number(lambda x, c: x * (c / np.maximum(lengths(x), c))),
    "clip by where": with_number(lambda x, c: np.where(lengths(x) > c, x * (c / lengths(x)), x)),
    "clip by where of squares": unary(lambda x: (lambda n: np.where(n > 1, x / n, x))(np.sqrt((x**2).sum(1))[:, None])),
    "factor by where": with_number(lambda x, c: x * np.where(lengths(x) > c, c / np.maximum(lengths(x), c), 1.0)),
    "clip sup-norm": with_number(lambda x, c: x / np.maximum(1, lengths(x, np.inf) / c)),
    "clip one-norm": with_number(lambda x, c: x / np.maximum(1, lengths(x, 1) / c)),
    "clip by sum of sizes": with_number(lambda x, c: x / np.maximum(1, np.abs(x).sum(axis=1, keepdims=True) / c)),
    "clip by columns": with_vector(lambda x, v: np.clip(x, -np.abs(v), np.abs(v))),
    "clip by largest size": with_number(lambda x, c: x / np.maximum(1, np.abs(x).max(axis=1, keepdims=True) / c)),
    "softmax": with_number(lambda x, c: softmax(c * x)),
    "clip by root of squares": with_number(lambda x, c: x / np.maximum(np.sqrt((x**2).sum(axis=1))[:, None] / c, 1)),
    "clip by einsum": with_number(lambda x, c: x / np.maximum(1, np.sqrt(np.sum(x * x, axis=1, keepdims=True)) / c)),
    "blocks": with_number(by_block),
    "joint norm": unary(joined),
    "add rows": with_vector(lambda x, v: x + np.tanh(x) * v),
    "clip range beside": with_number(lambda x, c: np.clip(x, c, c + 1)),
    "maximum of rows": with_vector(lambda x, v: np.maximum(x, x * v)),
    "expit": unary(expit),
    "log": with_number(lambda x, c: np.log(np.maximum(x, c))),
    "log1p": unary(lambda x: np.log1p(np.abs(x))),
    "cube": unary(lambda x: x**3),
    "round": unary(lambda x: np.round(x)),
    "lines of a table": with_matrix(lambda x, m: of_table(m, np.clip(x[:, 0], 0, len(m) - 1).astype(int))),
    "between": with_number(lambda x, c: ((x >= -c) & (x < c)) * 1.0),
    "not": with_signed(lambda x, c: ~(x <= c) * 1.0),
    "where public": with_vector(lambda x, v: np.where(v > 0, x, 1.0)),
    "logaddexp": unary(lambda x: np.logaddexp(0, x)),
    "remainder": unary(lambda x: x % 0.75),
    "quotient": unary(lambda x: np.clip(x, -1, 1) // 0.75),
    "matrix": with_matrix(lambda x, m: x @ m),
    "floor by where": with_number(lambda x, c: x / np.where(lengths(x) > 0, lengths(x), c)),
    "select": with_number(lambda x, c: np.select([x > c, x > 0], [x, 2 * x], c)),
    "row place": unary(lambda x: np.argmin(x, axis=1)[:, None]),
    "concatenate": unary(lambda x: np.concatenate([x, np.tanh(x)], axis=1)),
    "concatenate public": unary(lambda x: np.concatenate([x, np.ones((x.shape[0], 1))], axis=1)),
    "stack": unary(lambda x: np.stack([x, 2 * x], axis=1)),
    "blocks of records": unary(lambda x: np.concatenate([x[:2], 2 * x[2:]])),
    "overlapping blocks of records": unary(lambda x: np.concatenate([x[:2], x[1:]]).sum(axis=0)[None, :]),
    "row outer": unary(lambda x: np.einsum("ni,nj->nij", x, x)),
    "row dot of itself": unary(lambda x: np.einsum("ni,ni->n", x, x)[:, None]),
    "row dot": unary(lambda x: np.einsum("ni,ni->n", x, np.tanh(x))[:, None]),
    "in place": with_signed(in_place),
    "assign": with_signed(assigned),
    "by weights": with_weights(lambda x, w: x * w[: len(x), None]),
    "digitize": unary(lambda x: np.digitize(x, [-1.0, 0.0, 1.0]) * 1.0),
    "searchsorted": unary(lambda x: np.searchsorted([-1.0, 0.0, 1.0], x) * 1.0),
    "is in": unary(lambda x: np.isin(np.round(x), [0, 1]) * 1.0),
    "assign all": with_number(lambda x, c: [y := x * 1.0, y.__setitem__(np.s_[:], np.clip(x, 0, c))][0]),
    "squared distance": with_vector(lambda x, v: ((x - v) ** 2).sum(axis=1)[:, None]),
}

REDUCED = {
    "add reduce": unary(lambda x: np.add.reduce(x)),
    "masked sum": with_signed(lambda x, c: x[x[:, 0] > c].sum(axis=0)),
    "masked places": with_signed(lambda x, c: np.flatnonzero(x[:, 0] > c).sum()),
    "masked entries": with_signed(lambda x, c: x[np.where(x[:, 0] > c)[0], 0].sum()),
    "masked gram": with_signed(lambda x, c: (lambda y: y.T @ y)(x[x[:, 0] > c])),
    "two slices": unary(lambda x: x[:2].sum(axis=0) + 2 * x[2:].sum(axis=0)),
    "split": unary(lambda x: np.split(x, [2])[0].sum(axis=0)),
    "array split": with_number(lambda x, c: sum(part.sum(axis=0) for part in np.array_split(x, 2 + int(c)))),
    "overlapping slices": unary(lambda x: x[:2].sum(axis=0) + x[1:].sum(axis=0)),
    "gram": unary(lambda x: x.T @ x),
    "gram by tensordot": unary(lambda x: np.tensordot(x, x, axes=([0], [0]))),
    "signed weighted gram": unary(lambda x: x.T @ (np.tanh(x[:, :1]) * x)),
    "einsum gram": unary(lambda x: np.einsum("n,ni,nj->ij", expit(x[:, 0]), x, x)),
    "factors and rows": unary(lambda x: (1 / np.maximum(1, lengths(x, keep=False))) @ x),
    "two-sided": with_matrix(lambda x, m: (x @ m).T @ x),
    "deviation with floor": with_number(lambda x, c: np.sqrt(np.var(x, axis=0) + c)),
    "centred": unary(lambda x: (x - x.mean(axis=0)).sum(axis=1)),
    "quantile": unary(lambda x: np.quantile(x[:, 0], 0.3)),
    "cumsum": unary(lambda x: np.cumsum(x[:, 0])),
    "frobenius": unary(np.linalg.norm),
    "clip of one mean": with_number(lambda x, c: (lambda m: m / np.maximum(1, np.linalg.norm(m) / c))(x.mean(axis=0))),
    "product of wholes": unary(lambda x: (x.T @ x) @ x.sum(axis=0)),
    "bounded outside": unary(lambda x: np.where(np.logical_or(x < -1, ~(x <= 2)), 0.25, x)),
    "bounded elsewhere": unary(lambda x: np.where((x > 1)[:, ::-1], 1, x)),
    "rows of a cell": unary(lambda x: np.tanh(x)[np.round(x[:, 0]) == 1.0].sum(axis=0)),
    "outer": unary(lambda x: np.outer(x.sum(axis=0), x.mean(axis=0))),
    "reshaped stack": unary(
        lambda x: np.stack([x[:1].sum(), x[1:].sum(), x[:1].sum(), x[1:].sum()]).reshape(2, 2).sum(axis=0)
    ),
    "stack of disjoint sums": unary(lambda x: np.stack([x[:1].sum(axis=0), x[1:].sum(axis=0)]).sum(axis=0)),
    "diagonal": unary(lambda x: np.diag(x.mean(axis=0))),
    "less than itself": with_signed(lambda x, c: (x + c * x).sum(axis=0)),
    "sum of products": unary(lambda x: np.clip(x, -1, 1).T @ np.clip(x[:, 0], -2, 2)),
    "matrix of a clipped sum": with_matrix(lambda x, m: m.T @ np.clip(x, -1, 1).sum(axis=0)),
    "histogram": unary(lambda x: np.histogram(x[:, 0], bins=4, range=(-1, 1))[0]),
    "bincount": unary(lambda x: np.bincount(np.clip(x[:, 0].astype(int), 0, 3), np.tanh(x[:, 0]), minlength=4)),
    "histogram2d": unary(lambda x: np.histogram2d(x[:, 0], x[:, -1], bins=[2, 3], range=[[-1, 1]] * 2)[0]),
    "one-hot": unary(lambda x: (np.argmax(x, axis=1)[:, None] == np.arange(x.shape[1])).sum(axis=0)),
    "loop": unary(loop),
    "any": unary(lambda x: (x[:, 0] > 0).any() * 1.0),
    "transpose": unary(lambda x: x.T.sum(axis=1)),
}

_ENTRIES = "positive negative fabs abs arctan tanh exp expm1 sin cos floor ceil rint trunc around sign square"
_ENTRIES += " nan_to_num copy atleast_1d"
_BESIDE = "maximum minimum fmax fmin less less_equal greater_equal"
_ALONG = "sum mean average var std max min amax amin median ptp"
ROWS |= {name: unary(getattr(np, name)) for name in _ENTRIES.split()}
ROWS |= {name: with_signed(lambda x, c, name=name: getattr(np, name)(x, c) * 1.0) for name in _BESIDE.split()}
ROWS |= {f"{name} of a row": unary(partial(getattr(np, name), axis=1, keepdims=True)) for name in _ALONG.split()}
ROWS |= {f"{name} of a row": unary(partial(getattr(np, name), axis=1)) for name in ("sort", "cumsum")}
REDUCED |= {name: unary(partial(getattr(np, name), axis=0)) for name in f"{_ALONG} sort".split()}
REDUCED |= {name: unary(of(lambda x: x.T @ x, getattr(np, name))) for name in ("ravel",)}
REDUCED |= {"norm over records": unary(partial(np.linalg.norm, axis=0))}
ROWS |= {
    "float power": unary(lambda x: np.float_power(x, 2)),
    "not equal": unary(lambda x: (np.round(x) != 0) * 1.0),
    "logical and": with_number(lambda x, c: np.logical_and(x > 0, x < c) * 1.0),
    "logical or": with_number(lambda x, c: np.logical_or(x < 0, x > c) * 1.0),
    "logical xor": with_number(lambda x, c: np.logical_xor(x < 0, x < c) * 1.0),
    "logical not": with_signed(lambda x, c: np.logical_not(x > c) * 1.0),
    "or": with_number(lambda x, c: ((x < 0) | (x > c)) * 1.0),
    "xor": with_number(lambda x, c: ((x < 0) ^ (x < c)) * 1.0),
    "new last axis": unary(lambda x: np.expand_dims(x, -1)),
    "squeeze": unary(lambda x: np.squeeze(x[:, :, None], -1)),
    "columns": unary(lambda x: np.column_stack([x, x[:, 0]])),
    "hstack": unary(lambda x: np.hstack([x, 2 * x])),
}
REDUCED |= {
    "take": unary(lambda x: np.take(x, [0], axis=0).sum(axis=0)),
    "percentile": unary(lambda x: np.percentile(x[:, 0], 30)),
    "count": unary(lambda x: np.count_nonzero(x > 0)),
    "all": unary(lambda x: (x[:, 0] > 0).all() * 1.0),
    "dot": with_weights(lambda x, w: np.dot(w[: len(x)], x)),
    "reshape of a sum": unary(lambda x: np.reshape(x.sum(axis=0), (-1, 1))),
    "transpose by name": unary(lambda x: np.transpose(x).sum(axis=1)),
    "vstack": unary(lambda x: np.vstack([x.sum(axis=0), x.mean(axis=0)])),
    "broadcast": unary(lambda x: np.broadcast_to(x.sum(axis=0), (2, x.shape[1]))),
}


def unit(x):
    return x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True))


def product(x):
    """A matrix that does not equal its transpose."""
    return unit(x).T @ np.tanh(x)


BACK = slice(None, None, -1)
EDGES = {  # what rules do not know; (n, d) = (4, 3)
    "mean of some": lambda x: unit(x).mean(axis=0, where=[[True], [False], [False], [False]]),
    "average with weights": lambda x: np.average(unit(x), 0, [1, 0, 0, 0]),
    "quantile with weights": lambda x: np.quantile(0 * x[:, 0] + np.arange(4), 0.5, weights=np.abs(x[:, 1]) + 1),
    "places that wrap": lambda x: np.take(unit(x), [-1, -2], axis=0, mode="clip").sum(axis=0),
    "half precision": lambda x: np.multiply(1000 * unit(x), 1.0, dtype=np.float16).sum(axis=0),
    "bytes": lambda x: np.clip(x, -1, 1).astype(np.uint8).sum(axis=0),
    "complex numbers": lambda x: np.abs(unit(x).sum(axis=0) * np.array([1j, 1j, 1j])),
    "true and true": lambda x: np.clip(x, 0, 1).sum() / np.maximum(0.1, ((x * x >= 0) + (abs(x) >= 0)).max()),
    "any below zero": lambda x: np.any(np.minimum(x, 0), axis=0) * 1.0,
    "less its transpose": of(product, lambda m: m - m.T),
    "products of coordinates": of(unit, lambda x: (x[:, :, None] * x[:, None, :]).sum(axis=(0, 1))),
    "by their transposes": lambda x: np.clip(
        np.einsum("nij,nji->n", *(np.tanh(x)[:, :, None] * [1, 2, -3],) * 2), -9, 0
    ),
    "einsum of one": lambda x: np.einsum("ij->i", unit(x)),
    "einsum that repeats": lambda x: np.einsum("ij,j->i", unit(x)[:, :1], np.ones(5)),
    "a record twice": lambda x: unit(x)[[0, -4]].sum(axis=0),
    "an entry twice": lambda x: unit(x).sum(axis=0)[[0, -3]],
    "sorted at once": lambda x: np.sort(x.T, axis=None)[..., 0],
    "cells of a rule": lambda x: np.histogram(x[:, 0], bins="auto", range=(0, 1))[0],
    "no copy": of(unit, lambda y: [y.astype(float, copy=False), y.__imul__(100)][0].sum(axis=0)),
    "a diagonal": of(product, lambda m: [np.diag(m), m.__imul__(100)][0]),
    "a part of another shape": of(
        lambda x: x[:, :2] * 1.0,
        lambda a: (a.reshape(4, 1, 2)[:, 0] / np.maximum(1, np.abs(a[:, 0]))[:, None]).sum(axis=0),
    ),
    "written backwards": of(
        lambda x: (np.tanh(9 * x), np.tanh(9 * x)[BACK]),
        lambda xy: [(y := xy[1] * 1.0).__setitem__(np.s_[:, :1], xy[0][BACK, :1]), (xy[0] * y).sum()][1],
    ),
    "other records": of(
        lambda x: (unit(x), np.tanh(x)), lambda xy: [xy[0].__setitem__(BACK, xy[1]), xy[0] * xy[1]][1].sum(axis=0)
    ),
}
