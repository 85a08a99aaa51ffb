"""Random small programs, written as text, and what each shows of two data sets: exactly, without a certificate.

A grammar gives the texts of each kind; `{kind}` in a text stands for another one, and `{kind!}` for a name that is
there already. The first four texts of a kind end it.
"""

import itertools
import linecache
import math
import re
from contextlib import suppress

import numpy as np

from dpassay.reference.accounting.gdp import gdp_delta

PRELUDE = """import numpy as np
def unit(x):
    return x / np.maximum(1, np.linalg.norm(x, axis=-1, keepdims=True))
def noisy(rng, query, scale):
    return rng.noisy(query, scale) if hasattr(rng, "noisy") else query + rng.normal(scale=scale, size=np.shape(query))
def run(x, rng):
    number1, number2 = np.clip(x[:, 0], 0, 1), np.tanh(x[:, 0])
    vector1, vector2 = unit(x).sum(axis=0), np.clip(x, 0, 1).sum(axis=0)
    """
NUMBERS = {"c": "0.0 | 0.5 | 1.0 | -1.0 | 2.0", "j": "0 | 1", "s": "0.5 | 1.0 | 2.0"}
BATCHES = NUMBERS | {  # which records a query sees
    "start": "fixed1 = rng.choice(len(x), 1 + {j}, replace=False) | mask1 = rng.random(len(x)) < 0.3"
    " | mask1 = rng.binomial(1, 0.3, size=len(x)) | mask1 = rng.binomial(1, 0.3, size=len(x)).astype(bool)"
    " | order1 = rng.permutation(len(x)) | order1 = np.arange(len(x))\nrng.shuffle(order1)"
    " | numbers = rng.random(len(x))\norder1 = np.argsort(numbers)\nmask1 = numbers < 0.3",
    "fixed": "np.flatnonzero({mask!}) | np.where({any})[0] | np.sort({fixed!}) | {fixed!}.astype(int)",
    "mask": "{mask!}.astype(int) | {mask!}.astype(bool) | np.flatnonzero({mask!})",
    "order": "{order!}[:{j}] | {order!}[{j}:] | {order!}[{order!}] | np.argsort({order!}) | np.asarray({order!})"
    " | {order!}[::-1] | np.array_split({order!}, 2)[{j}] | {order!} % 2 | {order!}.ravel()",
    "any": "{fixed!} | {mask!} | {order!}",
    "step": "rng.shuffle({order!}) | {order!}[0] = {j} | {order!} //= 2 | {order!}.sort()",
    "number": "{number!}[{any}] | {number!}[{any}] | {number!}[{any}] | {number!}[{any}][:1] | {number!}[{any}][1:]"
    " | {number!}[{any}][{order!}] | {number!}[{j}:] | np.take({number!}, {any}) | 2 * {number!}[{any}]"
    " | np.array([{number!}[i] for i in {any}])",
    "query": "{number}.sum() | {number}.sum() | {number}.sum() | sum({number!}[i] for i in {any}) | {number!}[0]"
    " | {number!}[{any}].sum() + {number!}.sum() | len({any}) * 1.0 | {any}.sum() * 1.0"
    " | np.sum([v for v in {number} if v > 0.3]) | {number!}.sum() - {number!}[{any}].sum()",
    "release": "noisy(rng, {query}, {s}) | noisy(rng, {query}, {s}) | noisy(rng, {query}, {s}) | {order!} | len({any})",
}
DRAWS = NUMBERS | {  # which noise is added to what, and where it stands besides
    "start": "noise1 = rng.normal(scale={s}, size=2) | noise2 = rng.normal(size=(2, 2))[{j}]",
    "noise": "{noise!} | {noise!}[::-1] | {noise!} * {s} | np.asarray({noise!}) | -{noise!} | {noise!}[[0, {j}]]"
    " | {noise!} + {noise!} | {noise!} - {noise!} | {noise!}.reshape(2) | {noise!}.T | {noise!} * np.arange(2)",
    "step": "{noise!} *= 0.1 | {noise!} /= 4 | {noise!} += {noise!} | np.multiply({noise!}, 0.1, out={noise!})",
    "vector": "{vector!} + {vector!} | np.sort({vector!}) | np.clip({vector!}, -1, 1) | {vector!}[::-1]",
    "release": "{vector!} + {noise!} | {vector!} + {noise!} | {vector!} + {noise!} | {noise} - {vector}"
    " | [{vector!}[k] + {noise!}[k] for k in range(2)] | {vector!}[{j}] + {noise!}[{j}] | ({vector} + {noise}) * 2"
    " | rng.normal({vector}, {s}) | {noise!}",
}
MATRICES = NUMBERS | {  # of noise, mirrored or nearly
    "start": "u = unit(x)\nnoise1 = rng.normal(scale={s}, size=(2, 2)) | u = unit(x)\n"
    "noise1 = np.triu(rng.normal(scale=2.0, size=(2, 2)))",
    "noise": "noise1 + noise1.T | np.triu(noise1) + np.triu(noise1, 1).T | {noise!} | {s} * ({noise})"
    " | noise1 + noise1.T - np.diag(np.diag(noise1)) | ({noise}) - ({noise}) | np.triu({noise}, {j})"
    " | -({noise}) | ({noise}).T | np.diag(np.diag({noise!})) | {noise} + rng.normal(size=(2, 2))",
    "release": "u.T @ u + ({noise}) | u.T @ u + ({noise}) | u.T @ u - ({noise}) | np.tanh(x).T @ u - {noise!}",
}
CELLS = NUMBERS | {  # of the records with one number each
    "start": "c = np.tanh(x[:, 0]) * {c}\nl = {labels}",
    "labels": "np.clip(np.round(x[:, 0]), 0, 2) | np.argmax(x, axis=1) | np.where(c > 0, 1, 0)",
    "cell": "np.sum({of}) | unit(x)[{of}].sum(axis=0) | unit(x)[{of}, {j}].sum() | np.sum({of}) + k",
    "of": "l == k | l == k | l >= k | (l == k) | (x[:, k % 2] > 0)",
    "release": "[noisy(rng, {cell}, 1.0) for k in (0, 1, 2)] | [noisy(rng, {cell}, 1.0) for k in (1, {j})]",
}

