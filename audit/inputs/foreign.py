"""Code of other people: found by name, called with care. What it raises becomes one line that says where.

A space may also be written on the command line, ``Space.matrix(n=(1,), radius=2.0)``: read and never evaluated.
"""

import ast
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

from dpassay.audit.lockstep.source_lines import place_raised
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.errors import BadInput, require
from dpassay.reference.space import Space

#: of a number that is not finite, or a division by zero
ENDLESS = (
    "a norm that may be zero takes a floor, as np.maximum(norm, 1e-12); of an empty batch divide the sum by a public "
    "number, such as the rate times the number of records"
)
_MAKERS: dict[str, tuple[Callable[..., Space], tuple[str, ...]]] = {
    "matrix": (Space.matrix, ("n", "d", "radius")),
    "numbers": (Space.numbers, ("n", "radius")),
}
_NAMES = {f"{before}Space.{name}": name for name in _MAKERS for before in ("", "dpassay.reference.")}


@contextmanager
def foreign_code(field: str, name: str, tried: str = "", sizes: str = "") -> Iterator[None]:
    """Whatever code of others raises becomes a BadInput that says where; a `sys.exit(0)` in it is no verdict either.

    Args:
        tried: on what it was run.
        sizes: what to do where data of other sizes may help: an index or a shape is wrong.
    """
    try:
        yield
    except BadInput:
        raise
    except (Exception, SystemExit) as error:
        where = place_raised(error).replace(":", ", line ")
        hint = tried + sizes if isinstance(error, IndexError | ValueError) else tried
        hint = f"; {ENDLESS}" if isinstance(error, ZeroDivisionError) else hint
        raise BadInput(field, name, f"raised {type(error).__name__}{where}: {error}{hint}") from None


def is_code(name: str) -> bool:
    """``MODULE:NAME`` of somebody's code, not a key of the catalogue: keys have a paper, modules have dots."""
    return ":" in name and ("/" not in name or ".py:" in name)


def relation_named(text: str | None, field: str = "--relation") -> Relation | None:
    """The relation of this name, which must be one; None where it is left out."""
    known: tuple[Relation, ...] = get_args(Relation)
    found = next((one for one in known if one == text), None)
    require(text is None or found is not None, field, text, f"must be {' or '.join(known)}")
    return found


def require_trusted(name: str, modules: Collection[str], where: str) -> None:
    """The user named the module of a MODULE:NAME that a file names; it may be no code."""
    module = name.partition(":")[0]
    why = f"is code, and a file must not choose what is run; if you trust it: --module {module}"
    require(not is_code(name) or module in modules, f"{where}: module", module, why)


def load_callable(name: str, field: str) -> Callable[..., Any]:
    """What MODULE:FUNCTION names; the working directory is searched first."""
    found = load_object(name, field)
    require(callable(found), field, name, "is not callable")
    return found  # type: ignore[no-any-return]


def load_object(name: str, field: str) -> Any:
    """What MODULE:NAME names; the working directory is searched first."""
    module, _, function = name.partition(":")
    good = is_code(name) and bool(module and function) and not module.startswith(".") and not module.endswith(".py")
    file = Path(module)
    instead = f"; in the folder {file.parent} say {file.stem}:{function}" if file.suffix == ".py" else ""
    require(good, field, name, f"must be MODULE:FUNCTION{instead}")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    with foreign_code(field, name):
        try:
            found: Any = import_module(module)
            for part in function.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError) as error:
            raise BadInput(field, name, f"cannot be loaded: {error}") from None
    return found


def silent(*_: Any, **__: Any) -> None:
    """In place of print."""


def is_written(text: str) -> bool:
    """It is meant as a space in words, not as MODULE:SPACE."""
    return text.strip().startswith(tuple(f"{name}(" for name in _NAMES))


def written_space(text: str, field: str = "--space") -> Space:
    """The space that the words say; BadInput for another call, or arguments that are no plain numbers."""
    try:
        call = ast.parse(text.strip(), mode="eval").body
        written = isinstance(call, ast.Call) and ast.unparse(call.func) in _NAMES
        require(written, field, text, "is no Space.matrix(...) or Space.numbers(...)")
        assert isinstance(call, ast.Call)
        make, arguments = _MAKERS[_NAMES[ast.unparse(call.func)]]
        given = dict(zip(arguments, map(ast.literal_eval, call.args), strict=False))
        given |= {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
        read: dict[str, Any] = {name: _sizes(value) if name in ("n", "d") else value for name, value in given.items()}
        return make(**read)
    except BadInput:
        raise
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise BadInput(field, text, "takes n, d (numbers, as in n=(1, 2); no d in Space.numbers) and radius") from None


def _sizes(value: object) -> tuple[int, ...]:
    sizes = value if isinstance(value, tuple | list) else (value,)
    if not all(type(size) is int for size in sizes):
        raise TypeError("sizes are whole numbers")
    return tuple(sizes)
