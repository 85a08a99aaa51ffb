"""The source of code while it is certified: private decisions as choices between values, written by `choices`.

- ``if norm > c: g = g * c / norm`` gives `g` one of two values, as ``np.where`` does. Both ways are computed, so they
  may only assign to names. Where the norm is a released number, that saves a run for each of both ways.
- ``total += x`` in such a way, or ``counts[k] += x``, adds x or zero; a factor is x or one.
- ``if norm > c: return g * c / norm`` before ``return g`` returns one of two values.
- ``and``, ``or``, ``not`` of private truth values are NumPy's; ``continue`` leaves the rest to the other way.
- ``counts[label] += x`` adds to the entry at a private place.
- ``[f(x) for x in rows[mask]]`` and a ``for`` loop whose turns only add to names are asked for all records at once.

Every other statement stays as it is, and a private truth value in it ends the certificate.
"""

from __future__ import annotations

import ast
import copy
import linecache
from collections import Counter
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from .rewritten import (
    adds_to_entry,
    at,
    by_expressions,
    can_be_read_again,
    gives_value,
    name_of,
    one_return,
    without_continue,
)

_NEUTRAL: dict[Any, tuple[str, str]] = {
    ast.Add: ("+", "0"),
    ast.Sub: ("-", "0"),
    ast.Mult: ("*", "1"),
    ast.Div: ("/", "1"),
}
_SCOPES = (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


class _Converter(ast.NodeTransformer):
    """Rewrites one module; what it adds are names that begin with `_dpassay_`."""

    def __init__(self) -> None:
        self._made = 0
        self._inside = 0  # functions around
        self._elsewhere: set[str] = set()  # names of this function that are no business of its own

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Names of a class body cannot be seen from a lambda."""
        before, self._elsewhere = self._elsewhere, _read_elsewhere(node)
        node.body = one_return(node.body)
        self._inside += 1
        self.generic_visit(node)
        self._inside -= 1
        self._elsewhere = before
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """Its methods are functions again."""
        inside, self._inside = self._inside, 0
        self.generic_visit(node)
        self._inside = inside
        return node

    def visit_If(self, node: ast.If) -> Any:
        """As a choice where the test is private, and as it is written elsewhere."""
        self._made += 1
        ways = [self._without_decisions(copy.deepcopy(one)) for one in (node.body, node.orelse)]
        self.generic_visit(node)
        first, second = map(_Way.of, ways)
        if not self._inside or first is None or second is None or not _alike(first, second):
            return node
        if self._elsewhere & (first.names | first.changed | second.names | second.changed):
            return node
        self._made += 1
        name = f"_dpassay_{self._made}_"
        converted = ([self.visit(one) for one in way] for way in ways)
        lines = _chosen(name, [way.as_in(new) for way, new in zip((first, second), converted, strict=True)])
        truth = _placed(ast.parse(f"{name} = None").body[0], node)
        truth.value = self._condition(node.test)
        test = _placed(ast.parse(f"_dpassay_private({name})", mode="eval").body, node)
        chosen = [_placed(ast.parse(text).body[0], place or node) for text, place in lines]
        plainly = ast.If(ast.Name(name, ast.Load()), node.body, node.orelse)
        made = [truth, ast.If(test, chosen or [ast.Pass()], [plainly])]
        return [at(node, one) for one in made]

    def _without_decisions(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Decisions between new values of names as expressions; each test is made once."""
        found: list[Any] = []
        for one in body:
            ways = [self._without_decisions(way) for way in (one.body, one.orelse)] if isinstance(one, ast.If) else []
            if not isinstance(one, ast.If) or not all(gives_value(line) for way in ways for line in way):
                found.append(one)
                continue
            self._made += 1
            name = f"_dpassay_{self._made}_t"
            found.append(at(one, ast.Assign([ast.Name(name, ast.Store())], one.test)))
            found += by_expressions(name, *ways)
        return found

    def _condition(self, test: Any) -> Any:
        """Truth values that are private are joined as NumPy's; others as they are written."""
        if any(isinstance(one, _SCOPES[1:]) for one in ast.walk(test)):
            return test
        if isinstance(test, ast.Compare) and len(test.ops) == 2 and can_be_read_again(test.comparators[0]):
            middle, last = test.comparators
            both = ast.Compare(test.left, test.ops[:1], [middle]), ast.Compare(middle, test.ops[1:], [last])
            test = at(test, ast.BoolOp(ast.And(), list(both)))
        if isinstance(test, ast.BoolOp):
            every = ast.Constant(isinstance(test.op, ast.And))
            return _called(
                "_dpassay_joined", [every, *(_lambda([], self._condition(one)) for one in test.values)], test
            )
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return _called("_dpassay_not", [self._condition(test.operand)], test)
        return test

    def visit_Assign(self, node: ast.Assign) -> Any:
        """What is written into an array is asked for, since NumPy writes numbers without a word."""
        self.generic_visit(node)
        of = node.targets[0]
        if self._inside and len(node.targets) == 1 and isinstance(of, ast.Subscript) and _is_named(of.value):
            node.value = _called("_dpassay_into", [copy.deepcopy(of.value), node.value], node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """What is added to an entry may stand at a private place."""
        self.generic_visit(node)
        of = node.target
        scopes = any(isinstance(one, _SCOPES[1:]) for one in ast.walk(node))
        if not self._inside or scopes or not isinstance(of, ast.Subscript) or type(node.op) not in (ast.Add, ast.Sub):
            return node
        if any(isinstance(one, ast.Slice) for one in (of.slice, *ast.iter_child_nodes(of.slice))):
            return node
        plus = ast.Constant(type(node.op) is ast.Add)
        return at(node, ast.Expr(_called("_dpassay_added", [of.value, of.slice, node.value, plus], node)))

    def visit_For(self, node: ast.For) -> Any:
        """Over a private number of records once for all, and as it is written elsewhere."""
        node.body = without_continue(node.body)
        body, names = self._without_decisions(copy.deepcopy(node.body)), _names(node.target)
        way = _Way.of(body)
        self.generic_visit(node)
        if not self._inside or way is None or names is None or node.orelse or not way.of_each(names):
            return node
        if self._elsewhere & {*names, *way.names, *way.changed}:
            return node
        way.as_in([self.visit(one) for one in body])
        self._made += 1
        name = f"_dpassay_{self._made}_"
        lines: list[tuple[str, ast.stmt]] = [(f"{', '.join(names)} = _dpassay_record({name})", node)]
        for one in way.lines:
            lines.append((f"{one.name if one.kind is None else name + one.name} = {one.text}", one.place))
        lines.append(("_dpassay_computed()", node))
        for one in way.added.values():
            lines.append((one.onto(f"_dpassay_all({name}, {name}{one.name})"), one.place))
        for gone in sorted({*names, *way.names}):  # it had whatever the last record gave it
            lines.append((f"{gone} = _dpassay_missing", node))
        truth = _placed(ast.parse(f"{name} = None").body[0], node)
        truth.value, node.iter = node.iter, _placed(ast.Name(name, ast.Load()), node)
        test = _placed(ast.parse(f"_dpassay_secret({name})", mode="eval").body, node)
        once = [_placed(ast.parse(text).body[0], place) for text, place in lines]
        return [truth, at(node, ast.If(test, once, [node]))]

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """As a choice where the test is private."""
        self.generic_visit(node)
        if not self._inside or any(isinstance(one, _SCOPES[1:]) for one in ast.walk(node)):
            return node
        arguments = [self._condition(node.test), _lambda([], node.body), _lambda([], node.orelse)]
        return _called("_dpassay_one_of", arguments, node)

    def visit_Call(self, node: ast.Call) -> Any:
        """What a generator makes is asked for at once: no name in it gets another value before."""
        of_all = isinstance(node.func, ast.Name) and node.func.id in ("sum", "list", "tuple")
        at_once = ast.GeneratorExp if of_all else None
        node.args = [self.visit_ListComp(one) if type(one) is at_once else self.visit(one) for one in node.args]
        for one in (node.func, *node.keywords):
            self.generic_visit(one)
        return node

    def visit_ListComp(self, node: Any) -> Any:
        """Of records of a private number once for all."""
        scopes = any(isinstance(one, _SCOPES) for one in ast.walk(node))
        self.generic_visit(node)
        of, scopes = node.generators[0], scopes or any(type(one) is ast.GeneratorExp for one in ast.walk(node.elt))
        plain = len(node.generators) == 1 and not of.is_async and len(of.ifs) < 2
        names = _names(of.target)
        if not (self._inside and plain) or names is None or scopes:
            return node
        several = ast.Constant(len(names) if isinstance(of.target, ast.Tuple) else 0)
        kept = _lambda(names, self._condition(of.ifs[0])) if of.ifs else ast.Constant(None)
        arguments = [of.iter, _lambda(names, node.elt), kept, several]
        return _called("_dpassay_list", arguments, node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        """With other data there is no such error, or none where private values are numbers."""
        self.generic_visit(node)
        node.body.insert(0, ast.copy_location(ast.Expr(_called("_dpassay_caught", [], node)), node))
        return node


def _read_elsewhere(function: ast.FunctionDef) -> set[str]:
    """Names that are global, or that a function within may read whenever it is called."""
    found: set[str] = set()
    for one in ast.walk(function):
        if isinstance(one, ast.Global | ast.Nonlocal):
            found |= set(one.names)
        elif isinstance(one, ast.FunctionDef | ast.Lambda) and one is not function:
            inside = list(ast.walk(one))
            own = {name.arg for name in inside if isinstance(name, ast.arg)}
            names = [name for name in inside if isinstance(name, ast.Name)]
            own |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
            found |= {name.id for name in names} - own
    return found


def _is_named(value: ast.expr) -> bool:
    """A name or an attribute of one."""
    return _is_named(value.value) if isinstance(value, ast.Attribute) else isinstance(value, ast.Name)


def _names(target: Any) -> list[str] | None:
    """What a loop gives its values to; None where that is more than names."""
    found: list[Any] = target.elts if isinstance(target, ast.Tuple) else [target]
    return [one.id for one in found] if all(isinstance(one, ast.Name) for one in found) else None


def _placed(made: Any, node: Any) -> Any:
    """As if it stood where the node stands."""
    for one in ast.walk(made):
        ast.copy_location(one, node)
    return made


def _called(name: str, arguments: list[Any], node: Any) -> Any:
    return at(node, ast.Call(ast.Name(name, ast.Load()), arguments, []))


def _lambda(names: list[str], body: Any) -> ast.Lambda:
    arguments = [ast.arg(name) for name in names]
    return ast.Lambda(ast.arguments([], arguments, None, [], [], None, []), body)


class _Line(NamedTuple):
    """A name that gets a new value; with a kind, a name or an entry that something is added to, or a name times it."""

    name: str
    kind: type | None
    text: str
    place: ast.stmt

    @property
    def entry(self) -> Any:
        """That it adds to, if it is no name."""
        of = getattr(self.place, "target", None)
        return of if isinstance(of, ast.Subscript) else None

    def onto(self, amount: str) -> str:
        """The line that adds so much."""
        assert self.kind is not None
        if self.entry is None:
            return f"{self.name} {_NEUTRAL[self.kind][0]}= {amount}"
        of, key = ast.unparse(self.entry.value), ast.unparse(self.entry.slice)
        return f"_dpassay_added({of}, {key}, {amount}, {self.kind is ast.Add})"

    def amount(self, prefix: str) -> str:
        """A name for what is added."""
        return prefix + (self.name if self.entry is None else self.name.encode().hex())


class _Way:
    """What one way of a decision assigns, in its order."""

    def __init__(self) -> None:
        self.lines: list[_Line] = []
        self.loaded: set[str] = set()
        self.places: set[str] = set()  # names that say which entry something is added to, when both ways are over

    @classmethod
    def of(cls, statements: list[ast.stmt]) -> _Way | None:
        """None where it does anything else."""
        found = cls()
        for one in statements:
            if isinstance(one, ast.Pass):
                continue
            target: Any = one.targets[0] if isinstance(one, ast.Assign) and len(one.targets) == 1 else None
            target = one.target if isinstance(one, ast.AugAssign) else target
            if not (isinstance(target, ast.Name) or adds_to_entry(one)):
                return None
            if not found._computes(one.value):  # type: ignore[attr-defined]
                return None
            name, kind = ast.unparse(target), type(one.op) if isinstance(one, ast.AugAssign) else None
            if kind is not None and (kind not in _NEUTRAL or name in found.added):
                return None
            found.lines.append(_Line(name, kind, ast.unparse(one.value), one))  # type: ignore[attr-defined]
            found.places |= {part.id for part in ast.walk(target) if isinstance(part, ast.Name)} - {name_of(target)}
        return None if found.changed & found.names else found

    def as_in(self, statements: list[ast.stmt]) -> _Way:
        """The same, as it is written there: what it computes is converted itself."""
        values = [_value(one) for one in statements if not isinstance(one, ast.Pass)]
        self.lines = [one._replace(text=ast.unparse(new)) for one, new in zip(self.lines, values, strict=True)]
        return self

    @property
    def added(self) -> dict[str, _Line]:
        """What is added to names, or multiplies them."""
        return {one.name: one for one in self.lines if one.kind is not None}

    @property
    def names(self) -> set[str]:
        """That get new values."""
        return {one.name for one in self.lines if one.kind is None}

    @property
    def changed(self) -> set[str]:
        """Names whose numbers change in place."""
        return {one.name if one.entry is None else name_of(one.entry) for one in self.added.values()}

    def of_each(self, names: list[str]) -> bool:
        """Is every turn of a loop by itself, but for what it adds up?"""
        if any(one.entry is not None for one in self.lines):
            return False
        known = set(names)
        for one in self.lines:
            loaded = {part.id for part in ast.walk(ast.parse(one.text)) if isinstance(part, ast.Name)}
            if loaded & (self.names - known):
                return False  # from the turn before
            known |= {one.name} if one.kind is None else set()
        sums = all(one.kind in (ast.Add, ast.Sub) for one in self.added.values())
        return bool(self.added) and sums and not self.added.keys() & (self.loaded | known)

    def _computes(self, value: ast.expr) -> bool:
        for one in ast.walk(value):
            if isinstance(one, _SCOPES) or (isinstance(one, ast.Name) and one.id in self.changed):
                return False
            if isinstance(one, ast.Name):
                self.loaded.add(one.id)
        return True


def _value(statement: Any) -> Any:
    """What it gives a name, or adds."""
    value = statement.value
    return value.args[2] if isinstance(statement, ast.Expr) else value


def _alike(first: _Way, second: _Way) -> bool:
    """What one adds to, the other does not multiply, and gives no new value."""
    both = first.added.keys() & second.added.keys()
    mixed = first.changed & second.names or second.changed & first.names
    loaded = first.changed & second.loaded or second.changed & first.loaded
    given = first.names | second.names | first.changed | second.changed
    moved = (first.places | second.places) & given
    return not (mixed or loaded or moved) and all(first.added[one].kind is second.added[one].kind for one in both)


def _chosen(name: str, ways: list[_Way]) -> list[tuple[str, ast.stmt | None]]:
    """The lines of a private decision, each with the statement that it comes from: `name` is its truth value."""
    first, second = ways
    names = sorted(first.names | second.names)
    kept = [one for one in names if one not in first.names & second.names or one in second.loaded]
    old = "try: {0}o{1} = {1}\nexcept NameError: {0}o{1} = _dpassay_missing"
    lines: list[tuple[str, ast.stmt | None]] = [(old.format(name, one), None) for one in kept]
    lines += [(f"{one} = {name}o{one}", None) for one in kept]
    for number, way in enumerate(ways):
        for line in way.lines:
            target = line.name if line.kind is None else line.amount(f"{name}{number}")
            lines.append((f"{target} = {line.text}", line.place))
        if number == 0:
            lines += [(f"{name}n{one} = {one}", None) for one in names]
            lines += [(f"{one} = {name}o{one}", None) for one in kept]
    lines.append(("_dpassay_computed()", None))
    lines += [(f"{one} = _dpassay_either({name}, {name}n{one}, {one})", None) for one in names]
    for one, line in {**second.added, **first.added}.items():
        neutral = _NEUTRAL[line.kind][1]
        sides = [line.amount(f"{name}{number}") if one in way.added else neutral for number, way in enumerate(ways)]
        lines.append((line.onto(f"_dpassay_either({name}, {', '.join(sides)})"), line.place))
    return lines


def converted(names: dict[str, Any]) -> list[tuple[FunctionType, CodeType]]:
    """The functions of a module, each with the code that it runs while it is certified."""
    functions = list(_functions(names, str(names.get("__file__") or "")))
    codes = _codes(str(names.get("__file__") or "")) if functions else {}
    found = []
    for one in functions:
        old = one.__code__
        known, new = codes.get((old.co_qualname, old.co_firstlineno), (None, None))
        if new is not None and known == old and new.co_freevars == old.co_freevars:  # else the file is another one now
            found.append((one, new))
    return found


def _functions(names: dict[str, Any], file: str) -> Iterator[FunctionType]:
    for one in list(names.values()):
        one = getattr(one, "__func__", one)
        if isinstance(one, FunctionType) and one.__code__.co_filename == file:
            cells = [cell.cell_contents for cell in one.__closure__ or () if cell.cell_contents is not one]
            yield from _functions({str(k): cell for k, cell in enumerate(cells)}, file)  # what it decorates
            yield one
        elif isinstance(one, type) and one.__module__ == names.get("__name__"):
            yield from _functions(dict(vars(one)), file)
        elif isinstance(one, property) and isinstance(one.fget, FunctionType):
            yield one.fget


def _codes(file: str) -> dict[tuple[str, int], tuple[CodeType, CodeType]]:
    """By name and line: the code of a file as it is written, and as it is converted."""
    try:
        text = "".join(linecache.getlines(file))
        plain = compile(text, file, "exec", dont_inherit=True)
        changed = compile(_placed_module(text), file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    new, old = dict(_within(changed)), list(_within(plain))
    seen = Counter(key for key, _ in old)  # two of a line may have one name
    return {key: (code, new[key]) for key, code in old if key in new and seen[key] == 1}


def _placed_module(text: str) -> ast.Module:
    found = _Converter().visit(ast.parse(text))
    made: ast.Module = ast.fix_missing_locations(found)
    return made


def _within(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield (one.co_qualname, one.co_firstlineno), one
            if not one.co_name.startswith("<"):
                yield from _within(one)
