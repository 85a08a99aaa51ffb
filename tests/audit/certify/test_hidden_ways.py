"""Programs with a way by which more leaves than the releases say: each was certified below its truth once."""

import math
import textwrap

import pytest

from dpassay.audit.certify.certificate import certify
from dpassay.audit.plain_numpy.signature import adapted
from dpassay.reference import Space

from .random_programs import compiled

MANY = math.inf
BEFORE = """
import contextlib, functools, hashlib, math, warnings
import numpy as np, scipy.linalg
from numpy import asarray as plainly
KEPT = [lambda a, b: a is b, np.random.default_rng(), np.zeros(1), functools.partial(type)]
def unit(rows): return np.clip(rows, 0, 1)
def flags(rows): return rows[:, 0] > 0
def labels(rows): return np.clip(rows[rows[:, 0] > 0][:, 0], 0, 9).astype(int)
def f(rows, rng):
    x, lap = unit(rows)[:, 0].sum(), lambda scale=1.0, **more: rng.laplace(scale=scale, **more)
"""
PROGRAMS = {  # the epsilon of each, or what it is at least, and what `f` goes on with
    "another name of a number": (10, "a = lap(.1); b = a; a *= 100; return x + b"),
    "other noise in place of the old": (100, "a = lap(size=2); b = np.array(a); b *= 100; return x + a[0] * .01"),
    "the rest of a cell": (9, "return [(1 - (labels(rows) == c)).sum() + lap() for c in range(10)]"),
    "smoothed labels": (5.5, "return [(.5 * (labels(rows) == c) + .5).sum() + lap() for c in range(10)]"),
    "half a number": (MANY, "g = rng.geometric; return np.clip(flags(rows).sum(), a_min=.5, a_max=8) + g(.5) - g(.5)"),
    "which object it is": (MANY, "y = max(x, flags(rows).sum()); return 5.0 if y is x else y + lap()"),
    "printed before it is noisy": (MANY, "print('exact', f'{x:.{len(rows)}f}', sep=': '); return x + lap()"),
    "so many along an axis": (39, "return [x + lap() for _ in rng.choice(np.ones((50, 2)), 1, axis=1)]"),
    "a draw of objects": (1e3, "return x + lap(1 if rng.choice([None, 'all'], p=[.999, .001]) is None else 1e-9)"),
    "written in one way": (MANY, "s = np.linspace(0, 0); y = np.add(s, 1, out=s)[0] if x > 0 else 0; return s[0] > 0"),
    "a list made of whole numbers": (1, "return np.array([x * .5, 0], dtype=int) + lap(size=2)"),
    "read before it is emptied": (10, "store = np.zeros(2); store[0] = x\ndef drain(): store[0] = 0.0; return 0.0\n"
                                 "store[0] += drain(); return store[0] + lap(.1)"),
    "a smaller batch elsewhere": (1.9, "rate = 0.01 if x + lap(100) > 4 else 0.9; "
                                  "return unit(rows)[rng.random(len(rows)) < rate][:, 0].sum() + lap()"),
    "the better of two": (6.74, "first = x + rng.normal(scale=1); return (first, x + lap(1 / 2.337)) if first > 1 "
                          "else (first, x + rng.normal(scale=1))"),
    "a copy of another type": (100, "y = flags(rows).astype(int); np.array(y, dtype=int, copy=None)[:] *= 1; "
                               "z = np.asarray(y, dtype=int); z *= 100; return y.sum() + lap()"),
    "no copy of another type": (1, "m = flags(rows); w = np.asarray(m, dtype=float); w *= .01; return m.sum() + lap()"),
    "noise that a draw picks": (MANY, "return x + lap(np.array([1, .01]))[rng.choice(2, p=[.999, .001])]"),
    "an end that swallows": (MANY, "try: 1 / (rows[0, 0] - 1)\nfinally: return 1.0"),
    "so many as is released": (1e2, "y = (x + lap()).reshape(1); return [x + lap(.01) for j in y[y > 40].tolist()]"),
    "functions for what is released": (1e2, "y = (x + lap()).reshape(1); return y, np.piecewise(y, [y > 9], "
                                       "[lambda _: x + lap(.01), 0.0])"),
    "a store": (MANY, "d, s = rng.standard_normal, np.zeros(1); a = d(1, out=s); d(1, out=s); return x + a, 2 * x + s"),
    "noise as truth values": (MANY, "return x + np.array(lap(), dtype=bool)"),
    "so many times as is released": (100, "k = np.argmax(x + lap(size=2)); return [x + lap(.01) for _ in (1,) * k]"),
    "mirrored by halves": (MANY, "g = rng.normal(size=(3, 3)); r = unit(rows); "
                           "return r.T @ r + (np.triu(g) + 0.5 * np.triu(g, 1).T)"),
    "most of a draw taken off": (10, "g = lap(size=2); return x + (g - .9 * g)[0]"),
    "a number taken off another name": (MANY, "a = rng.normal(); b = a; b *= -.9; return x + (a + b) * .01"),
    "written into one of two": (101, "y, a, b = x + lap(), np.zeros(2), np.zeros(2); t = a if y > 4 else b; t[0] = 1; "
                                "return x + lap(.01) if a[0] > 0 else y"),
    "one of few seeds": (MANY, "return x + np.random.default_rng(rng.integers(65536, 131072)).laplace()"),
    "the larger is one itself": (100, "c = unit(rows[:, :1]).sum(axis=0); d = max(c, -1.0); d *= 100; "
                                "return c + lap(size=1)"),
    "an error of a released number": (100, "try: return math.sqrt(x + lap())\nexcept ValueError: return x + lap(.01)"),
    "an error that a context ends": (100, "with contextlib.suppress(ValueError): return math.sqrt(x + lap())\n"
                                     "return x + lap(.01)"),
    "a warning that is kept": (100, "with warnings.catch_warnings(record=True) as w: np.sqrt(x + lap() + 50)\n"
                               "return x + lap(.01) if w else 1.0"),
    "imported under another name": (100, "return x + lap(.01) if plainly(x + lap()) > 1000 else 1.0"),
    "a draw from elsewhere": (1e9, "return x + lap(1e-9 if KEPT[1].random() < .001 else 1)"),
    "a function in a list": (MANY, "y = max(x, flags(rows).sum()); return 5.0 if KEPT[0](y, x) else y + lap()"),
    "an order of two names": (2, "o = np.arange(6); v = o[:]; rng.shuffle(o); a = unit(rows)[o[:3], 0].sum() + lap(); "
                              "v[:] = v[::-1].copy(); return a, unit(rows)[o[3:], 0].sum() + lap()"),
    "one place from both ends": (2, "o = rng.permutation(np.array([0, -6])); u = unit(rows)[:, 0]; "
                                 "return u[o[:1]].sum() + lap(), u[o[1:]].sum() + lap()"),
    "a row above rows": (13, "u = unit(rows); return np.vstack([u[0], u]).sum(axis=0)[0] ** 2 + lap()"),
    "memory": (MANY, "out = np.zeros(3); out[0] = x; return list(memoryview(out)), hashlib.md5(out).hexdigest()"),
    "what SciPy makes of it": (100, "return x + lap(.01) if scipy.linalg.inv(np.diag([x + lap()])) > 1e6 else 1.0"),
    "a text of an array": (100, "return x + lap(.01) if '9e' in np.array2string(np.array([x + lap()])) else 1.0"),
    "of the module's array": (100, "return [x + lap(.01) for _ in KEPT[2][np.array([x + lap() > 1000])]]"),
    "into the module's array": (100, "v = np.asarray(KEPT[2]); v[0] = x + lap(); return x + "
                                "lap(.01) if KEPT[2][0] > 1000 else 1.0"),
    "added into a plain array": (100, "v = np.linspace(0, 0, 3); np.add.at(v, [0], x + lap()); return x + lap(.01) "
                                 "if v[0] > 1000 else 1.0"),
    "answers of a turned table": (1.09, "c = np.where(rows[:, :1] > rows[:, 0], 1.0, 0.0); z = np.abs(c - c.T); "
                                  "return np.where(rng.random((6, 6)) < .25, z, 1 - z)"),
    "truths as numbers": (1.09, "c = flags(rows).astype(float); return (c + c == 2) ^ (rng.random(6) < .25)"),
    "a chain of identities": (101, "y, a, b = x + lap(), np.zeros(2), np.zeros(2); t = a if y > 4 else b; "
                              "return x + lap(.01) if t is a is a else y"),
    "made before": (MANY, "return 1.0 if KEPT[3](rows) is not np.ndarray else x"),
    "an own name": (MANY, "class Q: v, __getattr__ = property(lambda _: rows.norms and 0), lambda *_: x\nreturn Q().v"),
    "chosen by a minus": (MANY, "return np.where(-flags(rows).astype(int), rows[:, 0], 0 * rows[:, 0]).sum() + lap()"),
    "a private quantile": (100, "return np.quantile(np.stack([x / 999, 100]), unit(rows)[:, 1].mean()) + lap()"),
    "complex noise": (MANY, "return x + lap() * np.array(1 + 1j)"),
    "truths that are joined": (1.09, "m = flags(rows); c = np.concatenate([m[:3], m[3:]]); return (c + c == 1) ^ "
                               "(rng.random(6) < .25)"),
    **{f"a picked column, and column {k}": (MANY, "j = np.argmax(unit(rows).sum(axis=0) + lap(size=3)); return "
       f"(rows[:, j] / np.maximum(1, np.abs(rows[:, {k}]))).sum() + lap()") for k in range(3)},
    "a text of a batch": (100, "i = rng.choice(6, 3, replace=False); return unit(rows)[i][:, 0].sum() + "
                          "lap(.01 if len(str(i)) < 9 else 100)"),
    "a coarser type": (100, "z = np.zeros_like(rows.astype('f4')); return x + lap(.01 if z.dtype == 'f4' else 100)"),
    "made flat": (100, "z = (rows > 0).reshape(-1); return x + lap(.01 if z.dtype == bool else 100)"),
    **{f"asked by {how}": (100, f"y = x + lap(size=2); return x + lap(.01 if {how} else 100)") for how in (
        "np.float64 in map(type, [x])", "'norms' not in dir(rows)", "getattr(rows, '__array_struct__', 0)",
        "y.flags.owndata", "issubclass(bool, int)", "not hasattr(rows, '__dict__')")},
    **{f"held by {how}": (MANY, f"class R: {how}\nreturn R()") for how in ("v = property(lambda _: x)",
                                                                         "__float__ = lambda _: x")},
    **{f"plain by {how}": (MANY, f"y, a = x + lap(), np.rec.array([(0.,)], dtype=[('q', float)])\n"
       f"class Box:\n    def __array__(*_): return y\nreturn x if {how} > 3.5 else 0") for how in (
        "np.ndarray.item(y)", "4 * (x * np.where([y > 3])[0]).size", "setattr(a, 'q', y) or a.q[0]", "np.sum(Box())")},
    "another name of a sum": (MANY, "t = total = np.zeros(1) * x\nif x > 2:\n    total += 5; y = t.sum()\n"
                              "else: y = 0.0\nreturn y + lap(.001)"),
    "what is no followed number": (100, "return x + lap(.01 if type(3) in (int, float) else 100)"),
    "an end of another name": (100, "class Q: __enter__, __exit__ = id, lambda *_: True\nwith Q(): return "
                               "math.sqrt(x + lap())\nreturn x + lap(.01)"),
}  # fmt: skip


