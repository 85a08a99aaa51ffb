"""The language of statements: text by a whitelist, into algebra (sympy) and into formulas of the solver (z3).

A scalar is a sympy expression over named symbols. Everything that is not arithmetic is an *atom*: a symbol whose name
is its text with its arguments in canonical form, so that ``F(x - w)`` and ``F(-w + x)`` are one atom. Vectors are
linear combinations of named ones; ``dot`` expands into atoms ``<u, v>`` and ``E`` into atoms
``E[...]`` of random monomials.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any

import mpmath
import sympy as sp
import z3

from dpassay.proofs_check.formula import Builder, FormulaError, tree

RELATIONS: dict[type[ast.cmpop], str] = {
    ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
SCALAR_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": sp.sqrt, "log": sp.log, "exp": sp.exp, "abs": sp.Abs, "min": sp.Min, "max": sp.Max, "floor": sp.floor,
    "ceil": sp.ceiling, "log2": lambda x: sp.log(x) / sp.log(2),
}  # fmt: skip
_COMPARE: dict[str, Callable[..., Any]] = {
    "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_EXACT = 3  # roots of numbers up to this one are known by their power, others by rationals around them
DIGITS = 12  # of the rationals that enclose the logarithm or exponential of a number
Vector = dict[str, Any]  # basis vector -> coefficient


@dataclass(frozen=True)
class Symbols:
    """What the names of a statement stand for; each is a set of names.

    ``positive`` and ``real`` are numbers, ``count`` whole numbers from 1; ``random`` ones differ from run to run;
    ``extended`` ones may be infinite or undefined; ``vectors`` and ``random_vectors`` are vectors.
    """

    positive: frozenset[str] = frozenset()
    real: frozenset[str] = frozenset()
    count: frozenset[str] = frozenset()
    random: frozenset[str] = frozenset()
    vectors: frozenset[str] = frozenset()
    random_vectors: frozenset[str] = frozenset()
    extended: frozenset[str] = frozenset()

    @property
    def declared(self) -> frozenset[str]:
        """Every name of a number or a vector."""
        return frozenset().union(*(getattr(self, one.name) for one in fields(self)))


@dataclass
class Language:
    """Reads formulas of one statement. ``atoms`` collects what is not arithmetic, ``random`` which of it is random."""

    symbols: Symbols
    atoms: dict[str, Any] = field(default_factory=dict)  # text -> sympy symbol
    random: set[str] = field(default_factory=set)
    lengths: dict[str, Vector] = field(default_factory=dict)  # name of a norm -> its vector
    products: dict[str, tuple[str, str]] = field(default_factory=dict)  # name of an inner product -> its vectors
    _cache: dict[str, Any] = field(default_factory=dict)
    _formulas: dict[str, z3.BoolRef] = field(default_factory=dict)
    _parts: dict[str, list[Any]] = field(default_factory=dict)
    _laws: dict[Any, list[z3.BoolRef]] = field(default_factory=dict)
    _differences: dict[str, Any] = field(default_factory=dict)
    decided: dict[Any, Any] = field(default_factory=dict)  # (claim, facts) -> decision: repairs repeat steps
    consistent: list[set[str]] = field(default_factory=lambda: [set()])  # formulas that are possible together

    def __post_init__(self) -> None:
        self.random |= self.symbols.random
        for name in self.symbols.positive | self.symbols.count | self.symbols.extended:
            self.atoms[name] = sp.Symbol(name, positive=True)
        for name in self.symbols.real | (self.symbols.random - self.symbols.positive):
            self.atoms[name] = sp.Symbol(name, real=True)

    # FORMULAS

    def formula(self, text: str | ast.expr) -> z3.BoolRef:
        """A relation, predicate or a combination of them, for the solver."""
        if not isinstance(text, str):
            return self._boolean(text)
        if text not in self._formulas:
            self._formulas[text] = self._boolean(tree(text))
        return self._formulas[text]

    def _boolean(self, node: ast.expr) -> z3.BoolRef:
        if isinstance(node, ast.BoolOp):
            word = z3.And if isinstance(node.op, ast.And) else z3.Or
            return word(*(self._boolean(value) for value in node.values))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return z3.Not(self._boolean(node.operand))
        if isinstance(node, ast.Compare):
            return z3.And(*(self._related(*one) for one in pairs(node)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "implies" and len(node.args) == 2:
                return z3.Implies(self._boolean(node.args[0]), self._boolean(node.args[1]))
            if node.func.id not in SCALAR_FUNCTIONS:
                return z3.Bool(self.predicate(node))
        raise FormulaError(f"formula = {ast.unparse(node)!r}: expected a relation or a predicate")

    def predicate(self, node: ast.Call | str) -> str:
        """The canonical text of a predicate."""
        call = tree(node) if isinstance(node, str) else node
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
            raise FormulaError(f"formula = {ast.unparse(call)!r}: expected name(arguments)")
        return f"{call.func.id}({', '.join(self._argument(one) for one in call.args)})"

    def _related(self, left: ast.expr, relation: str, right: ast.expr) -> z3.BoolRef:
        zero = self.real(self._difference(left, right))
        return _COMPARE[relation](zero, 0)

    def _difference(self, left: ast.expr, right: ast.expr) -> Any:
        """An expression with the sign of ``left - right``: without its denominator where that is positive."""
        key = f"{ast.unparse(left)} - ({ast.unparse(right)})"
        if key not in self._differences:
            difference = self.scalar(left) - self.scalar(right)
            top, bottom = sp.fraction(sp.together(difference))
            if bottom.is_negative:
                top, bottom = -top, -bottom
            self._differences[key] = top if bottom.is_positive else difference
        return self._differences[key]

    # SCALARS

    def scalar(self, node: ast.expr | str) -> Any:
        """A number as a sympy expression.

        Raises:
            FormulaError: an undeclared name, a vector where a number is needed, or a construct outside the whitelist.
        """
        if isinstance(node, str):
            node = tree(node)
        key = ast.unparse(node)
        if key not in self._cache:
            value = sp.expand_log(_Scalars(key, self).build(node))
            self._cache[key] = sp.expand_power_exp(value)  # q**(k + 1) is q*q**k
        return self._cache[key]

    def _named(self, name: str) -> Any:
        if name in self.symbols.vectors | self.symbols.random_vectors:
            raise FormulaError(f"{name} is a vector, and a number is needed")
        if name not in self.atoms:
            raise FormulaError(f"unknown name {name!r}: declare it under [symbols]")
        return self.atoms[name]

    def _called(self, name: str, node: ast.Call) -> Any:
        if name in SCALAR_FUNCTIONS:
            return SCALAR_FUNCTIONS[name](*(self.scalar(one) for one in node.args))
        if name == "norm" and len(node.args) == 1:
            return self.norm(self.vector(node.args[0]))
        if name == "dot" and len(node.args) == 2:
            return self.dot(self.vector(node.args[0]), self.vector(node.args[1]))
        if name == "E" and len(node.args) == 1:
            return self.expectation(self.scalar(node.args[0]))
        text = f"{name}({', '.join(self._argument(one) for one in node.args)})"
        return self.atom(text, any(self._is_random(one) for one in node.args))

    def atom(self, text: str, random: bool = False, *, nonnegative: bool = False) -> Any:
        """The symbol that stands for this text."""
        if text not in self.atoms:
            self.atoms[text] = sp.Symbol(text, nonnegative=True) if nonnegative else sp.Symbol(text, real=True)
        if random:
            self.random.add(text)
        return self.atoms[text]

    def _argument(self, node: ast.expr) -> str:
        """An argument in canonical form: a vector, a number, or a bare name of something else."""
        if isinstance(node, ast.Compare):
            return ast.unparse(node)
        if self._is_vector(node):
            return _text(self.vector(node))
        if isinstance(node, ast.Name) and node.id not in self.atoms:
            return node.id  # the name of a function, a mechanism, an event
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in SCALAR_FUNCTIONS:
            if node.func.id in ("norm", "dot", "E"):
                return str(self.scalar(node))
            return f"{node.func.id}({', '.join(self._argument(one) for one in node.args)})"
        return str(sp.expand(self.scalar(node)))

    def _is_random(self, node: ast.expr) -> bool:
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        return bool(names & (self.symbols.random | self.symbols.random_vectors))

    # VECTORS

    def _is_vector(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.symbols.vectors | self.symbols.random_vectors
        if isinstance(node, ast.UnaryOp):
            return self._is_vector(node.operand)
        if isinstance(node, ast.BinOp):
            left = self._is_vector(node.left)
            return left or (isinstance(node.op, ast.Add | ast.Sub | ast.Mult) and self._is_vector(node.right))
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "grad"

    def vector(self, node: ast.expr | str) -> Vector:
        """A linear combination of named vectors and gradients ``grad(F, x)``; ``0`` is the zero vector."""
        if isinstance(node, str):
            node = tree(node)
        if isinstance(node, ast.Constant) and node.value == 0:
            return {}
        if isinstance(node, ast.Name) and node.id in self.symbols.vectors | self.symbols.random_vectors:
            return {node.id: sp.Integer(1)}
        if isinstance(node, ast.Call) and self._is_vector(node):
            name = f"grad({', '.join(self._argument(one) for one in node.args)})"
            if self._is_random(node):
                self.random.add(name)
            return {name: sp.Integer(1)}
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return _scaled(self.vector(node.operand), sp.Integer(-1))
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Add | ast.Sub):
                sign = sp.Integer(1 if isinstance(node.op, ast.Add) else -1)
                return _sum(self.vector(node.left), _scaled(self.vector(node.right), sign))
            if isinstance(node.op, ast.Mult) and self._is_vector(node.right):
                return _scaled(self.vector(node.right), self.scalar(node.left))
            if isinstance(node.op, ast.Mult | ast.Div) and self._is_vector(node.left):
                factor = self.scalar(node.right)
                return _scaled(self.vector(node.left), factor if isinstance(node.op, ast.Mult) else 1 / factor)
        raise FormulaError(f"formula = {ast.unparse(node)!r}: a vector is needed (declare it under [symbols] vectors)")

    def dot(self, u: Vector, v: Vector) -> Any:
        """The inner product, expanded over the named vectors."""
        total = sp.Integer(0)
        for one, a in u.items():
            for two, b in v.items():
                first, second = sorted((one, two))
                random = bool({first, second} & (self.symbols.random_vectors | self.random))
                name = f"<{first}, {second}>"
                self.products[name] = (first, second)
                total += a * b * self.atom(name, random, nonnegative=first == second)
        return total

    def norm(self, u: Vector) -> Any:
        """The length; ``norm(-u)`` and ``norm(u)`` are one symbol."""
        if not u:
            return sp.Integer(0)
        text = min(_text(u), _text(_scaled(u, sp.Integer(-1))))
        name = f"|{text}|"
        self.lengths.setdefault(name, u)
        return self.atom(name, bool(set(u) & (self.symbols.random_vectors | self.random)), nonnegative=True)

    # EXPECTATION

    def expectation(self, inside: Any) -> Any:
        """Linear: sums and public factors come out; what is left are atoms ``E[random monomial]``."""
        squares = {
            self.atoms[name] ** (2 * power): self.dot(vector, vector) ** power
            for name, vector in self.lengths.items()
            for power in (1, 2)
        }
        inside = sp.expand(sp.expand(inside).xreplace(squares))
        symbols = [self.atoms[name] for name in self.random if name in self.atoms]
        total = sp.Integer(0)
        for term in sp.Add.make_args(inside):
            public, random = term.as_independent(*symbols, as_Add=False)
            total += public if random == 1 else public * self._mean(random)
        return total

    def _mean(self, monomial: Any) -> Any:
        even = all(factor.is_nonnegative for factor in sp.Mul.make_args(monomial))
        return self.atom(f"E[{monomial}]", nonnegative=bool(even))

    # THE SOLVER

    def real(self, expression: Any) -> z3.ArithRef:
        """A sympy expression for the solver; roots and functions become names, which :meth:`laws` defines."""
        if expression.is_Rational:
            return z3.RealVal(str(expression))
        if expression.is_Symbol:
            return z3.Real(expression.name)
        if expression.is_Add or expression.is_Mul:
            parts = [self.real(one) for one in expression.args]
            return z3.Sum(parts) if expression.is_Add else z3.Product(parts)
        if expression.is_Pow:
            return self._power(expression)
        if expression.func in (sp.Max, sp.Min):
            first, *rest = [self.real(one) for one in expression.args]
            for one in rest:
                larger = first >= one if expression.func is sp.Max else first <= one
                first = z3.If(larger, first, one)
            return first
        if expression.func is sp.Abs:
            inside = self.real(expression.args[0])
            return z3.If(inside >= 0, inside, -inside)
        return z3.Real(str(expression))  # log, exp, floor, ceiling, pi: opaque, see `laws`

    def _power(self, expression: Any) -> z3.ArithRef:
        base, exponent = expression.args
        if not exponent.is_Rational:
            return z3.Real(str(expression))
        numerator, denominator = int(exponent.p), int(exponent.q)
        value = self.real(base) if denominator == 1 else z3.Real(str(base ** sp.Rational(1, denominator)))
        whole = z3.Product([value] * abs(numerator)) if abs(numerator) > 1 else value
        return 1 / whole if numerator < 0 else whole

    def laws(self, texts: Sequence[str]) -> list[z3.BoolRef]:
        """What is always known of the symbols, roots, lengths and functions in these formulas."""
        parts = {part: None for text in texts for part in self._parts_of(text)}
        for part in parts:
            if part not in self._laws:
                self._laws[part] = self._laws_of(part)
        return [law for part in sorted(parts, key=str) for law in self._laws[part]]

    def _laws_of(self, part: Any) -> list[z3.BoolRef]:
        found: list[z3.BoolRef] = []
        if part.is_Symbol:
            found += self._of_symbol(part)
        elif part.is_Pow and part.is_number and part.args[1].is_Rational and part.args[1].q > _EXACT:
            found += _enclosed(part.args[0] ** sp.Rational(1, part.args[1].q))
        elif part.is_Pow and part.args[1].is_Rational and part.args[1].q > 1:
            root, inside = z3.Real(str(part.args[0] ** sp.Rational(1, part.args[1].q))), self.real(part.args[0])
            holds = z3.And(root >= 0, z3.Product([root] * int(part.args[1].q)) == inside)
            found.append(holds if part.args[0].is_positive else z3.Implies(inside >= 0, holds))
        elif part.is_Pow and not part.args[1].is_Rational and part.args[0].is_positive:
            found.append(z3.Real(str(part)) > 0)
        elif part.func in (sp.floor, sp.ceiling):
            inside, whole = self.real(part.args[0]), z3.Real(str(part))
            found.append(z3.And(whole <= inside, inside < whole + 1) if part.func is sp.floor else
                         z3.And(inside <= whole, whole < inside + 1))  # fmt: skip
        elif part.func is sp.exp or part.is_NumberSymbol:
            found.append(z3.Real(str(part)) > 0)
        if (part.func in (sp.log, sp.exp) and part.is_number) or part.is_NumberSymbol:
            found += _enclosed(part)
        return found

    def _of_symbol(self, part: Any) -> list[z3.BoolRef]:
        name, variable = part.name, z3.Real(part.name)
        found = []
        if part.is_positive:
            found.append(variable > 0)
        elif part.is_nonnegative:
            found.append(variable >= 0)
        if name in self.symbols.count:
            found.append(variable >= 1)
        if name in self.lengths:
            square = self.dot(self.lengths[name], self.lengths[name])
            found.append(variable * variable == self.real(sp.expand(square)))
        return found

    def _parts_of(self, text: str) -> list[Any]:
        """What is no sum, product or number in a formula; of lengths what they are made of too."""
        if text not in self._parts:
            self._parts[text] = list(dict.fromkeys(
                part for one in self._expressions_of(text) for part in sp.preorder_traversal(one)
                if not (part.is_Add or part.is_Mul or part.is_Rational)
            ))  # fmt: skip
        return self._parts[text]

    def _expressions_of(self, text: str) -> list[Any]:
        found = [self.scalar(side) for node in ast.walk(tree(text)) if isinstance(node, ast.Compare)
                 for side in (node.left, *node.comparators)]  # fmt: skip
        found += [self._difference(left, right) for node in ast.walk(tree(text)) if isinstance(node, ast.Compare)
                  for left, _, right in pairs(node)]  # fmt: skip
        names = {str(one) for expression in found for one in expression.free_symbols}
        squares = [self.dot(self.lengths[name], self.lengths[name]) for name in sorted(names & set(self.lengths))]
        return found + squares


class _Scalars(Builder):
    """Arithmetic as in every formula; names and calls are those of a statement."""

    def __init__(self, text: str, language: Language) -> None:
        super().__init__(text, {})
        self.language = language

    def build(self, node: ast.expr) -> Any:
        """A number as a sympy expression."""
        if isinstance(node, ast.Name):
            return self.language._named(node.id)
        return super().build(node)

    def _call(self, node: ast.Call) -> Any:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise FormulaError(f"formula = {self.text!r}: expected name(arguments)")
        return self.language._called(node.func.id, node)


def pairs(node: ast.Compare) -> Iterator[tuple[ast.expr, str, ast.expr]]:
    """The relations of a chain ``a <= b <= c``."""
    for left, kind, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
        if type(kind) not in RELATIONS:
            raise FormulaError(f"formula = {ast.unparse(node)!r}: {type(kind).__name__} is not allowed")
        yield left, RELATIONS[type(kind)], right


def names_of(*texts: str) -> set[str]:
    """Every name that occurs, those of functions as well."""
    return {node.id for text in texts for node in ast.walk(tree(text)) if isinstance(node, ast.Name)}


def put_in(text: str, values: Mapping[str, str]) -> str:
    """The formula with expressions in the place of names, of functions too; all at once, so that none is put twice."""
    replacements = {name: tree(value) for name, value in values.items()}

    class Put(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return replacements.get(node.id, node)

    return ast.unparse(Put().visit(tree(text)))


def _enclosed(part: Any) -> list[z3.BoolRef]:
    """A constant between two rationals."""
    with mpmath.workdps(DIGITS + 20):
        value = Fraction(str(mpmath.nstr(mpmath.mpf(sp.N(part, DIGITS + 20)), DIGITS + 15)))
    margin = Fraction(1, 10**DIGITS) * max(Fraction(1), abs(value))
    low, high = (Fraction(round(end * 10**DIGITS * 10), 10**DIGITS * 10) for end in (value - margin, value + margin))
    name = z3.Real(str(part))
    return [name >= z3.RealVal(str(low)), name <= z3.RealVal(str(high))]


def _text(vector: Vector) -> str:
    terms = sorted((name, sp.expand(coefficient)) for name, coefficient in vector.items())
    return " + ".join(name if value == 1 else f"({value})*{name}" for name, value in terms) or "0"


def _scaled(vector: Vector, factor: Any) -> Vector:
    return {name: coefficient * factor for name, coefficient in vector.items()}


def _sum(one: Vector, two: Vector) -> Vector:
    total = {name: sp.expand(one.get(name, 0) + two.get(name, 0)) for name in {**one, **two}}
    return {name: value for name, value in total.items() if value != 0}