LAYERS = NUMBERS | {  # of a record, clipped together and released apart
    "start": "e = np.tanh(x[:, 0]) - x[:, 1]\nb, c = e[:, None] * x, e * {c}\nf = {factor}",
    "factor": "np.minimum(1.0, 1.0 / np.maximum({norm}, 1e-12)) | 1 / np.maximum(1, {norm})"
    " | np.where({norm} > 1, 1 / np.maximum({norm}, 1e-12), 1.0)",
    "norm": "np.sqrt((b**2).sum(axis=1) + c**2) | np.linalg.norm(b, axis=1)"
    " | np.linalg.norm(np.stack([np.linalg.norm(b, axis=1), np.abs(c)]), axis=0)"
    " | np.sqrt(np.einsum('ij,ij->i', b, b) + np.square(c)) | np.sqrt(4 * (b**2).sum(axis=1) + c**2 / 9)",
    "wide": "(f[:, None] * b).sum(axis=0) | f @ b | np.einsum('n,ni->i', f, b) | (f[:, None] * b)[:2].sum(axis=0)"
    " | np.where((f < 1)[:, None], b * f[:, None], 2 * b).sum(axis=0) | b.T @ f | ({wide})[::-1] | {c} * ({wide})"
    " | sum(one * two for one, two in zip(f, b)) | (f[:, None] * b + {c}).sum(axis=0) | {wide} + {wide}"
    " | (f[:, None] * b)[c > 0].sum(axis=0) | np.array([(f * b[:, k]).sum() for k in range(2)])",
    "thin": "(f * c).sum() | np.dot(f, c) | (f[::-1] * c).sum() | np.clip(c, -1, 1).sum() | (f * e).sum()"
    " | ({wide})[{j}] | {c} * ({thin}) + {s} | sum((f * c)[k] for k in range(len(x))) | sum(v for v in f * c if v > 0)",
    "release": "[noisy(rng, {wide}, {s}), noisy(rng, {thin}, {s})] | [noisy(rng, {wide}, {s}), noisy(rng, {thin}, {s})]"
    " | [noisy(rng, {wide}, 1.0), noisy(rng, {thin}, 1.0)] | noisy(rng, {wide} + {thin}, 1.0)",
}
ANSWERS = NUMBERS | {  # of randomised response: which coins hide which truth values
    "start": "coin1 = rng.random(len(x)) < 0.3\ntruth1, truth2 = x[:, 0] > 0, x[:, 1] > 0.5",
    "coin": "rng.random(len(x)) < 0.3 | rng.binomial(1, 0.3, size=len(x)) | ~({coin!} > 0) | {coin!} * 1",
    "truth": "{truth!} ^ {truth!} | {truth!}.astype(int) | {truth!}[::-1] | {truth!} * {s} | np.cumsum(truth1) % 2"
    " | np.clip(np.round(x[:, 0]), 0, 2).astype(int) | {truth!}[:1] ^ {truth!}",
    "answer": "np.where({coin!}, {truth!}, {coin!}) | truth1 ^ {coin!} | np.where({coin!}, 1 - {truth!} * 1, {truth!})"
    " | {truth!} * 1 + {coin!} | np.abs({answer!} - {truth!} * 1)",
    "step": "{answer!} = {answer!} * {s}",
    "release": "{answer!} | {answer!} | {answer!}.sum() | np.stack([{answer!}, {answer!}]) | {answer!} * {answer!}"
    " | {coin!} * 1.0 | noisy(rng, number1[{coin!}].sum(), {s}) | np.where({answer!}, {truth!}, 0)",
}
GRAMMARS = {"batches": BATCHES, "draws": DRAWS, "matrices": MATRICES, "cells": CELLS, "layers": LAYERS}
GRAMMARS["answers"] = ANSWERS