@pytest.mark.parametrize(("truth", "text"), PROGRAMS.values(), ids=PROGRAMS)
def test_no_certificate_is_smaller_than_the_truth(truth, text):
    names = compiled(BEFORE + textwrap.indent(textwrap.dedent(text), "    "))
    found = certify(names["f"], Space.matrix(n=(6,), d=(3,)), delta=1e-5, any_length=True)
    assert found.epsilon is None or found.epsilon >= 0.999 * truth


CLASSES = {
    "of the class": "Model.exact_ = X.sum()",
    "in a list of the class": "self.history.append(X.sum())",
    "without an underscore": "self.exact = X.sum()",
    "in what was there before": "self.cache[0] = X.sum()",
    "in an object that was there before": "self.part.exact = X.sum(); del self.noisy_",
    "in nothing but a hidden name": "self._exact = X.sum(); del self.noisy_",
    "by a function": "self.get = lambda: X.sum()",
    "by a property": "self._total = X.sum()",
    "on a list": "self.noisy_ = Named([self.noisy_]); self.noisy_.exact = X.sum()",
}


@pytest.mark.parametrize("text", CLASSES.values(), ids=CLASSES)
def test_all_that_a_model_holds_leaves_with_it(text):
    made = """
    class Named(list): pass
    class Part: pass
    class Model:
        history, exact = [], property(lambda self: self._total)
        def __init__(self): self.cache, self.settings, self.part = {}, [1, 2], Part()
        def fit(self, X, rng):
            self.noisy_ = float(np.clip(X[:, 0], 0, 1).sum() + rng.laplace())
            TEXT
            return self
    """
    where = Space.matrix(n=(6,), d=(3,))
    for line, leaks in ((text, True), ("self.settings[0] = 3", False)):
        names = compiled(BEFORE + "    pass\n" + textwrap.dedent(made).replace("TEXT", line))
        found = certify(adapted(names["Model"]), where, delta=1e-5, any_length=True)
        assert (found.epsilon is None) == leaks, found.open
