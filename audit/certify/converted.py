"""Private decisions as choices between values, and records of a private number taken once for all.

While code is certified, its functions run a converted form of their own source:

- ``if norm > c: g = g * c / norm`` gives `g` one of two values, as ``np.where`` does. Both ways are computed, so they
  may only assign to names, from expressions without effects.
- ``total += x`` in such a way adds x or zero; a factor is x or one.
- ``[f(x) for x in rows[mask]]`` computes f of one record, whatever it is: all of them are alike, and how many there are
  is private. So is the number that ``if`` leaves in a comprehension. A ``for`` loop whose turns only add to names is
  their sum.

Whatever else a private truth value decides ends the certificate as before.
"""

from __future__ import annotations

import ast
import copy
import dis
import gc
import linecache
import sys
import sysconfig
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np
import scipy

from .arithmetic import compared
from .draws import Draws
from .shapes import Batch, Place, one_of
from .value import ZERO, Norms, Open, Records, Value, private

_NEUTRAL: dict[Any, tuple[str, str]] = {
    ast.Add: ("+", "0"),
    ast.Sub: ("-", "0"),
    ast.Mult: ("*", "1"),
    ast.Div: ("/", "1"),
}
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
        truth = _placed(ast.parse(f"{name} = None").body[0], node)
        truth.value = node.test
        test = _placed(ast.parse(f"_dpassay_private({name})", mode="eval").body, node)
        chosen = [_placed(ast.parse(text).body[0], place or node) for text, place in lines]
        plainly = ast.If(ast.Name(name, ast.Load()), node.body, node.orelse)
        made = [truth, ast.If(test, chosen or [ast.Pass()], [plainly])]
        return [ast.fix_missing_locations(ast.copy_location(one, node)) for one in made]

    def visit_For(self, node: ast.For) -> Any:
        """Over a private number of records once for all, and as it is written elsewhere."""
        way, names = _Way.of(node.body), _names(node.target)
        self.generic_visit(node)
        if not self._inside or way is None or names is None or node.orelse or not way.of_each(names):
            return node
        self._made += 1
        name = f"_dpassay_{self._made}_"
        lines: list[tuple[str, ast.stmt]] = [(f"{', '.join(names)} = _dpassay_record({name})", node)]
        for one in way.lines:
            lines.append((f"{one.name if one.kind is None else name + one.name} = {one.text}", one.place))
        lines.append(("_dpassay_computed()", node))
        for one in way.added.values():
            lines.append((f"{one.name} {_NEUTRAL[one.kind][0]}= _dpassay_all({name}, {name}{one.name})", one.place))
        truth = _placed(ast.parse(f"{name} = None").body[0], node)
        truth.value, node.iter = node.iter, _placed(ast.Name(name, ast.Load()), node)
        test = _placed(ast.parse(f"_dpassay_secret({name})", mode="eval").body, node)
        once = [_placed(ast.parse(text).body[0], place) for text, place in lines]
        return [truth, ast.fix_missing_locations(ast.copy_location(ast.If(test, once, [node]), node))]

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
        plain = len(node.generators) == 1 and not of.is_async and len(of.ifs) < 2
        names = _names(of.target)
        scopes = any(isinstance(one, _SCOPES[1:]) for one in ast.walk(node))
        if not (self._inside and plain) or names is None or scopes:
            return node
        several = ast.Constant(len(names) if isinstance(of.target, ast.Tuple) else 0)
        kept = _lambda(names, of.ifs[0]) if of.ifs else ast.Constant(None)
        arguments = [of.iter, _lambda(names, node.elt), kept, several]
        return _called(name, arguments, node)


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
    made = ast.Call(ast.Name(name, ast.Load()), arguments, [])
    return ast.fix_missing_locations(ast.copy_location(made, node))


def _lambda(names: list[str], body: Any) -> ast.Lambda:
    arguments = [ast.arg(name) for name in names]
    return ast.Lambda(ast.arguments([], arguments, None, [], [], None, []), body)


class _Line(NamedTuple):
    """A name that gets a new value, or, with a kind, to which something is added or which is multiplied."""

    name: str
    kind: type | None
    text: str
    place: ast.stmt


