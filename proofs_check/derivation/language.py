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
from fractions import Fraction
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

import mpmath
import sympy as sp
import z3

from dpassay.proofs_check.formula import FUNCTIONS, Builder, FormulaError, refused, tree
from dpassay.proofs_check.formula import RELATIONS as COMPARED

from .model import Symbols

RELATIONS = {**COMPARED, ast.NotEq: "!="}
SCALAR_FUNCTIONS = {"sqrt", "log", "exp", "abs", "min", "max", "floor", "ceil", "log2"}
_VALUES = {*SCALAR_FUNCTIONS, "norm", "dot", "E", "grad"}  # calls that are numbers or vectors wherever they stand
_COMPARE: dict[str, Callable[..., Any]] = {
    "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_EXACT = 3  # roots of numbers up to this one are known by their power, others by rationals around them
DIGITS = 12  # of the rationals that enclose the logarithm or exponential of a number
Vector = dict[str, Any]  # name of a vector -> its coefficient
Made = TypeVar("Made", bound=Callable[..., Any])


def once(make: Made) -> Made:
    """The method, which makes each thing once for a language; a part of a formula is known by its text."""

    @wraps(make)
    def asked(self: Language, *given: Any) -> Any:
        key = (make.__name__, *(_written(one) if isinstance(one, ast.AST) else one for one in given))
        if key not in self.made:
            self.made[key] = make(self, *given)
        return self.made[key]

    return cast(Made, asked)


class Language(Builder):
    """Reads formulas of one statement.

    ``table`` has the symbol of each name and atom by its text, ``random`` those that differ from run to run,
    ``lengths`` the vector of each norm, ``products`` the two vectors of each inner product.
    """

    def __init__(self, symbols: Symbols) -> None:
        super().__init__({})
        self.symbols, self.random = symbols, set(symbols.random)
        self.lengths: dict[str, Vector] = {}
        self.products: dict[str, tuple[str, str]] = {}
        self.consistent: list[set[str]] = [set()]  # formulas that are possible together
        self.tactic = z3.Tactic("default", ctx=z3.Context())  # of its own: what was asked before changes no model
        self._vectors = {name: sp.Symbol(name, real=True) for name in sorted(symbols.vectors | symbols.random_vectors)}
        self.made: dict[Any, Any] = {}
        for name in sorted(symbols.positive | symbols.count | symbols.extended):
            self.table[name] = sp.Symbol(name, positive=True)
        for name in sorted(symbols.real | (symbols.random - symbols.positive)):
            self.table[name] = sp.Symbol(name, real=True)

    # FORMULAS

    def formula(self, text: str) -> z3.BoolRef:
        """A relation, predicate or a combination of them, for the solver."""
        return self._boolean(tree(text))

    @once
    def _boolean(self, node: ast.expr) -> z3.BoolRef:
        if isinstance(node, ast.BoolOp):
            word = z3.And if isinstance(node.op, ast.And) else z3.Or
            return word(*map(self._boolean, node.values))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return z3.Not(self._boolean(node.operand))
        if isinstance(node, ast.Compare):
            related = [(self._difference(left, right), word) for left, word, right in pairs(node)]
            return z3.And(*(_COMPARE[word](self.real(difference), 0) for difference, word in related))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "implies" and len(node.args) == 2:
                return z3.Implies(self._boolean(node.args[0]), self._boolean(node.args[1]))
            if node.func.id not in SCALAR_FUNCTIONS:
                return z3.Bool(self.predicate(node))
        raise refused(node, "expected a relation or a predicate")

    def predicate(self, call: ast.expr) -> str:
        """The canonical text of a predicate."""
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
            raise refused(call, "expected name(arguments)")
        return f"{call.func.id}({', '.join(self._argument(one) for one in call.args)})"

    @once
    def _difference(self, left: ast.expr, right: ast.expr) -> Any:
        """An expression with the sign of ``left - right``: without its denominator where that is positive."""
        difference = self.scalar(left) - self.scalar(right)
        if all(power.exp.is_Integer and power.exp > 0 for power in difference.atoms(sp.Pow, sp.exp)):
            return difference  # a polynomial
        top, bottom = sp.fraction(sp.together(difference))
        return top if bottom.is_positive else -top if bottom.is_negative else difference

    def cancelled(self, text: str) -> list[str]:
        """Divisors that may be 0 and that algebra took out of the formula, as in ``x/x == 1``."""
        found = []
        for node in (node for node in ast.walk(tree(text)) if isinstance(node, ast.BinOp)):
            if isinstance(node.op, ast.Div) and not isinstance(node.right, ast.Constant):
                bases = {one for one in self.scalar(node.right).as_powers_dict() if one.is_zero is None}
                powers = [part.args for part in sp.preorder_traversal(self.build(node)) if part.is_Pow]
                left = {base for base, exponent in powers if exponent.could_extract_minus_sign()}
                found += [ast.unparse(node.right)] * (not bases <= left)
        return found

    # SCALARS

    @once
    def scalar(self, node: ast.expr) -> Any:
        """A number as a sympy expression.

        Raises:
            FormulaError: an undeclared name, a vector where a number is needed, or a construct outside the whitelist.
        """
        value = self.build(node)
        vectors = sorted(value.free_symbols & set(self._vectors.values()), key=str)
        if vectors:
            raise FormulaError(f"{vectors[0]} is a vector, and a number is needed")
        return sp.expand_power_exp(sp.expand_log(value))  # q**(k + 1) is q*q**k

    def build(self, node: ast.expr) -> Any:
        """A number or a vector as a sympy expression."""
        if isinstance(node, ast.Name):
            if node.id not in self.table and node.id not in self._vectors:
                raise FormulaError(f"unknown name {node.id!r}: declare it under [symbols]")
            return self._vectors.get(node.id) or self.table[node.id]
        return super().build(node)

    def _operation(self, node: ast.BinOp, left: Any, right: Any) -> Any:
        """Vectors are added to vectors, and multiplied or divided by numbers; asked before anything cancels."""
        one, other = (bool(side.free_symbols & set(self._vectors.values())) for side in (left, right))
        mixed = one != other and 0 not in (left, right)
        if isinstance(node.op, ast.Add | ast.Sub) and mixed:
            raise refused(node, "a vector and a number are added")
        if not isinstance(node.op, ast.Add | ast.Sub) and (
            (other and (one or not isinstance(node.op, ast.Mult))) or (one and isinstance(node.op, ast.Pow))
        ):
            raise refused(node, "a vector is multiplied or divided by numbers only")
        return super()._operation(node, left, right)

    @once
    def _call(self, node: ast.Call) -> Any:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise refused(node, "expected name(arguments)")
        name = node.func.id
        if name in SCALAR_FUNCTIONS:
            return FUNCTIONS[name][1](*(self.scalar(one) for one in node.args))
        if name == "norm" and len(node.args) == 1:
            return self.norm(self.vector(node.args[0]))
        if name == "dot" and len(node.args) == 2:
            return self.dot(self.vector(node.args[0]), self.vector(node.args[1]))
        if name == "E" and len(node.args) == 1:
            return self.expectation(self.scalar(node.args[0]))
        text = f"{name}({', '.join(self._argument(one) for one in node.args)})"
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        random = bool(names & (self.symbols.random | self.symbols.random_vectors))
        if name == "grad":
            self.random |= {text} if random else set()
            return self._vectors.setdefault(text, sp.Symbol(text, real=True))
        return self.atom(text, random)

    def atom(self, text: str, random: bool = False, *, nonnegative: bool = False) -> Any:
        """The symbol that stands for this text."""
        if text not in self.table:
            self.table[text] = sp.Symbol(text, nonnegative=True) if nonnegative else sp.Symbol(text, real=True)
        if random:
            self.random.add(text)
        return self.table[text]

    def _argument(self, node: ast.expr) -> str:
        """An argument in canonical form: a vector, a number, or a bare name of something else."""
        if isinstance(node, ast.Compare):
            return ast.unparse(node)
        if isinstance(node, ast.Name) and node.id not in self.table and node.id not in self._vectors:
            return node.id  # the name of a function, a mechanism, an event
        if isinstance(node, ast.Call) and ast.unparse(node.func) not in _VALUES:
            return f"{ast.unparse(node.func)}({', '.join(self._argument(one) for one in node.args)})"
        if self.build(node).free_symbols & set(self._vectors.values()):
            return _text(self.vector(node))
        return str(sp.expand(self.scalar(node)))

    # VECTORS

    @once
    def vector(self, node: ast.expr) -> Vector:
        """A linear combination of named vectors and gradients ``grad(F, x)``; ``0`` is the zero vector."""
        whole = sp.expand(self.build(node))
        found = {name: whole.coeff(one) for name, one in self._vectors.items() if whole.has(one)}
        rest = sp.expand(whole - sum(self._vectors[name] * part for name, part in found.items()))
        if rest != 0 or any(part.has(*self._vectors.values()) for part in found.values()):
            raise refused(node, "a vector is needed (declare it under [symbols] vectors)")
        return found

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
        text = min(_text(u), _text({one: -part for one, part in u.items()}))
        name = f"|{text}|"
        self.lengths.setdefault(name, u)
        return self.atom(name, bool(set(u) & (self.symbols.random_vectors | self.random)), nonnegative=True)

    # EXPECTATION

    def expectation(self, inside: Any) -> Any:
        """Linear: sums and public factors come out; what is left are atoms ``E[random monomial]``."""
        squares = {
            self.table[name] ** (2 * power): self.dot(vector, vector) ** power
            for name, vector in self.lengths.items()
            for power in (1, 2)
        }
        inside = sp.expand(sp.expand(inside).xreplace(squares))
        symbols = [self.table[name] for name in self.random if name in self.table]
        total = sp.Integer(0)
        for term in sp.Add.make_args(inside):
            public, random = term.as_independent(*symbols, as_Add=False)
            even = all(factor.is_nonnegative for factor in sp.Mul.make_args(random))
            total += public if random == 1 else public * self.atom(f"E[{random}]", nonnegative=even)
        return total

    # THE SOLVER

    @once
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
        parts = {name: part for text in texts for name, part in self._parts_of(text).items()}
        return [law for name in sorted(parts) for law in self._laws_of(parts[name])]

    @once
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

    @once
    def _parts_of(self, text: str) -> dict[str, Any]:
        """What is no sum, product or number in a formula, by its text; of lengths what they are made of too."""
        related = [(left, right) for node in ast.walk(tree(text)) if isinstance(node, ast.Compare)
                   for left, _, right in pairs(node)]  # fmt: skip
        found = [self.scalar(side) for sides in related for side in sides]
        found += [self._difference(*sides) for sides in related]
        names = {str(one) for expression in found for one in expression.free_symbols}
        found += [self.dot(self.lengths[name], self.lengths[name]) for name in sorted(names & set(self.lengths))]
        parts = dict.fromkeys(part for one in found for part in sp.preorder_traversal(one))
        return {part.name if part.is_Symbol else str(part): part for part in parts
                if not (part.is_Add or part.is_Mul or part.is_Rational)}  # fmt: skip


def pairs(node: ast.Compare) -> Iterator[tuple[ast.expr, str, ast.expr]]:
    """The relations of a chain ``a <= b <= c``."""
    for left, kind, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
        if type(kind) not in RELATIONS:
            raise refused(node, f"{type(kind).__name__} is not allowed")
        yield left, RELATIONS[type(kind)], right


def conjuncts(node: ast.expr) -> list[ast.expr]:
    """The parts of ``a and b``; of anything else itself."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return [part for value in node.values for part in conjuncts(value)]
    return [node]


@lru_cache(maxsize=4096)  # the same facts are asked again and again
def pieces(text: str) -> tuple[str, ...]:
    """The parts of ``a and b`` as text."""
    return tuple(map(ast.unparse, conjuncts(tree(text))))


_written = lru_cache(maxsize=20_000)(ast.unparse)  # of a part of a formula, by its identity


def names_of(*texts: str) -> set[str]:
    """Every name that occurs, those of functions as well."""
    return set().union(*map(_names_in, texts))


@lru_cache(maxsize=4096)  # the same facts are asked again and again
def _names_in(text: str) -> set[str]:
    return {node.id for node in ast.walk(tree(text)) if isinstance(node, ast.Name)}


def put_in(text: str, values: Mapping[str, str]) -> str:
    """The formula with expressions in the place of names, of functions too; all at once, so that none is put twice."""
    return ast.unparse(_Put(values).visit(tree.__wrapped__(text)))


class _Put(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, str]) -> None:
        self.replacements = {name: tree(value) for name, value in values.items()}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.replacements.get(node.id, node)


def over(text: str) -> tuple[str, str]:
    """Of ``induction(k, 0)`` the name, which stands for every whole number from the first one on, and that one."""
    call = tree(text)
    if not (isinstance(call, ast.Call) and len(call.args) == 2 and ast.unparse(call.args[1]).isdigit()):
        raise FormulaError(f"by = {text!r}: write induction(k, first), where the first one is a whole number")
    return ast.unparse(call.args[0]), ast.unparse(call.args[1])


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
