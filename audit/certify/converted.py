"""The source of code while it is certified: private decisions as choices between values, written by `choices`.

- ``if norm > c: g = g * c / norm`` gives `g` one of two values, as ``np.where`` does. Both ways are computed, so they
  may only assign to names. Where the norm is a released number, that saves a run for each of both ways.
- ``total += x`` in such a way adds x or zero; a factor is x or one.
- ``if norm > c: return g * c / norm`` before ``return g`` returns one of two values.
- ``counts[label] += x`` adds to the entry at a private place.
- ``[f(x) for x in rows[mask]]`` and a ``for`` loop whose turns only add to names are asked for all records at once.

Every other statement stays as it is, and a private truth value in it ends the certificate.
"""

import ast
import copy
import gc
import linecache
import operator
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from dpassay.audit.search.coverage import nested

from .derivation import FOLLOWED, of_a_library
from .facts import reachable
from .kinds import LAYOUT

_NEUTRAL: dict[Any, tuple[str, str]] = {
    ast.Add: ("+", "0"),
    ast.Sub: ("-", "0"),
    ast.Mult: ("*", "1"),
    ast.Div: ("/", "1"),
}
_SCOPES = (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


# methods that Python calls by itself, but catches no error of
_OF_OBJECTS = "init", "post_init", "new", "call", "enter", "exit", "iter", "next", "repr", "str", "len"
_SEEN = {f"__{name}__" for name in (*_OF_OBJECTS, *operator.__all__)}
_SEEN |= {f"__r{name.strip('_')}__" for name in operator.__all__}


# of arrays and generators, but for what is not told of them
_USUAL = {name for kind in (np.ndarray, np.float64, np.random.Generator) for name in dir(kind)} - {"dtype", *LAYOUT}


class _Converter(ast.NodeTransformer):
    """Rewrites one module; what it adds are names that begin with `_dpassay_`."""

    def __init__(self) -> None:
        self._made = 0
        self._inside = self._around = False  # a function; so is what holds this node
        self._elsewhere: set[str] = set()  # names of this function that are no business of its own

    def visit(self, node: ast.AST) -> Any:
        """Names of a class body cannot be seen from a lambda; its methods are functions again."""
        before, functions = self._inside, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        self._around = before
        self._inside = isinstance(node, functions) or (before and not isinstance(node, ast.ClassDef))
        found = super().visit(node)
        self._inside = before
        return found

    def visit_FunctionDef(self, node: Any) -> Any:
        """With what it leaves to others."""
        before, self._elsewhere = self._elsewhere, _read_elsewhere(node)
        node.body = _without_exits(node.body)
        special = node.name[:2] == "__" == node.name[-2:] and node.name not in _SEEN
        if special or (node.name == "__exit__" and any(map(_swallows, ast.walk(node)))):
            node.body.insert(0, _line("_dpassay_caught()", node))
        self.generic_visit(node)
        self._elsewhere = before
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_If(self, node: ast.If) -> Any:
        """As a choice where the test is private, and as it is written elsewhere."""
        first, second = _Way.of(node.body), _Way.of(node.orelse)
        self.generic_visit(node)
        if not self._inside or first is None or second is None or not _alike(first, second):
            return node
        if self._elsewhere & {*first.names, *first.added, *second.names, *second.added}:
            return node
        name = self._new_name()
        truth = _line(f"{name} = None", node)
        truth.value = node.test
        chosen = [_line(text, place or node) for text, place in _chosen(name, (first, second))]
        plainly = ast.If(ast.Name(name, ast.Load()), node.body, node.orelse)
        test = _line(f"_dpassay_private({name})", node).value
        return [truth, at(node, ast.If(test, chosen or [ast.Pass()], [plainly]))]

    def _new_name(self) -> str:
        self._made += 1
        return f"_dpassay_{self._made}_"

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """Of an array."""
        self.generic_visit(node)
        if self._inside and isinstance(node.ctx, ast.Load):
            node.value = _called("_dpassay_array", [node.value], node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """Stand-ins have names that no array has, and others than Python gives one."""
        self.generic_visit(node)
        special = node.attr not in _USUAL or (node.attr[:2] == "__" == node.attr[-2:])
        if not self._inside or not isinstance(node.ctx, ast.Load) or not special:
            return node
        return _called("_dpassay_named", [node.value, ast.Constant(node.attr)], node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        """What is written into an array is asked for, since NumPy writes numbers without a word."""
        containers = [copy.deepcopy(one) for one in _written_into(node.targets)] if self._inside else []
        self.generic_visit(node)
        for of in containers:
            twice = not any(isinstance(one, (ast.Call, *_SCOPES)) for one in ast.walk(of))  # may it be asked for again?
            node.value = _called("_dpassay_into", [node.value, of if twice else ast.Constant(None)], node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """As without what it says of the kind."""
        if not self._inside or node.value is None or isinstance(node.target, ast.Name):
            return self.generic_visit(node)
        return self.visit(at(node, ast.Assign([node.target], node.value)))

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """What is added to an entry may stand at a private place."""
        self.generic_visit(node)
        of = node.target
        scopes = any(isinstance(one, _SCOPES[1:]) for one in ast.walk(node))
        if not self._inside or scopes or not isinstance(of, ast.Subscript) or type(node.op) not in (ast.Add, ast.Sub):
            return node
        if any(isinstance(one, ast.Slice) for one in (of.slice, *ast.iter_child_nodes(of.slice))):
            return node
        added = [of.value, of.slice, _lambda([], node.value), ast.Constant(type(node.op) is ast.Add)]
        return at(node, ast.Expr(_called("_dpassay_added", added, node)))

    def visit_For(self, node: ast.For) -> Any:
        """Over a private number of records once for all, and as it is written elsewhere."""
        node.body = _without_exits(node.body)
        turn = [_choice(copy.deepcopy(one)) for one in node.body]
        way, names = _Way.of(turn), _names(node.target)
        self.generic_visit(node)
        if self._inside and _entries(node.target):
            node.iter = _called("_dpassay_caught", [node.iter], node.iter)
        if way is None or names is None or node.orelse or not way.of_each(names):
            return node
        for one in turn:
            self.visit(one)
        if not self._inside or self._elsewhere & {*names, *way.names, *way.added}:
            return node
        name = self._new_name()
        lines: list[tuple[str, ast.AST]] = [(f"_dpassay_sealed({', '.join(way.added)})", node)]
        lines.append((f"{', '.join(names)} = _dpassay_record({name})", node))
        lines += [(f"{'' if one.kind is None else name}{one.name} = {one.text}", one.place) for one in way.lines]
        lines.append(("_dpassay_computed()", node))
        lines += [(one.onto(f"_dpassay_all({name}, {name}{one.name})"), one.place) for one in way.added.values()]
        # a name that it gave a value has whatever the last record gave it
        lines += [(f"{gone} = _dpassay_missing", node) for gone in sorted({*names, *way.names})]
        truth = _line(f"{name} = None", node)
        truth.value, node.iter = node.iter, at(node, ast.Name(name, ast.Load()))
        once = [_line(text, place) for text, place in lines]
        return [truth, at(node, ast.If(_line(f"_dpassay_secret({name})", node).value, once, [node]))]

    def visit_Compare(self, node: ast.Compare) -> Any:
        """Identity is asked for, but of constants such as None."""
        self.generic_visit(node)
        if not self._inside or not any(isinstance(one, ast.Is | ast.IsNot) for one in node.ops):
            return node
        if len(node.ops) > 1:
            return _called("_dpassay_caught", [], node)
        if any(isinstance(one, ast.Constant) and one.value is None for one in (node.left, *node.comparators)):
            return node
        same = _called("_dpassay_same", [node.left, *node.comparators], node)
        return same if isinstance(node.ops[0], ast.Is) else at(node, ast.UnaryOp(ast.Not(), same))

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """As a choice where the test is private."""
        self.generic_visit(node)
        if not self._inside or any(isinstance(one, _SCOPES[1:]) or _has_out(one) for one in ast.walk(node)):
            return node
        arguments = [node.test, _lambda([], node.body), _lambda([], node.orelse)]
        return _called("_dpassay_one_of", arguments, node)

    def visit_Call(self, node: ast.Call) -> Any:
        """What a generator makes is asked for at once: no name in it gets another value before."""
        of_all = isinstance(node.func, ast.Name) and node.func.id in ("sum", "list", "tuple")
        at_once = ast.GeneratorExp if of_all else None
        node.args = [self.visit_ListComp(one) if type(one) is at_once else self.visit(one) for one in node.args]
        for one in node.keywords:
            self.generic_visit(one)
        node.func = self.visit(node.func)
        if self._inside:
            node.func = _called("_dpassay_outside", [node.func], node)
        return node

    def visit_Expr(self, node: ast.Expr) -> Any:
        """What is printed or logged is asked for, and no text is made of it."""
        call = node.value
        if not self._inside or not isinstance(call, ast.Call) or not _prints(call):
            return self.generic_visit(node)
        shown = ast.Tuple([copy.deepcopy(part) for one in call.args for part in _shown(one)], ast.Load())
        told = [call.func, _lambda([], self.visit(shown)), _lambda([], self.visit(call))]
        return at(node, ast.Expr(_called("_dpassay_printed", told, node)))

    def visit_ListComp(self, node: Any) -> Any:
        """Of records of a private number once for all."""
        scopes = any(isinstance(one, _SCOPES) for one in ast.walk(node))
        self.generic_visit(node)
        of, scopes = node.generators[0], scopes or any(type(one) is ast.GeneratorExp for one in ast.walk(node.elt))
        plain = len(node.generators) == 1 and not of.is_async and len(of.ifs) < 2
        names = _names(of.target)
        if not (self._inside and plain) or names is None or scopes:
            return node
        several = ast.Constant(isinstance(of.target, ast.Tuple))
        kept = _lambda(names, of.ifs[0]) if of.ifs else ast.Constant(None)
        arguments = [of.iter, _lambda(names, node.elt), kept, several]
        return _called("_dpassay_list", arguments, node)

    def visit_withitem(self, node: ast.withitem) -> Any:
        """Who may catch an error at its end is asked for."""
        self.generic_visit(node)
        if self._inside:
            name = "_dpassay_caught" if _entries(node.optional_vars) else "_dpassay_entered"
            node.context_expr = _called(name, [node.context_expr], node.context_expr)
        return node

    def visit_comprehension(self, node: Any) -> Any:
        """What gives its values to entries is not followed."""
        self.generic_visit(node)
        if self._inside and _entries(node.target):
            node.iter = _called("_dpassay_caught", [node.iter], node.iter)
        return node

    def visit_Try(self, node: Any) -> Any:
        """Other data or released values raise an error where this run raises none; imports alone look at neither."""
        self.generic_visit(node)
        leaves = (ast.Return, ast.Break, ast.Continue)  # by another way after an error, which is caught then
        catches = node.handlers or any(isinstance(one, leaves) for last in node.finalbody for one in ast.walk(last))
        imports = all(isinstance(one, ast.Import | ast.ImportFrom) for one in node.body)
        return node if imports or not (self._inside and catches) else [_line("_dpassay_caught()", node), node]

    visit_TryStar = visit_Try  # noqa: N815

    def visit_Match(self, node: ast.Match) -> Any:
        """A pattern may ask for a class, and for attributes, and catches what comes where there are none."""
        return [_line("_dpassay_caught()", node), node] if self._inside else node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """A class that is made in a run is not followed."""
        inside = self._around
        self.generic_visit(node)
        return [_line("_dpassay_caught()", node), node] if inside else node


def _swallows(one: ast.AST) -> bool:
    """Does it return what may be true?"""
    return isinstance(one, ast.Return) and not (one.value is None or getattr(one.value, "value", one) in (None, False))


def _prints(call: ast.Call) -> bool:
    """To the terminal or a log, by its name, and what it is told beside says only how?"""
    how = all(isinstance(one.value, ast.Constant) and one.arg != "file" for one in call.keywords)
    scopes = any(isinstance(one, (ast.Starred, *_SCOPES)) for one in ast.walk(call))
    name = getattr(call.func, "id", "") or getattr(call.func, "attr", "")
    return name in ("print", "debug", "info", "warning", "error") and how and not scopes


def _shown(one: ast.expr) -> list[ast.expr]:
    """What a text with values in it is made of; anything else is itself."""
    values = [part.value for part in ast.walk(one) if isinstance(part, ast.FormattedValue)]
    return values if isinstance(one, ast.JoinedStr) else [one]


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


def _has_out(one: ast.AST) -> bool:
    """Does it write into what it is given, in a call that nobody sees?"""
    return isinstance(one, ast.keyword) and one.arg in ("out", None)


def _written_into(targets: list[ast.expr]) -> Iterator[ast.expr]:
    """What gets a value for an entry or an attribute, also in tuples."""
    for one in targets:
        if isinstance(one, ast.Subscript | ast.Attribute):
            yield one.value
        elif isinstance(one, ast.Tuple | ast.List | ast.Starred):
            yield from _written_into(getattr(one, "elts", None) or [one.value])  # type: ignore[union-attr]


def _entries(target: Any) -> bool:
    """Does anything but names get a value?"""
    return any(isinstance(one, ast.Subscript | ast.Attribute) for one in ast.walk(target)) if target else False


def _names(target: Any) -> list[str] | None:
    """What a loop gives its values to; None where that is more than names."""
    found: list[Any] = target.elts if isinstance(target, ast.Tuple) else [target]
    return [one.id for one in found] if all(isinstance(one, ast.Name) for one in found) else None


def at(place: ast.AST, made: Any) -> Any:
    """A new node there; what it holds stays where it is."""
    return ast.fix_missing_locations(ast.copy_location(made, place))


def _line(text: str, place: ast.AST) -> Any:
    """The statement, as if it stood there."""
    made = ast.parse(text).body[0]
    for one in ast.walk(made):
        ast.copy_location(one, place)
    return made


def _without_exits(body: list[Any]) -> list[Any]:
    """What follows ``if t: return a``, or ``continue``, is the other way; two returns are one of two values."""
    for place, one in enumerate(body):
        if isinstance(one, ast.If) and (_returns(one.body) or type(one.body[-1]) is ast.Continue):
            rest = _without_exits([*one.orelse, *body[place + 1 :]])
            made: Any = ast.If(one.test, one.body if _returns(one.body) else [*one.body[:-1], ast.Pass()], rest)
            if _returns(one.body) and _returns(rest):
                made = ast.Return(ast.IfExp(one.test, *(way.value for way in [*one.body, *rest])))
            return [*body[:place], at(one, made)]
    return body


def _choice(one: Any) -> Any:
    """``if t: n += a`` adds a or nothing, and ``if t: v = a`` gives `v` one of two values."""
    if not isinstance(one, ast.If) or len(one.body) > 1 or len(one.orelse) > 1:
        return one
    way, *others = ways = [_choice(each) for each in (*one.body, *one.orelse)]
    adds = isinstance(way, ast.AugAssign) and type(way.op) in (ast.Add, ast.Sub)
    if not (adds or isinstance(way, ast.Assign)) or {type(each) for each in ways} != {type(way)}:
        return one
    if len({ast.unparse(each).removesuffix(ast.unparse(each.value)) for each in ways}) > 1:  # as in `n += `
        return one
    old = ast.Constant(0) if adds else ast.parse(ast.unparse(way.targets[0]), mode="eval").body
    way.value = at(way.value, ast.IfExp(one.test, way.value, others[0].value if others else old))
    return way


def _returns(body: list[Any]) -> bool:
    """Is it a value that is returned, and nothing else?"""
    return len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None


def _called(name: str, arguments: list[Any], node: Any) -> Any:
    return at(node, ast.Call(ast.Name(name, ast.Load()), arguments, []))


def _lambda(names: list[str], body: Any) -> ast.Lambda:
    arguments = [ast.arg(name) for name in names]
    return ast.Lambda(ast.arguments([], arguments, None, [], [], None, []), body)


class _Line(NamedTuple):
    """A name that gets a new value; with a kind, one that something is added to, or that is multiplied."""

    name: str
    kind: type | None
    place: Any

    @property
    def text(self) -> str:
        """What it computes, as it is converted by now."""
        return ast.unparse(self.place.value)

    def onto(self, amount: str) -> str:
        """The line that adds so much."""
        assert self.kind is not None
        return f"{self.name} {_NEUTRAL[self.kind][0]}= {amount}"


class _Way:
    """What one way of a decision assigns, in its order."""

    def __init__(self) -> None:
        self.lines: list[_Line] = []
        self.loaded: set[str] = set()

    @classmethod
    def of(cls, statements: list[ast.stmt]) -> "_Way | None":
        """None where it does anything else."""
        found = cls()
        for one in statements:
            if isinstance(one, ast.Pass):
                continue
            if not isinstance(one, ast.Assign | ast.AugAssign):
                return None
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            if len(targets) != 1 or not isinstance(targets[0], ast.Name) or not found._computes(one.value):
                return None
            name, kind = targets[0].id, None if isinstance(one, ast.Assign) else type(one.op)
            if kind is not None and (kind not in _NEUTRAL or name in found.added):
                return None
            found.lines.append(_Line(name, kind, one))
        return None if found.added.keys() & found.names else found

    @property
    def added(self) -> dict[str, _Line]:
        """What is added to names, or multiplies them: they may change in place."""
        return {one.name: one for one in self.lines if one.kind is not None}

    @property
    def names(self) -> set[str]:
        """That get new values."""
        return {one.name for one in self.lines if one.kind is None}

    def of_each(self, names: list[str]) -> bool:
        """Is every turn of a loop by itself, but for what it adds up?"""
        known = set(names)
        for one in self.lines:
            loaded = {part.id for part in ast.walk(one.place.value) if isinstance(part, ast.Name)}
            if loaded & (self.names - known):
                return False  # from the turn before
            known |= {one.name} if one.kind is None else set()
        sums = all(one.kind in (ast.Add, ast.Sub) for one in self.added.values())
        return bool(self.added) and sums and not self.added.keys() & (self.loaded | known)

    def _computes(self, value: ast.expr) -> bool:
        for one in ast.walk(value):
            if isinstance(one, _SCOPES) or (isinstance(one, ast.Name) and one.id in self.added):
                return False
            if _has_out(one):
                return False
            if isinstance(one, ast.Name):
                self.loaded.add(one.id)
        return True


def _alike(first: _Way, second: _Way) -> bool:
    """What one adds to, the other does not multiply or read, and gives no new value."""
    both = first.added.keys() & second.added.keys()
    apart = not (
        first.added.keys() & (second.names | second.loaded) or second.added.keys() & (first.names | first.loaded)
    )
    return apart and all(first.added[one].kind is second.added[one].kind for one in both)


def _chosen(name: str, ways: tuple[_Way, _Way]) -> list[tuple[str, ast.AST | None]]:
    """The lines of a private decision, each with the statement that it comes from: `name` is its truth value."""
    first, second = ways
    names = sorted(first.names | second.names)
    kept = [one for one in names if one not in first.names & second.names or one in second.loaded]
    old = "try: {0}o{1} = {1}\nexcept NameError: {0}o{1} = _dpassay_missing"
    lines: list[tuple[str, ast.AST | None]] = [(old.format(name, one), None) for one in kept]
    lines += [(f"{one} = {name}o{one}", None) for one in kept]
    for number, way in enumerate(ways):
        for line in way.lines:
            lines.append((f"{'' if line.kind is None else f'{name}{number}'}{line.name} = {line.text}", line.place))
            lines += [] if line.kind is None else [(f"_dpassay_sealed({line.name})", None)]
        if number == 0:
            lines.append(("_dpassay_sealed()", None))
            lines += [(f"{name}n{one} = {one}", None) for one in names]
            lines += [(f"{one} = {name}o{one}", None) for one in kept]
    lines.append(("_dpassay_computed()", None))
    lines += [(f"{one} = _dpassay_either({name}, {name}n{one}, {one})", None) for one in names]
    for one, line in {**second.added, **first.added}.items():
        assert line.kind is not None
        sides = [
            f"{name}{number}{one}" if one in way.added else _NEUTRAL[line.kind][1] for number, way in enumerate(ways)
        ]
        lines.append((line.onto(f"_dpassay_either({name}, {', '.join(sides)})"), line.place))
    return lines


def converted(run: Any, names: dict[str, Any]) -> list[tuple[FunctionType, CodeType]]:
    """The functions of the code's own modules, and what is run, each with the code that runs while it is certified.

    They are what its module holds, and what that holds, and the functions and classes of its other modules.
    """

    def of_others(module: Any) -> bool:
        return module != names.get("__name__") and of_a_library(str(module))

    def inside(one: Any) -> Iterable[Any]:
        kept = list[Any]()
        if isinstance(one, FunctionType) and one.__globals__ is not names:
            kept = [one.__closure__, one.__defaults__, one.__kwdefaults__, vars(one)]  # what it decorates
            named = {} if of_others(one.__globals__.get("__name__")) else one.__globals__
        elif isinstance(one, ModuleType):
            named = {} if of_others(one.__name__) else vars(one)
        elif isinstance(one, type) and of_others(one.__module__):
            named = {}
        else:
            return () if one is names else filter(gc.is_tracked, gc.get_referents(one))
        return [*kept, *(one for one in named.values() if isinstance(one, FunctionType | ModuleType | type))]

    found = list[tuple[FunctionType, CodeType]]()
    held = [one for name, one in names.items() if name not in ("__builtins__", "__loader__", "__spec__")]
    for one in reachable([run, *held], inside):
        if type(one) is FunctionType and not of_others(one.__globals__.get("__name__")):
            file = one.__code__.co_filename
            new = _codes(file, "".join(linecache.getlines(file))).get(one.__code__)  # None: it is another file now
            if new is not None and new.co_freevars == one.__code__.co_freevars:
                found.append((one, new))
    FOLLOWED.update(code for _, new in found for code in nested(new))
    return found


@lru_cache(maxsize=256)
def _codes(file: str, text: str) -> dict[CodeType, CodeType]:
    """By the code of a file as it is written: as it is converted."""
    try:
        plain = compile(text, file, "exec", dont_inherit=True)
        found = ast.fix_missing_locations(_Converter().visit(ast.parse(text)))
        changed = compile(found, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    old, new = _by_name(plain), _by_name(changed)
    same = [key for key, codes in old.items() if len(codes) == len(new.get(key, ()))]
    return dict(pair for key in same for pair in zip(old[key], new[key], strict=True))


def _by_name(code: CodeType) -> dict[tuple[str, int], list[CodeType]]:
    found: dict[tuple[str, int], list[CodeType]] = {}
    for one in nested(code):
        found.setdefault((one.co_qualname, one.co_firstlineno), []).append(one)
    return found