class _Way:
    """What one way of a decision assigns, in its order."""

    def __init__(self) -> None:
        self.lines: list[_Line] = []
        self.loaded: set[str] = set()

    @classmethod
    def of(cls, statements: list[ast.stmt]) -> _Way | None:
        """None where it does anything else."""
        found = cls()
        for one in statements:
            if isinstance(one, ast.Pass):
                continue
            target = one.targets[0] if isinstance(one, ast.Assign) and len(one.targets) == 1 else None
            target = one.target if isinstance(one, ast.AugAssign) else target
            if not isinstance(target, ast.Name) or not found._computes(one.value):  # type: ignore[attr-defined]
                return None
            kind = type(one.op) if isinstance(one, ast.AugAssign) else None
            if kind is not None and (kind not in _NEUTRAL or target.id in found.added):
                return None
            found.lines.append(_Line(target.id, kind, ast.unparse(one.value), one))  # type: ignore[attr-defined]
        return None if found.added.keys() & found.names else found

    @property
    def added(self) -> dict[str, _Line]:
        """What is added to names, or multiplies them."""
        return {one.name: one for one in self.lines if one.kind is not None}

    @property
    def names(self) -> set[str]:
        """That get new values."""
        return {one.name for one in self.lines if one.kind is None}

    def of_each(self, names: list[str]) -> bool:
        """Is every turn of a loop by itself, but for what it adds up?"""
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
            if isinstance(one, _SCOPES) or (isinstance(one, ast.Name) and one.id in self.added):
                return False
            if isinstance(one, ast.Name):
                self.loaded.add(one.id)
        return True


def _alike(first: _Way, second: _Way) -> bool:
    """What one adds to, the other does not multiply, and gives no new value."""
    both = first.added.keys() & second.added.keys()
    mixed = first.added.keys() & second.names or second.added.keys() & first.names
    loaded = first.added.keys() & second.loaded or second.added.keys() & first.loaded
    return not mixed and not loaded and all(first.added[one].kind is second.added[one].kind for one in both)


def _chosen(name: str, ways: list[_Way]) -> list[tuple[str, ast.stmt | None]]:
    """The lines of a private decision, each with the statement that it comes from: `name` is its truth value."""
    first, second = ways
    names = sorted(first.names | second.names)
    kept = [one for one in names if one not in first.names & second.names or one in second.loaded]
    lines: list[tuple[str, ast.stmt | None]] = [(f"{name}o{one} = {one}", None) for one in kept]
    for number, way in enumerate(ways):
        for line in way.lines:
            target = line.name if line.kind is None else f"{name}{number}{line.name}"
            lines.append((f"{target} = {line.text}", line.place))
        if number == 0:
            lines += [(f"{name}n{one} = {one}", None) for one in names]
            lines += [(f"{one} = {name}o{one}", None) for one in kept]
    lines.append(("_dpassay_computed()", None))
    lines += [(f"{one} = _dpassay_either({name}, {name}n{one}, {one})", None) for one in names]
    for one, line in {**second.added, **first.added}.items():
        sign, neutral = _NEUTRAL[line.kind]
        sides = [f"{name}{number}{one}" if one in way.added else neutral for number, way in enumerate(ways)]
        lines.append((f"{one} {sign}= _dpassay_either({name}, {', '.join(sides)})", line.place))
    return lines


# -- what the converted code calls ------------------------------------------------------------------------
def _private(truth: Any) -> bool:
    """Is it? Then both ways are computed, and nothing else may be done."""
    if private(truth):
        _watch()
    return private(truth)


def _either(truth: Value, one: Any, other: Any) -> Any:
    """One of two values: of numbers, or the same thing."""
    if one is other:
        return one
    if not all(isinstance(value, Value | np.ndarray | np.generic | int | float) for value in (one, other)):
        raise Open("private data decides; release it with noise before the decision")
    return np.where(truth if truth.truth else compared(truth, 0.0), one, other)


