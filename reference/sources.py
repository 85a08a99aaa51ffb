"""Which source and data an answer hangs on: those of the modules that it starts from, and of all that these reach.

A module reaches what it imports, in whatever block that stands, but not what it imports for the type checker alone; of
a package that imports a name when it is first asked for, the module that has the name; of a module whose name it makes
(``import_module(f"{__name__}.{paper}")``), all that bear such a name. The data in the folders of these modules count
that bear the name of one of them, or whose names stand in their texts. Nothing is imported to find that out.
"""

import ast
import hashlib
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import resolve_name
from pathlib import Path
from typing import Any, NamedTuple

from .kept import keep, kept

_PACKAGE = __name__.partition(".")[0]
_HOME = Path(__file__).parents[1]
_DATA = (".csv", ".toml")
_contents: dict[Path, bytes] = {}
_scanned: dict[str, list[Any]] = {}  # by name of a module and of its file the hash of its source, and what it reaches


def own(name: str) -> bool:
    """Is this a module of this package."""
    return name.partition(".")[0] == _PACKAGE


def code_of(starts: Iterable[str], *more: str, ours: Callable[[str], bool] = own, but: Container[str] = ()) -> str:
    """A hash of the source and the data of these modules and of what they reach, as far as it is ours, and of ``more``.

    Args:
        but: modules that are reached by a name that is made, and that this answer does not ask for.
    """
    scanner = _hash(_content(Path(__file__)))
    if not _scanned:
        _scanned.update(kept("imports", scanner) or {})
    before = dict(_scanned)
    digest, modules = hashlib.sha256(), followed(starts, lambda name: name not in but and ours(name))
    if _scanned != before:  # to parse all modules takes longer than all else here
        keep("imports", scanner, _scanned)
    for name, path in sorted((*modules.items(), *_data(set(modules.values())))):
        digest.update(name.encode() + b"\0" + _content(path) + b"\0")
    for text in more:
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()


def followed(starts: Iterable[str], ours: Callable[[str], bool]) -> dict[str, Path]:
    """The source files of these modules, of what they reach, and of the packages around them."""
    found: dict[str, Path] = {}
    todo, seen = list(starts), set[str]()
    while todo:
        name = todo.pop()
        if not name or name in seen:
            continue
        seen.add(name)
        if not ours(name):
            continue
        around, _, last = name.rpartition(".")
        todo.append(around)  # to import a.b runs a/__init__.py
        path = source(name)
        if path is not None:
            found[name] = path
            reached = imported(path, name)
            todo += [*reached.names, *(one for pattern in reached.made for one in _modules_like(pattern))]
        elif around and (path := source(around)) is not None:  # a name in a module, or all of them
            homes = imported(path, around).homes
            todo += homes.values() if last == "*" else [homes.get(last, "")]
    return found


def forget() -> None:
    """Read sources anew, but those of this package: what runs is what was read when it was loaded."""
    _spec.cache_clear()
    for path in [one for one in _contents if not one.is_relative_to(_HOME)]:
        del _contents[path]


def source(name: str) -> Path | None:
    """The source file of a module."""
    spec = _spec(name)
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


@cache
def _spec(name: str) -> ModuleSpec | None:
    """As :func:`importlib.util.find_spec`, which imports the packages around a module."""
    around, _, last = name.rpartition(".")
    places = getattr(_spec(around), "submodule_search_locations", None) if around else None
    if around and places is None:
        return None
    finders = [finder for finder in sys.meta_path if hasattr(finder, "find_spec")]
    try:
        return next(filter(None, (finder.find_spec(name, places) for finder in finders)), None)
    except (ImportError, ValueError):
        return None
    except KeyError:  # a folder without __init__.py is looked up in the package around it, if that is imported
        found = ModuleSpec(name, None, is_package=True)
        found.submodule_search_locations = [f"{place}/{last}" for place in places or ()]
        return found


