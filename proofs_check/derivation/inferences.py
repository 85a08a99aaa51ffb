"""Named inferences: what must be in hand for each, and the fact that it adds to a step.

An entry says which arguments are vectors, which relations and predicates must follow from the step's facts, what is
added, with what probability it may fail. Everything else about a step is decided over the reals.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from dpassay.proofs_check.formula import FormulaError, tree

from .language import put_in


@dataclass(frozen=True)
class Inference:
    """A template in its arguments' names: ``needs`` must follow surely, then ``adds`` is a fact."""

    arguments: str
    adds: str
    needs: tuple[str, ...] = ()
    failure: str = ""
    why: str = ""


INFERENCES: dict[str, Inference] = {
    # vectors
    "triangle": Inference("u v", "norm(u + v) <= norm(u) + norm(v)", why="triangle inequality"),
    "cauchy": Inference("u v", "abs(dot(u, v)) <= norm(u)*norm(v)", why="Cauchy and Schwarz"),
    # functions
    "smooth": Inference("F x y L", "F(y) <= F(x) + dot(grad(F, x), y - x) + L/2*norm(y - x)**2", ("smooth(F, L)",)),
    "lipschitz_gradient": Inference("F x y L", "norm(grad(F, x) - grad(F, y)) <= L*norm(x - y)", ("smooth(F, L)",)),
    "lipschitz": Inference("F x y L", "abs(F(x) - F(y)) <= L*norm(x - y)", ("lipschitz(F, L)",)),
    "convex": Inference("F x y", "F(y) >= F(x) + dot(grad(F, x), y - x)", ("convex(F)",)),
    "strongly_convex": Inference(
        "F x y mu", "F(y) >= F(x) + dot(grad(F, x), y - x) + mu/2*norm(y - x)**2", ("strongly_convex(F, mu)",)
    ),
    "minimum": Inference("F x y", "F(x) <= F(y)", ("minimises(x, F)",)),
    "strong_minimum": Inference(
        "F x y mu", "F(y) >= F(x) + mu/2*norm(y - x)**2", ("strongly_convex(F, mu)", "minimises(x, F)")
    ),
    # probability
    "jensen": Inference("q", "E(q)**2 <= E(q**2)", why="Jensen"),
    "markov": Inference("q p", "q*p <= E(q)", ("q >= 0", "p > 0"), "p", "Markov"),
    "chebyshev": Inference("q p", "(q - E(q))**2*p <= E(q**2) - E(q)**2", ("p > 0",), "p", "Chebyshev"),
    "independence": Inference("a b", "E(a*b) == E(a)*E(b)", ("independent(a, b)",)),
    # numbers
    "log_below": Inference("x", "log(x) <= x - 1", ("x > 0",), why="the logarithm lies below its tangent at 1"),
    "log_above": Inference("x", "log(x) >= 1 - 1/x", ("x > 0",), why="log(1/x) lies below its tangent at 1"),
    "log_increasing": Inference("x y", "log(x) <= log(y)", ("x > 0", "x <= y")),
    "log_orders": Inference("x y", "x <= y", ("x > 0", "y > 0", "log(x) <= log(y)")),
    "log_power": Inference("x a", "log(x**a) == a*log(x)", ("x > 0",)),
    "log_product": Inference("x y", "log(x*y) == log(x) + log(y)", ("x > 0", "y > 0")),
    "exp_above": Inference("x", "exp(x) >= 1 + x", why="the exponential lies above its tangent at 0"),
    "exp_below": Inference(
        "x b", "exp(x) <= 1 + x/b*(exp(b) - 1)", ("0 <= x", "x <= b", "b > 0"),
        why="the exponential lies below its chord from 0 to b",
    ),
    "exp_increasing": Inference("x y", "exp(x) <= exp(y)", ("x <= y",)),
    "exp_sum": Inference("x y", "exp(x + y) == exp(x)*exp(y)"),
    "sqrt_increasing": Inference("x y", "sqrt(x) <= sqrt(y)", ("0 <= x", "x <= y")),
    "order_transitive": Inference("a b c", "order(a, c)", ("order(a, b)", "order(b, c)")),
    "value": Inference("c", "c == c", why="constants are enclosed by rationals"),
    # privacy
    "gaussian": Inference(
        "A s sigma e d", "private(A, e, d)",
        ("move(A) <= s", "noise(A) >= sigma", "sigma*e >= s*sqrt(2*log(1.25/d))", "0 < e", "e <= 1", "0 < d", "d < 1"),
        why="Dwork and Roth 2014, Theorem A.1",
    ),
    "laplace": Inference(
        "A s b e", "private(A, e, 0)", ("move(A) <= s", "noise(A) >= b", "b*e >= s", "e > 0"),
        why="Dwork and Roth 2014, Theorem 3.6; move in the 1-norm",
    ),
    "basic_composition": Inference(
        "A e1 d1 B e2 d2", "private(pair(A, B), e1 + e2, d1 + d2)", ("private(A, e1, d1)", "private(B, e2, d2)"),
        why="Dwork and Roth 2014, Theorem 3.16; B may depend on A's output",
    ),
    "parallel": Inference(
        "A B e d", "private(pair(A, B), e, d)", ("private(A, e, d)", "private(B, e, d)", "disjoint(A, B)"),
    ),
    "post_processing": Inference("A B e d", "private(B, e, d)", ("private(A, e, d)", "function_of(B, A)")),
    "repeated": Inference(
        "A k e d", "private(repeat(A, k), k*e, k*d)", ("private(A, e, d)", "k >= 1"), why="basic composition, k times"
    ),
    "advanced_composition": Inference(
        "A k e d dp", "private(repeat(A, k), sqrt(2*k*log(1/dp))*e + k*e*(exp(e) - 1), k*d + dp)",
        ("private(A, e, d)", "e > 0", "0 < dp", "dp < 1"), why="Dwork and Roth 2014, Theorem 3.20",
    ),
    "concentrated": Inference(
        "A s sigma rho", "concentrated(A, rho)",
        ("move(A) <= s", "noise(A) >= sigma", "sigma > 0", "2*rho*sigma**2 >= s**2"),
        why="Bun and Steinke 2016, Proposition 1.6: Gaussian noise is rho-zCDP",
    ),
    "concentrated_pair": Inference(
        "A r1 B r2", "concentrated(pair(A, B), r1 + r2)", ("concentrated(A, r1)", "concentrated(B, r2)"),
        why="Bun and Steinke 2016, Lemma 1.7; B may depend on A's output",
    ),
    "concentrated_repeat": Inference(
        "A k rho", "concentrated(repeat(A, k), k*rho)", ("concentrated(A, rho)", "k >= 1"),
        why="Bun and Steinke 2016, Lemma 1.7, k times",
    ),
    "from_concentrated": Inference(
        "A rho d", "private(A, rho + 2*sqrt(rho*log(1/d)), d)", ("concentrated(A, rho)", "rho >= 0", "0 < d", "d < 1"),
        why="Bun and Steinke 2016, Proposition 1.3",
    ),
    "renyi_gaussian": Inference(
        "A s sigma a e", "renyi(A, a, e)",
        ("move(A) <= s", "noise(A) >= sigma", "sigma > 0", "2*e*sigma**2 >= a*s**2", "a > 1"),
        why="Mironov 2017, Corollary 3",
    ),
    "renyi_sampled": Inference(
        "A s sigma r a e", "renyi(A, a, e)",
        ("drawn(A, r)", "0 < r", "r <= 1", "move(A) <= s", "noise(A) >= sigma", "sigma**2 >= 5*s**2",
         "sigma**2 >= a*s**2", "e*sigma**2 >= 50*a*r**2*s**2", "a > 1"),
        why="Bun, Dwork, Rothblum and Steinke 2018, Theorem 11: 13 r^2 times the cost without sampling, r <= 1/10; "
        "for a larger r, 100 r^2 >= 1 times it",
    ),
    "renyi_pair": Inference(
        "A e1 B e2 a", "renyi(pair(A, B), a, e1 + e2)", ("renyi(A, a, e1)", "renyi(B, a, e2)"),
        why="Mironov 2017, Proposition 1; B may depend on A's output",
    ),
    "renyi_repeat": Inference(
        "A k a e", "renyi(repeat(A, k), a, k*e)", ("renyi(A, a, e)", "k >= 1"),
        why="Mironov 2017, Proposition 1, k times",
    ),
    "from_renyi": Inference(
        "A a e d", "private(A, e + log(1/d)/(a - 1), d)", ("renyi(A, a, e)", "a > 1", "0 < d", "d < 1"),
        why="Mironov 2017, Proposition 3",
    ),
    "weaker": Inference(
        "A e1 d1 e2 d2", "private(A, e2, d2)", ("private(A, e1, d1)", "e1 <= e2", "d1 <= d2"),
    ),
}  # fmt: skip
FAILING_GAUSSIAN = Inference("A s sigma e d f", "private(A, e, d + f)", INFERENCES["gaussian"].needs,
                             why="Dwork and Roth 2014, Theorem A.1, where the movement holds but for f")  # fmt: skip