def _one_of(truth: Any, one: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """A conditional expression."""
    if not private(truth):
        return one() if truth else other()
    return _either(truth, *_computing(lambda: (one(), other())))


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


def _secret(records: Any) -> bool:
    """Is it a private number of records? What is computed of one is computed of all, and nothing else may be done."""
    arrays = records.arrays if type(records) is _Zipped else (records,)
    of_nobody_knows = (type(records) is Batch and records.poisson) or (_in_step(arrays) and arrays[0].absent)
    if of_nobody_knows:
        _watch()
    return bool(of_nobody_knows)


def _in_step(arrays: Any) -> bool:
    """Have they an entry for each of the same records?"""
    if not all(private(one) and one.at == -one.ndim and not one.holes for one in arrays):
        return False
    return all(one.records.same(arrays[0].records) and one.absent == arrays[0].absent for one in arrays)


def _record_of(records: Any) -> Any:
    """Whichever record it is."""
    if type(records) is Batch:
        return Place(records, 0)
    arrays = records.arrays if type(records) is _Zipped else (records,)
    found = tuple(one_of(one, Records(batch=arrays[0].records, places=frozenset({0}))) for one in arrays)
    return found if type(records) is _Zipped else found[0]


def _all(records: Any, made: Any) -> Any:
    """The sum of what is made of each record."""
    first = records.arrays[0] if type(records) is _Zipped else records
    if type(first) is Batch:
        first = _every(first)
    return np.sum(_of_all(made, first, Records(batch=first.records, places=frozenset({0})), False), axis=0)


def _every(batch: Batch) -> Value:
    return Value((batch.total,), -1, batch.records, draws=frozenset({batch.number}), absent="poisson")


def _once(records: Any, make: Callable[..., Any], kept: Any) -> Value | None:
    """The values that are made of each record, where how many there are is private; else None."""
    if type(records) is Batch and records.poisson:
        return _of_all(*_of_places(records, make, kept))
    arrays = records.arrays if type(records) is _Zipped else (records,)
    if not _in_step(arrays):
        return None
    first = arrays[0]
    if not first.absent and kept is None:
        return None
    place = Records(batch=first.records if first.absent else Records(), places=frozenset({0}))
    given = [one_of(one, place) for one in arrays]
    chosen: Any = None if kept is None else _computing(lambda: kept(*given))
    if kept is not None and not (private(chosen) and chosen.truth):
        if not first.absent:
            return None
        raise Open("the number of these records is private; a public choice among them has no rule")
    return _of_all(_computing(lambda: make(*given)), first, place, kept is not None)


def _of_places(batch: Batch, make: Callable[..., Any], kept: Any) -> tuple[Any, Value, Records, bool]:
    """Of the places of a Poisson batch."""
    if kept is not None:
        raise Open("the number of these records is private; a choice among their places has no rule")
    place = Place(batch, 0)
    return _computing(lambda: make(place)), _every(batch), place.records, False


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
_WRITES = ("STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL", "STORE_DEREF", "DELETE_", "IMPORT", "YIELD_FROM")
_IN_PLACE = {"at", "copyto", "fill", "itemset", "partition", "put", "put_along_axis", "putmask", "place", "sort"}
_IN_PLACE |= {"fill_diagonal", "resize", "setfield", "setflags", "tofile", "dump", "seed", "shuffle"}
_HARMLESS = {abs, min, max, sum, len, round, isinstance, getattr, hasattr, any, all, pow, divmod, sorted, callable}
_TRUSTED = (*(str(Path(str(one.__file__)).parent) for one in (np, scipy)), str(Path(__file__).parent), "<")
_watched: list[list[str]] = []  # effects, of each part of the code that may have none


def _watch() -> None:
    """From here on, what the code calls may only compute. What Python calls when it tidies up is no part of it."""
    gc.disable()
    _watched.append([])
    sys.setprofile(_seen)


def _computed() -> None:
    """So far. Raises Open where something else was done."""
    if len(_watched) == 1:
        sys.setprofile(None)
        gc.enable()
    found = _watched.pop()
    if found:
        why = "what depends on private data, or is done for each of a private number of records, has effects"
        raise Open(f"{why}: {found[0]}")


def forget_effects() -> None:
    """An error has ended what was watched."""
    if _watched:
        sys.setprofile(None)
        gc.enable()
        _watched.clear()


def _computing(made: Callable[[], Any]) -> Any:
    _watch()
    found = made()
    _computed()
    return found


def _seen(frame: FrameType, event: str, called: Any) -> None:
    code, effects = frame.f_code, _watched[-1]
    if _trusted(code.co_filename):
        if event == "call" and code in _drawing():
            effects.append(f"{code.co_name} draws")
        elif event == "call" and code.co_name == "listed" and frame.f_locals["real"].__name__ in _IN_PLACE:
            effects.append(f"{frame.f_locals['real'].__name__} writes")
    elif event == "call" and _writes(code):
        effects.append(f"{code.co_name} writes")
    elif event == "c_call" and not _harmless(called):
        effects.append(f"{getattr(called, '__name__', called)} is called")


@cache
def _trusted(file: str) -> bool:
    """Rules, NumPy, SciPy and Python's own library: what the code calls of them is looked at, and not what they do."""
    return file.startswith(_TRUSTED) or (file.startswith(sysconfig.get_path("stdlib")) and "site-packages" not in file)


@cache
def _drawing() -> set[CodeType]:
    return {one.__code__ for one in vars(Draws).values() if isinstance(one, FunctionType)}


@cache
def _writes(code: CodeType) -> bool:
    """To an object, a global name or one of the function around it; also where no run comes by."""
    steps = list(dis.get_instructions(code))
    return any(one.opname.startswith(_WRITES) or one.argrepr in _AUGMENTED for one in steps)


_AUGMENTED = {f"{sign}=" for sign in ("+", "-", "*", "/", "//", "%", "@", "**", "&", "|", "^", "<<", ">>")}


def _harmless(called: Any) -> bool:
    of, name = getattr(called, "__self__", None), getattr(called, "__name__", "")
    if isinstance(of, ModuleType) or of is None:
        return called in _HARMLESS or getattr(called, "__module__", "") in ("math", "numpy")
    return isinstance(of, np.ndarray | np.generic | int | float | str | tuple | np.ufunc) and name not in _IN_PLACE


NAMES: dict[str, Any] = {
    "_dpassay_private": _private,
    "_dpassay_computed": _computed,
    "_dpassay_either": _either,
    "_dpassay_one_of": _one_of,
    "_dpassay_secret": _secret,
    "_dpassay_record": _record_of,
    "_dpassay_all": _all,
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