def written(grammar, g, kind, lines, depth=3):
    """A text of that kind; LookupError where a name is wanted that is not there."""
    if kind.endswith("!"):
        names = sorted(set(re.findall(rf"\b{kind[:-1]}\d+\b", "\n".join([PRELUDE, *lines]))))
        if not names:
            raise LookupError(kind)
        return str(g.choice(names))
    for text in g.permutation(grammar[kind].split(" | ")[: None if depth > 0 else 4]):
        with suppress(LookupError):
            return re.sub(r"\{(\w+!?)\}", lambda part: written(grammar, g, part[1], lines, depth - 1), str(text))
    raise LookupError(kind)


def program(grammar, g):
    """The lines of a function `run(x, rng)`."""
    lines = [written(grammar, g, "start", [])]
    kinds = "fixed", "mask", "order", "number", "vector", "noise", "coin", "truth", "answer", "step", "start"
    kinds = [one for one in kinds if one in grammar]
    for kind in [*g.choice([*kinds, "release"], size=int(g.integers(2, 7))).tolist(), "release"]:
        with suppress(LookupError):
            text = written(grammar, g, kind, lines)
            lines.append(text if kind in ("step", "start") else f"{kind}{len(lines) + 10} = {text}")
    released = [name for name, _, _ in (line.partition(" = ") for line in lines) if name.startswith("release")]
    return "\n".join([*lines, f"return [{', '.join(released)}]"])


def function(lines):
    """The function of these lines."""
    return compiled(PRELUDE + lines.replace("\n", "\n    ") + "\n")["run"]


def compiled(text):
    """The names of a module of this text, with its source where a certificate looks for it."""
    name = f"random_program_{len(linecache.cache)}.py"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"__name__": name[:-3], "__file__": name}
    exec(compile(text, name, "exec", dont_inherit=True), names)
    return names


