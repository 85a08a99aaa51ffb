"""Certificates of random programs against what these show of two data sets, computed exactly."""

import re
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from dpassay.audit.certify import arithmetic, derivation, draws
from dpassay.audit.certify.certificate import certify
from dpassay.audit.certify.facts import NAMED, Norms
from dpassay.audit.certify.generators import Draws, Uniforms
from dpassay.audit.certify.shapes import Mask
from dpassay.reference import Space

from .random_programs import GRAMMARS, exceeds, function, neighbours, program, shown

DELTA = 1e-3
RAISED = (ValueError, IndexError, TypeError)  # on all data alike, for want of numbers


def broken(lines, g):
    """Two data sets that show more of a program than its certificate says; None where there are none."""
    run, n = function(lines), 2 if "coin" in lines else int(g.integers(2, 4))  # of coins there are many outcomes
    found = certify(run, Space.matrix(n=(n,), d=(2,)), delta=DELTA, any_length=True)
    for _ in range(6 if found.bounded else 0):
        x, y = neighbours(g, n, 2)
        with suppress(*RAISED), np.errstate(all="ignore"):
            sides = shown(run, x), shown(run, y)
            lost = max(exceeds(*sides, found.epsilon), exceeds(*sides[::-1], found.epsilon))
            if not lost <= DELTA * 1.02 + 1e-6:  # of a grid
                return x, y, found.epsilon, lost
    return None