@dataclass(frozen=True)
class Instance:
    """An inference with its arguments put in."""

    name: str
    needs: tuple[str, ...]
    adds: str
    failure: str
    allowed: str = ""  # probability with which the needed facts may fail


def instance(text: str) -> Instance:
    """``"cauchy(x - w, g)"`` with its side conditions and the fact that it adds.

    Raises:
        FormulaError: no such inference, or another number of arguments.
    """
    call = tree(text)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise FormulaError(f"by = {text!r}: expected name(arguments)")
    name, given = call.func.id, [ast.unparse(one) for one in call.args]
    if name == "expectation" and len(call.args) == 1 and isinstance(call.args[0], ast.Compare):
        left, *rest = [call.args[0].left, *call.args[0].comparators]
        operator = {ast.LtE: "<=", ast.GtE: ">=", ast.Eq: "=="}.get(type(call.args[0].ops[0]))
        if len(rest) != 1 or operator is None:
            raise FormulaError(f"by = {text!r}: one relation <=, >= or ==")
        return Instance(name, (given[0],), f"E({ast.unparse(left)}) {operator} E({ast.unparse(rest[0])})", "")
    found = INFERENCES.get(name)
    if name == "gaussian" and len(given) == 6:
        found = FAILING_GAUSSIAN
    if found is None:
        raise FormulaError(f"by = {text!r}: no such inference; there are expectation, {', '.join(INFERENCES)}")
    names = found.arguments.split()
    if len(names) != len(given):
        raise FormulaError(f"by = {text!r}: takes {found.arguments}, got {len(given)}")
    put = dict(zip(names, given, strict=True))
    return Instance(
        name, tuple(put_in(one, put) for one in found.needs), put_in(found.adds, put),
        put_in(found.failure, put) if found.failure else "", put.get("f", "") if found is FAILING_GAUSSIAN else "",
    )  # fmt: skip