class Outcomes:
    """A generator whose choices follow a script. It keeps how many each could have been, and what is released."""

    def __init__(self, script, draws=()):
        self.script, self.draws = script, iter(draws)
        self.ways, self.chance, self.drawn, self.means = [], 1.0, 0, [np.zeros(0)]

    def _one(self, outcomes, chances):
        way = self.script[len(self.ways)] if len(self.ways) < len(self.script) else 0
        self.ways.append(len(outcomes))
        self.chance *= chances[way]
        return np.array(outcomes[way])

    def choice(self, n, size, replace):
        orders = list(itertools.permutations(range(n), size))
        return self._one(orders, [1 / len(orders)] * len(orders))

    def permutation(self, n):
        return self.choice(n, n, False)

    def shuffle(self, array):
        array[...] = array[self.permutation(len(array))]

    def binomial(self, one, rate, size):
        coins = list(itertools.product((0, 1), repeat=size))
        return self._one(coins, [math.prod(rate if coin else 1 - rate for coin in each) for each in coins])

    def random(self, size):
        return np.where(self.binomial(1, 0.3, size), 0.1, 0.9)

    def noisy(self, query, scale):
        self.means.append(np.array(query, dtype=float).ravel() / scale)
        return np.zeros(np.shape(query))

    def normal(self, loc=0.0, scale=1.0, size=None):
        shape = np.shape(loc) if size is None else size
        drawn = [next(self.draws, 0.0) for _ in range(int(np.prod(shape)))]
        self.drawn += len(drawn)
        return loc + scale * np.reshape(drawn, shape)


def shown(run, x):
    """Of each outcome: how likely it is, what is seen without noise, and the means of the rest over their noise."""
    found, waiting = [], [()]
    while waiting:
        rng = Outcomes(script := waiting.pop())
        seen = run(x.copy(), rng)
        for place in range(len(script), len(rng.ways)):
            waiting += [(*script, *(0,) * (place - len(script)), way) for way in range(1, rng.ways[place])]
        means = np.concatenate(rng.means)
        if rng.drawn:
            seen, means = _turned(run, x, flat(seen), rng.drawn)
        found.append((rng.chance, (repr(seen), len(means)), means))
    return found


def flat(seen):
    return np.concatenate([np.ravel(np.asarray(one, dtype=float)) for one in seen])


def _turned(run, x, numbers, drawn):
    """Numbers plus a matrix times independent draws: in other coordinates, of which each has its own noise or none."""
    parts = [flat(run(x.copy(), Outcomes((), one))) - numbers for one in np.eye(drawn)]
    matrix = np.round(np.array(parts).T, 9) + 0.0
    axes, size, _ = np.linalg.svd(matrix)
    rank = int((size > 1e-9).sum())
    turned = axes.T @ numbers
    return (matrix.tolist(), (np.round(turned[rank:], 6) + 0.0).tolist()), turned[:rank] / size[:rank]


def exceeds(one, other, epsilon):
    """How much of one lies above exp(epsilon) times the other; at least, along two axes of where the means are."""
    lost, factor = 0.0, math.exp(min(epsilon, 500))
    for key in {seen for _, seen, _ in one}:
        sides = [[(chance, mean) for chance, seen, mean in side if seen == key] for side in (one, other)]
        weights = np.array([chance for chance, _ in sides[0]] + [-factor * chance for chance, _ in sides[1]])
        means = np.array([mean for _, mean in (*sides[0], *sides[1])])
        means = means - means[:1]
        if len(sides[0]) == len(sides[1]) == 1 and sides[0][0][0] == sides[1][0][0]:
            lost += sides[0][0][0] * gdp_delta(epsilon, float(np.linalg.norm(means[1])))
            continue
        _, size, axes = np.linalg.svd(means, full_matrices=False)
        table = weights[:, None]
        for along in (means @ axes[:2].T).T[: int((size > 1e-9).sum())]:
            grid = np.linspace(along.min() - 6, along.max() + 6, 200)
            density = np.exp(-((grid - along[:, None]) ** 2) / 2) * (grid[1] - grid[0]) / math.sqrt(2 * math.pi)
            table = (table[:, :, None] * density[:, None, :]).reshape(len(weights), -1)
        lost += float(np.maximum(table.sum(axis=0), 0).sum())
    return lost


def neighbours(g, n, d):
    """Two data sets: records of any size, equal ones, and none; of one record the other sign, or another size."""
    x = g.normal(size=(n, d)) * g.choice([0.1, 1.0, 3.0, 30.0], size=(n, 1))
    x = g.choice([-1.0, 0.0, 0.5, 1.0, 2.0], size=(n, d)) if g.random() < 0.4 else x
    y, target = x.copy(), int(g.integers(n))
    others = [-x[target], 0 * x[target], x[int(g.integers(n))], 100 * x[target], g.normal(size=d) * 3]
    y[target] = others[int(g.integers(len(others)))]
    return (x, y) if g.random() < 0.5 else (y, x)
