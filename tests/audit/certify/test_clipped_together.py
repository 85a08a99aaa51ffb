"""Gradients of several layers, clipped by their joint norm and released one by one: as one release of all of them."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay.audit import Effort, Verdict, assay
from dpassay.audit.certify.certificate import certify
from dpassay.reference import PrivacyClaim, Space

WHERE = Space.matrix(n=(4,), d=(3,))


def factor(*squares):
    return np.minimum(1.0, 1.0 / np.maximum(np.sqrt(sum(squares)), 1e-12))


def gradients(rows):
    """Of two layers and an offset: a matrix, a vector and a number a record."""
    x, y = rows[:, :-1], rows[:, -1]
    e = np.tanh(x).sum(axis=1) - y
    return e[:, None, None] * x[:, :, None], e[:, None] * x, e


def in_vectors(rows):
    a, b, c = gradients(rows)
    f = factor((a**2).sum(axis=(1, 2)), (b**2).sum(axis=1), c**2)
    return [(f[:, None, None] * a).sum(axis=0), (b * f[:, None]).sum(axis=0), (f * c).sum()]


def by_products(rows):
    a, b, c = gradients(rows)
    f = factor(np.einsum("nij,nij->n", a, a), np.einsum("ni,ni->n", b, b), np.square(c))
    return [np.einsum("n,nij->ij", f, a), f @ b, np.dot(f, c)]


def by_norms(rows):
    a, b, c = gradients(rows)
    f = factor(np.linalg.norm(a.reshape(4, -1), axis=1) ** 2, np.linalg.norm(b, axis=1) ** 2, np.abs(c) ** 2)
    return [(f[:, None, None] * a).sum(axis=0), (b * f[:, None]).sum(axis=0), (f * c).sum()]


def where_it_is_longer(rows):
    a, b, c = gradients(rows)
    norm = np.sqrt((a**2).sum(axis=(1, 2)) + (b**2).sum(axis=1) + c**2)
    f = np.where(norm > 1, 1 / np.maximum(norm, 1e-12), 1.0)
    return [(f[:, None, None] * a).sum(axis=0), (b * f[:, None]).sum(axis=0), (f * c).sum()]


def by_root(rows):
    _, b, c = gradients(rows)
    f = 1 / np.maximum(1, np.sqrt((b**2).sum(axis=1) + c**2))
    return [(b * f[:, None]).sum(axis=0), (f * c).sum()]


def with_other_weights(rows):
    _, b, c = gradients(rows)
    f = factor(4 * (b**2).sum(axis=1), c**2 / 9)
    return [2 * (b * f[:, None]).sum(axis=0), (f * c).sum() / 3]


def record_by_record(rows):
    total = {"w": np.zeros(2), "b": np.zeros(1)}
    for row in rows:
        e = np.tanh(row[0]) - row[-1]
        g = {"w": e * row[:-1], "b": np.array([e])}
        f = min(1.0, 1.0 / max(np.sqrt(sum(np.sum(one**2) for one in g.values())), 1e-12))
        for name in total:
            total[name] = total[name] + f * g[name]
    return list(total.values())


def rows_of_either(rows):
    _, b, c = gradients(rows)
    norm = np.sqrt((b**2).sum(axis=1) + c**2)
    b = np.where((norm > 1)[:, None], b / np.maximum(norm, 1e-12)[:, None], b)
    return [b.sum(axis=0), np.where(norm > 1, c * 1.0 / np.maximum(norm, 1e-12), c).sum()]


def by_if(rows):
    w, b = np.zeros(2), 0.0
    for row in rows:
        e = np.tanh(row[0]) - row[-1]
        g = e * row[:-1]
        norm = np.linalg.norm([np.linalg.norm(g), np.abs(e)])
        if norm > 1:
            g = g / norm
            e = e / norm
        w += g
        b += e
    return [w, b]


def in_lists(rows):
    w, b = [], []
    for row in rows:
        e = np.tanh(row[0]) - row[-1]
        g = e * row[:-1]
        f = 1 / max(1.0, np.sqrt(g @ g + e * e))
        w.append(f * g)
        b.append(f * e)
    return [np.sum(w, axis=0), np.mean(b) * len(rows)]


def by_tensors(rows):
    a, b, _ = gradients(rows)
    f = factor((a**2).sum(axis=(1, 2)), (b**2).sum(axis=1))
    return [np.tensordot(f, a, axes=1), np.tensordot(b, f, axes=([0], [0]))]


RIGHT = [in_vectors, by_products, by_norms, where_it_is_longer, by_root, with_other_weights, record_by_record]
RIGHT += [rows_of_either, by_if, in_lists, by_tensors]


def released(run, batch=lambda rows, rng: rows):
    def noisy(rows, rng):
        return [one + rng.normal(scale=4.0, size=np.shape(one)) for one in run(batch(rows, rng))]

    return certify(noisy, WHERE, delta=1e-5, any_length=True)


@pytest.mark.parametrize("run", RIGHT, ids=lambda run: run.__name__)
def test_what_is_clipped_together_is_one_release(run):
    found = released(run)
    assert [one.moves for one in found.releases] == [pytest.approx(2.0)]


def turn_by_turn(rows):
    w, b = np.zeros(2), 0.0
    for row in rows:
        e = np.tanh(row[0]) - row[-1]
        g = e * row[:-1]
        f = min(1.0, 1.0 / max(np.sqrt(np.sum(g**2) + e**2), 1e-12))
        w += f * g
        b += f * e
    return w, b


def concatenated(rows):
    e = np.tanh(rows[:, 0]) - rows[:, -1]
    g = np.concatenate([e[:, None] * rows[:, :-1], e[:, None]], axis=1)
    return [(g / np.maximum(1, np.linalg.norm(g, axis=1, keepdims=True))).sum(axis=0)]


def poisson(rows, rng):
    return rows[rng.random(4) < 0.3]


def fixed(rows, rng):
    return rows[rng.choice(4, 2, replace=False)]


@pytest.mark.parametrize(
    ("run", "batch"), [(by_products, poisson), (by_root, fixed), (in_vectors, fixed), (turn_by_turn, poisson)]
)
def test_in_a_secret_batch_it_costs_what_one_array_of_all_does(run, batch):
    known = released(concatenated, batch)
    assert known.bounded and released(run, batch).epsilon == pytest.approx(known.epsilon)


def test_noise_of_several_scales_costs_what_the_least_does_at_most():
    def run(rows, rng):
        w, b = by_root(rows)
        return w + rng.normal(scale=4.0, size=2), b + rng.normal(scale=2.0)

    (one,) = certify(run, WHERE, delta=1e-5, any_length=True).releases
    assert one.moves / one.law.scale == pytest.approx(1.0)  # 2 / 2, and not the root of (2 / 4)^2 + (2 / 2)^2


def trained(rows, rng):
    """The offset is moved by a record whose weights do not move, and the other way round."""
    w, b = np.zeros(2), 0.0
    for _ in range(3):
        some = rows[rng.random(len(rows)) < 0.2]
        e = np.tanh(some[:, :-1] @ w + b) - some[:, -1]
        g = e[:, None] * some[:, :-1]
        f = factor((g**2).sum(axis=1), e**2)
        w = w - (f @ g + rng.normal(scale=3.0, size=2))
        b = b - (f @ e + rng.normal(scale=3.0))
    return w, b


@pytest.mark.more
def test_what_a_pair_costs_in_a_poisson_batch_is_what_one_record_moves_in_all_layers():
    effort = Effort(runs=60, pilot=60, examples=15)
    found = assay(trained, WHERE, PrivacyClaim(0.9, 1e-5), effort=effort)
    assert found.verdict is Verdict.CERTIFIED  # "over budget" where each layer counts its own worse side
    assert found.accounted <= found.certificate.epsilon * (1 + 1e-6)