def _content(path: Path) -> bytes:
    if path.suffix in _DATA:  # it may be large
        return path.read_bytes()
    if path not in _contents:
        _contents[path] = path.read_bytes()
    return _contents[path]


def _data(modules: set[Path]) -> Iterator[tuple[str, Path]]:
    """The data that modules read, as their folders and texts say; this package names none that lie beside others."""
    here = {path for path in modules if path.is_relative_to(_HOME)}
    for some in (here, modules - here):
        text = b"".join(map(_content, some))
        found = (one for folder in {path.parent for path in some} for one in folder.iterdir() if one.suffix in _DATA)
        for one in found:
            if (one.with_suffix(".py") in some or one.name.encode() in text) and one.is_file():
                yield f"{one.parent.name}/{one.name}", one


class Reached(NamedTuple):
    """What a module imports."""

    names: Sequence[str]  # of modules, or of what is in them
    homes: Mapping[str, str]  # of a package: names that it imports when they are first asked for, each with its module
    made: Sequence[str]  # names of modules that it makes, with ``*`` for what is put in


def imported(path: Path, name: str = "") -> Reached:
    """What the module of this name, with this source, reaches."""
    content, key = _content(path), f"{name} {path.name}"
    if key not in _scanned or _scanned[key][0] != _hash(content):
        _scanned[key] = [_hash(content), *_reached(content, name, path.name == "__init__.py")]
    return Reached(*_scanned[key][1:])


@cache  # of content, and so never out of date
def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _reached(content: bytes, name: str, is_package: bool) -> Reached:
    package = name if is_package else name.rpartition(".")[0]
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # it cannot be imported
        return Reached((), {}, ())
    names, homes = list[str](), dict[str, str]()
    for node, checked in _statements(tree.body):
        if isinstance(node, ast.Import) and not checked:
            names += [f"{alias.name}{end}" for alias in node.names for end in ("", ".*")]
        elif isinstance(node, ast.ImportFrom):
            base = _absolute("." * node.level + (node.module or ""), package)
            if not checked:
                names += [base, *(f"{base}.{alias.name}{end}" for alias in node.names for end in ("", ".*"))]
            elif is_package:  # what `extras.front_door` imports is told to the type checker
                homes |= {alias.name: base for alias in node.names}
    return Reached(names, homes, [*_made_names(tree, name, package)] if b"import_module" in content else ())


def _statements(block: Iterable[Any], checked: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Statements in whatever block, each with whether the type checker alone sees it; no expressions, for speed."""
    for one in block:
        yield one, checked
        test = getattr(one, "test", None)
        aside = "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from _statements(getattr(one, part, ()), checked or (aside and part == "body"))


def _absolute(name: str, package: str) -> str:
    try:
        return resolve_name(name, package)
    except ImportError:  # beyond the packages that there are: it cannot be imported
        return ""


def _made_names(tree: ast.AST, name: str, package: str) -> Iterator[str]:
    """Names that are handed to ``import_module``, with ``*`` for what is put in; none if the beginning is put in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            parts = [part for one in node.args[:1] for part in getattr(one, "values", [one])]
            values = [getattr(part, "value", part) for part in parts]
            texts = [one if isinstance(one, str) else name if ast.unparse(one) == "__name__" else "*" for one in values]
            if texts and texts[0] != "*":
                yield _absolute("".join(texts), package)


def _modules_like(pattern: str) -> list[str]:
    """The modules whose names fit."""
    around = pattern.partition("*")[0].rpartition(".")[0]
    places = getattr(_spec(around), "submodule_search_locations", None) if "*" in pattern else None
    if places is None:
        return [pattern]
    inside = (one.relative_to(place).with_suffix("") for place in places for one in Path(place).rglob("*.py"))
    names = (".".join((around, *one.parts)).removesuffix(".__init__") for one in inside)
    return [one for one in names if fnmatchcase(one, pattern) and one.count(".") == pattern.count(".")]