@pytest.mark.parametrize("programs", [12, pytest.param(1500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", GRAMMARS)
def test_no_two_data_sets_show_more_than_a_certificate_says(name, programs):
    """The many are other ones each time."""
    for seed in np.random.default_rng(0 if programs < 100 else None).integers(2**32, size=programs).tolist():
        g = np.random.default_rng(seed)
        assert broken(lines := program(GRAMMARS[name], g), g) is None, lines


MASK, FIXED = "mask1 = rng.random(len(x)) < 0.3", "fixed1 = rng.choice(len(x), 1, replace=False)"
NOISE, ORDER = "noise1 = rng.normal(size=2)", "order1 = rng.permutation(len(x))"
FOUND = {  # programs whose certificates were too small: lines, and what is released of them
    "noise under two names": (NOISE, "noise2 = noise1", "noise1 *= 0.1", "vector1 + noise2"),
    "noise in another shape": (NOISE, "noise2 = noise1[:1]", "noise1 *= 0.1", "vector1[:1] + noise2"),
    "a batch of known numbers": ("u = rng.random(len(x))", "order1 = np.argsort(u)", "order1", "number1[u < 0.3]"),
    "coins": ("mask1 = rng.binomial(1, 0.3, size=len(x))", "number1[mask1]"),
    "truth values as whole numbers": (MASK, "number1[mask1.astype(int)]"),
    "truth values to take": (MASK, "np.take(number1, mask1)"),
    "truth values in turn": (MASK, "sum(number1[i] for i in mask1)"),
    "some by another record": ("total = np.sum([1.0 for v in number1 if number2[0] > 0.5])", "total"),
    "places that are not zero": (FIXED, "9 * number1[np.flatnonzero(fixed1)]"),
    "the sum of places": (FIXED, "fixed1.sum()", "number1[fixed1]"),
    "an order written over": (ORDER, "order1[0] = 0", "number1[order1[:1]]", "number1[order1[1:]]"),
    "an order halved": (ORDER, "order1 //= 2", "number1[order1[:1]]", "number1[order1[1:2]]"),
    "an order shuffled": (ORDER, "a = order1[:1]", "number1[order1[1:]]", "rng.shuffle(order1)", "number1[a]"),
    "an order of an order": (ORDER, "number1[order1][:1]", "number1[order1][order1][1:2]"),
    "a place and its number": (MASK, "[number1[i] for i in np.flatnonzero(mask1) if i > 0]"),
    "a place and a record": (FIXED, "number1[0] + number1[fixed1]"),
    "a turn that remembers": ("total = v = 0.0", MASK, "for w in number1[mask1]:\n    total += v\n    v = w", "total"),
    "whether there is one": ("total = 0.0", MASK, "for v in number1[mask1]:\n    total = 1.0", "total"),
    "the last of some": (
        "total = v = 0.0",
        "for v in (0 * x[:, 0] + np.arange(len(x)))[x[:, 0] > 0.2]:\n    total += 0 * v",
        "total + v",
    ),
    "a name that a function reads": (
        "total = v = 0.0\ndef read():\n    return v",
        "for w in number1[number1 > 0.2]:\n    k = read()\n    v = w\n    total += k",
        "total",
    ),
    "changed in place": (
        "total = 0.0",
        "for v in x:\n    w = 1.0 * v\n    if v[0] > 0:\n        w = np.multiply(w, 0.0, out=w)\n    total += w.sum()",
        "total",
    ),
    "counted elsewhere": (
        "from collections import Counter\nseen = Counter()",
        "for v in x:\n    k = 0\n    if v[0] > 0:\n        k = seen.update('a')\n    else:\n        k = None",
        "len(seen)",
    ),
    "an entry whose place changes": (
        "total = [0.0, 0.0]",
        "for v in x:\n    k = 0\n    if v[0] > 0:\n        total[k] += 1\n        k = 1\n    else:\n        k = 1",
        "total[0]",
    ),
    "places and another record": (MASK, "[number1[i] * number2[0] for i in np.flatnonzero(mask1)]"),
    "noise that was a weight": (NOISE, "np.tanh(vector1 * noise1) * noise1 + noise1"),
    "ends of other entries": (
        "y = np.where((x < -1)[:, ::-1], -1, x)\ntotal = np.where((x > 1)[:, ::-1], 1, y).sum()",
        "total",
    ),
    "a truth value of one record": ("total = np.sum(x[:1, 0] > 0) + np.sum(x[:1, 0] > 0)", "total"),
    "truth values of Python": ("total = (float(x[0, 0]) > 0) + (float(x[0, 1]) > 0)", "total"),
    "truth values in a list": ("total = np.sum([x[0, 0] > 0, x[0, 1] > 0])", "total"),
    "sums of one truth value": ("y = np.sum(x[:, :1] > 0, axis=1)\ntotal = (y + y).sum()", "total"),
    "places to take": ("u = rng.random(len(x))", "a = np.argsort(u)", "np.take(number1, np.flatnonzero(u < 0.3))"),
    "answers of two records": (MASK, "a = x[:, 0] > 0", "mask1 ^ a ^ a[::-1]"),
    "an order and a record": (ORDER, "number1[order1][:1]", "number1[1:2]"),
}


def lines_of(name):
    lines = []
    for line in FOUND[name]:
        plain = re.search(r" \S?\S?= |shuffle", line)
        noisy = f"noisy(rng, np.sum({line}), 0.5)" if re.search("number1|total", line) else line
        lines.append(line if plain else f"release{len(lines)} = {noisy}")
    released = re.findall(r"release\d+(?= =)", "\n".join(lines))
    return "\n".join([*lines, f"return [{', '.join(released)}]"])


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_is_mended(name):
    assert all(broken(lines_of(name), np.random.default_rng(seed)) is None for seed in range(3))


def half_as_long(rows, joint):
    whole = rows.like(shape=(len(rows), 2**62), at=-2, size=Norms(two=0.25))
    return NAMED.setdefault(("half", joint), whole)


WRONG = {
    "noise under two names": (draws.Noise, "_written", lambda self, found: found),
    "truth values as whole numbers": (Mask, "astype", lambda self, kind: self),
    "a batch of known numbers": (Uniforms, "__lt__", lambda self, rate: self._draws.poisson_batch(rate)),
    "cells": (draws, "_as_one", lambda group: [replace(group[0], moves=0.5, counted=0.5)]),
    "layers": (arithmetic, "_rows_as_one", half_as_long),
    "answers": (draws.Coin, "serve", lambda self, purpose: None),
    "answers of two records": (draws, "alike", lambda values: True),
    "coins": (Draws, "binomial", lambda self, one, rate, size: self.poisson_batch(rate)),
}


@pytest.mark.some(4)
@pytest.mark.parametrize("name", sorted(WRONG, key=GRAMMARS.__contains__))
def test_a_wrong_rule_is_found(name, monkeypatch):
    monkeypatch.setattr(*WRONG[name])
    monkeypatch.setattr(derivation, "FOLLOWED", set())  # the functions above are none of the program
    drawn = map(np.random.default_rng, range(200))
    assert any(broken(lines_of(name) if name in FOUND else program(GRAMMARS[name], g), g) for g in drawn)
