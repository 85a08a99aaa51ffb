"""Private decisions as choices between values, and records of a private number taken once for all.

While code is certified, its functions run a converted form of their own source:

- ``if norm > c: g = g * c / norm`` gives `g` one of two values, as ``np.where`` does. Both ways are computed, so they
  may only assign to names, from expressions without effects.
- ``total += x`` in such a way adds x or zero; a factor is x or one.
- ``[f(x) for x in rows[mask]]`` computes f of one record, whatever it is: all of them are alike, and how many there are
  is private. So is the number that ``if`` leaves in a comprehension.

Whatever else a private truth value decides ends the certificate as before.
"""

from __future__ import annotations

import ast
import builtins
import copy
import dis
import linecache
import math
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from .arithmetic import compared
from .shapes import Batch, Place, one_of
from .value import ZERO, Norms, Open, Records, Value, private

_NEUTRAL: dict[type, tuple[str, str]] = {
    ast.Add: ("+", "0"),
    ast.Sub: ("-", "0"),
    ast.Mult: ("*", "1"),
    ast.Div: ("/", "1"),
}
_BUILTINS = ("abs", "min", "max", "float", "int", "sum", "len", "range", "zip", "round", "enumerate")
_IN_PLACE = {"at", "copyto", "fill", "itemset", "partition", "put", "put_along_axis", "putmask", "place", "random"}
_IN_PLACE |= {
    "fill_diagonal",
    "resize",
    "save",
    "savez",
    "savetxt",
    "setfield",
    "setflags",
    "shuffle",
    "tofile",
    "dump",
}
_OF_NUMPY = {*dir(np), *dir(np.linalg), *dir(math)} - _IN_PLACE
_METHODS = set(dir(np.ndarray)) - _IN_PLACE - {"sort"}
_SCOPES = (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


# -- the source -------------------------------------------------------------------------------------------
class _Converter(ast.NodeTransformer):
    """Rewrites one module; what it adds are names that begin with `_dpassay_`."""

    def __init__(self) -> None:
        self._made = 0
        self._inside = 0  # functions around

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Names of a class body cannot be seen from a lambda."""
        self._inside += 1
        self.generic_visit(node)
        self._inside -= 1
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """Its methods are functions again."""
        inside, self._inside = self._inside, 0
        self.generic_visit(node)
        self._inside = inside
        return node

    def visit_If(self, node: ast.If) -> Any:
        """As a choice where the test is private, and as it is written elsewhere."""
        before = copy.deepcopy(node)
        self.generic_visit(node)
        first, second = _Way.of(before.body), _Way.of(before.orelse)
        if not self._inside or first is None or second is None or not _alike(first, second):
            return node
        self._made += 1
        name = f"_dpassay_{self._made}_"
        lines = _chosen(name, [first, second])
        called = "".join(f", {one}" for one in sorted(first.called | second.called))
        truth = _placed(ast.parse(f"{name} = None").body[0], node)
        truth.value = node.test
        test = _placed(ast.parse(f"_dpassay_private({name}{called})", mode="eval").body, node)
        chosen = [_placed(ast.parse(text).body[0], place or node) for text, place in lines]
        plainly = ast.If(ast.Name(name, ast.Load()), node.body, node.orelse)
        made = [truth, ast.If(test, chosen or [ast.Pass()], [plainly])]
        return [ast.fix_missing_locations(ast.copy_location(one, node)) for one in made]

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """As a choice where the test is private."""
        self.generic_visit(node)
        if not self._inside or any(isinstance(one, _SCOPES) for one in ast.walk(node)):
            return node
        arguments = [node.test, _lambda([], node.body), _lambda([], node.orelse)]
        return _called("_dpassay_one_of", arguments, node)

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        """Of records of a private number once for all."""
        return self._comprehension(node, "_dpassay_list")

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        """Likewise."""
        return self._comprehension(node, "_dpassay_each")

    def _comprehension(self, node: Any, name: str) -> Any:
        self.generic_visit(node)
        of = node.generators[0]
        targets: list[Any] = of.target.elts if isinstance(of.target, ast.Tuple) else [of.target]
        plain = len(node.generators) == 1 and not of.is_async and len(of.ifs) < 2
        named = all(isinstance(one, ast.Name) for one in targets)
        scopes = any(isinstance(one, _SCOPES[1:]) for one in ast.walk(node))
        if not (self._inside and plain and named) or scopes:
            return node
        names = [one.id for one in targets]
        several = ast.Constant(len(names) if isinstance(of.target, ast.Tuple) else 0)
        kept = _lambda(names, of.ifs[0]) if of.ifs else ast.Constant(None)
        arguments = [of.iter, _lambda(names, node.elt), kept, several]
        return _called(name, arguments, node)


def _placed(made: Any, node: Any) -> Any:
    """As if it stood where the node stands."""
    for one in ast.walk(made):
        ast.copy_location(one, node)
    return made


def _called(name: str, arguments: list[Any], node: Any) -> Any:
    made = ast.Call(ast.Name(name, ast.Load()), arguments, [])
    return ast.fix_missing_locations(ast.copy_location(made, node))


def _lambda(names: list[str], body: Any) -> ast.Lambda:
    arguments = [ast.arg(name) for name in names]
    return ast.Lambda(ast.arguments([], arguments, None, [], [], None, []), body)


class _Way:
    """What one way of a decision assigns: names to new values, and what it adds to names or multiplies them by."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, str, ast.stmt]] = []  # a name, the text of its new value, and where it stands
        self.added: dict[str, tuple[type, str, ast.stmt]] = {}
        self.loaded: set[str] = set()
        self.called: set[str] = set()

    @classmethod
    def of(cls, statements: list[ast.stmt]) -> _Way | None:
        """None where it does anything else, or in an order that matters."""
        found = cls()
        for one in statements:
            if isinstance(one, ast.Pass):
                continue
            target = one.targets[0] if isinstance(one, ast.Assign) and len(one.targets) == 1 else None
            target = one.target if isinstance(one, ast.AugAssign) else target
            if not isinstance(target, ast.Name) or not found._computes(one.value):  # type: ignore[attr-defined]
                return None
            text = ast.unparse(one.value)  # type: ignore[attr-defined]
            if isinstance(one, ast.Assign):
                found.steps.append((target.id, text, one))
            elif type(one.op) in _NEUTRAL and target.id not in found.added:  # type: ignore[attr-defined]
                found.added[target.id] = type(one.op), text, one  # type: ignore[attr-defined]
            else:
                return None
        return None if found.added.keys() & found.names else found

    @property
    def names(self) -> set[str]:
        """That get new values."""
        return {name for name, *_ in self.steps}

    def _computes(self, value: ast.expr) -> bool:
        for one in ast.walk(value):
            if isinstance(one, _SCOPES) or (isinstance(one, ast.Name) and one.id in self.added):
                return False
            if isinstance(one, ast.Name):
                self.loaded.add(one.id)
            if isinstance(one, ast.Call) and not self._may_call(one.func):
                return False
        return True

    def _may_call(self, function: ast.expr) -> bool:
        if isinstance(function, ast.Name):
            self.called.add(function.id)
            return True
        root: Any = function
        while isinstance(root, ast.Attribute):
            root = root.value
        of_numpy = isinstance(root, ast.Name) and root.id in ("np", "numpy", "math")
        return isinstance(function, ast.Attribute) and function.attr in (_OF_NUMPY if of_numpy else _METHODS)


def _alike(first: _Way, second: _Way) -> bool:
    """What one adds to, the other does not multiply, and gives no new value."""
    both = first.added.keys() & second.added.keys()
    mixed = first.added.keys() & second.names or second.added.keys() & first.names
    loaded = first.added.keys() & second.loaded or second.added.keys() & first.loaded
    return not mixed and not loaded and all(first.added[one][0] is second.added[one][0] for one in both)


def _chosen(name: str, ways: list[_Way]) -> list[tuple[str, ast.stmt | None]]:
    """The lines of a private decision, each with the statement that it comes from: `name` is its truth value."""
    first, second = ways
    names = sorted(first.names | second.names)
    kept = [one for one in names if one not in first.names & second.names or one in second.loaded]
    lines: list[tuple[str, ast.stmt | None]] = [(f"{name}o{one} = {one}", None) for one in kept]
    for number, way in enumerate(ways):
        lines += [(f"{one} = {text}", place) for one, text, place in way.steps]
        lines += [(f"{name}{number}{one} = {text}", place) for one, (_, text, place) in way.added.items()]
        if number == 0:
            lines += [(f"{name}n{one} = {one}", None) for one in names]
            lines += [(f"{one} = {name}o{one}", None) for one in kept]
    lines += [(f"{one} = _dpassay_either({name}, {name}n{one}, {one})", None) for one in names]
    for one, (kind, _, place) in {**second.added, **first.added}.items():
        sign, neutral = _NEUTRAL[kind]
        sides = [f"{name}{number}{one}" if one in way.added else neutral for number, way in enumerate(ways)]
        lines.append((f"{one} {sign}= _dpassay_either({name}, {', '.join(sides)})", place))
    return lines


# -- what the converted code calls ------------------------------------------------------------------------
def _private(truth: Any, *called: Any) -> bool:
    """Is it? Then both ways are computed, by functions without effects."""
    if not private(truth):
        return False
    if not all(map(without_effects, called)):
        raise Open("private data decides; release it with noise before the decision")
    return True


def _either(truth: Value, one: Any, other: Any) -> Any:
    """One of two values: of numbers, or the same thing."""
    if one is other:
        return one
    if not all(isinstance(value, Value | np.ndarray | np.generic | int | float) for value in (one, other)):
        raise Open("private data decides; release it with noise before the decision")
    return np.where(truth if truth.truth else compared(truth, 0.0), one, other)


def _one_of(truth: Any, one: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """A conditional expression."""
    return _either(truth, one(), other()) if _private(truth, one, other) else one() if truth else other()


class _Zipped:
    """As `zip`; it knows its arrays."""

    def __init__(self, arrays: Any, options: Any):
        self.arrays, self._options = arrays, options
        self._pairs: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._pairs is None:
            self._pairs = zip(*self.arrays, **self._options)  # noqa: B905
        return next(self._pairs)


def _zip(*arrays: Any, **options: Any) -> Any:
    return _Zipped(arrays, options) if any(map(private, arrays)) else zip(*arrays, **options)  # noqa: B905


def _len(values: Any) -> Any:
    """As `len`; the number of records may be private."""
    return values.shape[0] if private(values) and values.absent and values.at == -values.ndim else len(values)


def _sum(values: Any, /, start: Any = 0) -> Any:
    """As `sum`; of records along the first axis."""
    if not private(values):
        return sum(values, start)
    found = np.sum(values, axis=0)
    return found if type(start) is int and start == 0 else found + start


def _list(records: Any, make: Callable[..., Any], kept: Any, several: int) -> Any:
    """A list, or its values as an array of a private number of records."""
    found = _once(records, make, kept)
    return list(_plainly(records, make, kept, several)) if found is None else found


def _each(records: Any, make: Callable[..., Any], kept: Any, several: int) -> Any:
    """Likewise, one by one."""
    found = _once(records, make, kept)
    return _plainly(records, make, kept, several) if found is None else found


def _plainly(records: Any, make: Callable[..., Any], kept: Any, several: int) -> Iterator[Any]:
    for one in records:
        given = (one,) if several == 0 else tuple(one)
        if several and len(given) != several:
            raise ValueError(f"expected {several} values")
        if kept is None or kept(*given):
            yield make(*given)


def _once(records: Any, make: Callable[..., Any], kept: Any) -> Value | None:
    """The values that are made of each record, where how many there are is private; else None."""
    if type(records) is Batch and records.poisson:
        return _of_all(*_of_places(records, make, kept))
    arrays = records.arrays if type(records) is _Zipped else (records,)
    if not all(private(one) and one.at == -one.ndim for one in arrays):
        return None
    first = arrays[0]
    if any(not one.records.same(first.records) or one.absent != first.absent or one.holes for one in arrays):
        return None
    if not first.absent and (kept is None or not without_effects(kept)):
        return None
    place = Records(batch=first.records if first.absent else Records(), places=frozenset({0}))
    given = [one_of(one, place) for one in arrays]
    chosen: Any = None if kept is None else kept(*given)
    if kept is not None and not (private(chosen) and chosen.truth):
        if not first.absent:
            return None
        raise Open("the number of these records is private; a public choice among them has no rule")
    if not without_effects(make):
        raise Open("what is done for each of a private number of records has effects, or calls what may have some")
    return _of_all(make(*given), first, place, kept is not None)


def _of_places(batch: Batch, make: Callable[..., Any], kept: Any) -> tuple[Any, Value, Records, bool]:
    """Of the places of a Poisson batch."""
    if kept is not None or not without_effects(make):
        raise Open("the number of these records is private; a choice among their places has no rule")
    every = Value((batch.total,), -1, batch.records, draws=frozenset({batch.number}), absent="poisson")
    place = Place(batch, 0)
    return make(place), every, place.records, False


def _of_all(made: Any, first: Value, place: Records, some: bool) -> Value:
    """The same for each record; of which a private condition leaves some."""
    if private(made):
        if not made.records.same(place) or made.draws != first.draws or made.holes:
            raise Open("what is made of each of a private number of records depends on more than that record")
        size, move, low, high = made.norms, made.move, made.low, made.high
    elif type(made) in (int, float, bool, np.ndarray) or isinstance(made, np.generic):
        low, high = float(np.min(made)), float(np.max(made))
        size, move = Norms(sup=max(abs(low), abs(high))), ZERO
    else:
        raise Open("what is made of each of a private number of records is no number")
    shape = made._shape if private(made) else np.shape(made)
    absent = first.absent or "masked"
    return Value(
        (first._shape[0], *shape),
        -len(shape) - 1,
        first.records if first.absent and not some else Records(),
        size=size,
        move=move,
        low=low,
        high=high,
        draws=first.draws,
        absent=absent,
    )


# -- effects ----------------------------------------------------------------------------------------------
def without_effects(function: Any, depth: int = 0) -> bool:
    """Does it only compute? It writes to no object, and calls NumPy and its like, or functions that only compute."""
    if isinstance(function, np.ufunc) or not callable(function):
        return not isinstance(function, np.random.Generator)
    module, name = getattr(function, "__module__", None) or "", getattr(function, "__name__", "")
    if module.startswith(("numpy", "scipy.special", "math")) or function in (float, int):
        return name not in _IN_PLACE and not module.startswith("numpy.random")
    if getattr(builtins, name, None) is function or module.startswith("dpassay.audit.certify."):
        return name in _BUILTINS or module.startswith("dpassay.audit.certify.")
    function = getattr(function, "__func__", function)
    if not isinstance(function, FunctionType) or depth > 6:
        return False
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    held = {name: cell.cell_contents for name, cell in cells.items() if _filled(cell)}
    return _computes(function.__code__, function.__globals__, held, depth)


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


_NONE = object()
_WRITES = ("STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL", "STORE_DEREF", "DELETE_", "IMPORT")


def _computes(code: CodeType, names: dict[str, Any], held: dict[str, Any], depth: int) -> bool:
    last: Any = _NONE
    for one in dis.get_instructions(code):
        if one.opname.startswith(_WRITES):
            return False
        if isinstance(one.argval, CodeType) and not _computes(one.argval, names, held, depth + 1):
            return False
        if one.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            is_method = one.opname == "LOAD_METHOD" or "NULL|self" in one.argrepr
            if last is _NONE and is_method and one.argval not in _METHODS:
                return False
            last = _NONE if last is _NONE or isinstance(last, Value | np.ndarray) else getattr(last, one.argval, _NONE)
        elif one.opname == "LOAD_GLOBAL":
            last = names.get(one.argval, getattr(builtins, one.argval, _NONE))
        elif one.opname in ("LOAD_DEREF", "LOAD_CLOSURE"):
            last = held.get(one.argval, _NONE)
        else:
            last = _NONE
            continue
        if not isinstance(last, ModuleType) and last is not _NONE and not without_effects(last, depth + 1):
            return False
    return True


NAMES: dict[str, Any] = {
    "_dpassay_private": _private,
    "_dpassay_either": _either,
    "_dpassay_one_of": _one_of,
    "_dpassay_list": _list,
    "_dpassay_each": _each,
    "zip": _zip,
    "sum": _sum,
    "len": _len,
}


# -- functions of a module --------------------------------------------------------------------------------
def converted(names: dict[str, Any]) -> list[tuple[FunctionType, CodeType]]:
    """The functions of a module, each with the code that it runs while it is certified."""
    functions = list(_functions(names, str(names.get("__file__") or "")))
    codes = _codes(str(names.get("__file__") or "")) if functions else {}
    found = []
    for one in functions:
        old = one.__code__
        known, new = codes.get((old.co_qualname, old.co_firstlineno), (None, None))
        same = known is not None and known.co_code == old.co_code  # else the file is another one by now
        if new is not None and same and new.co_freevars == old.co_freevars:
            found.append((one, new))
    return found


def _functions(names: dict[str, Any], file: str) -> Iterator[FunctionType]:
    for one in list(names.values()):
        one = getattr(one, "__func__", one)
        if isinstance(one, FunctionType) and one.__code__.co_filename == file:
            yield one
        elif isinstance(one, type) and one.__module__ == names.get("__name__"):
            yield from _functions(dict(vars(one)), file)
        elif isinstance(one, property) and isinstance(one.fget, FunctionType):
            yield one.fget


def _codes(file: str) -> dict[tuple[str, int], tuple[CodeType, CodeType]]:
    """By name and line: the code of a file as it is written, and as it is converted."""
    try:
        text = "".join(linecache.getlines(file))
        plain = compile(text, file, "exec")
        changed = compile(_placed_module(text), file, "exec")
    except (SyntaxError, ValueError, RecursionError):
        return {}
    new = dict(_within(changed))
    return {key: (code, new[key]) for key, code in _within(plain) if key in new}


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
