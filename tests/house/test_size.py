"""Size is a property of the product: ceilings of lines, files, rooms and functions, and rooms that import downwards.

`python tests/house/test_size.py` (or `make size`) prints the numbers beside their ceilings.
"""

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("reference", "audit", "proofs_check")
CEILINGS = tomllib.loads((ROOT / "tests/house/ceilings.toml").read_text(encoding="utf-8"))
ORDER = CEILINGS["rooms"]["order"]
LONGEST = 60  # lines of a function
DOORS = {"__init__", "__main__", "cli", "pytest_audit", "pytest_plugin", "start"}  # above all rooms


def files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def statements(node: ast.AST) -> Iterator[ast.AST]:
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        for one in getattr(node, block, ()):
            yield one
            yield from statements(one)


def lines(*folders: str) -> int:
    return sum(path.read_text(encoding="utf-8").count("\n") for path in files(*folders))


def long_functions() -> list[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [(path, node, node.end_lineno - node.lineno + 1) for path in files(*PRODUCT)
             for node in statements(parsed(path)) if isinstance(node, kinds)]  # fmt: skip
    return [f"{path.relative_to(ROOT)}:{node.lineno} {node.name} ({n} lines)" for path, node, n in found if n > LONGEST]


def room(parts: tuple[str, ...]) -> str:
    return parts[0] if len(parts) > 1 or (ROOT / "audit" / parts[0]).is_dir() else "."


def upward(path: Path, tree: ast.Module) -> list[str]:
    """Imports of a room that stands above that of `path`."""
    here = path.relative_to(ROOT / "audit").parts
    home, found = here[0] if len(here) > 1 else ".", []
    for node in statements(tree):
        if not isinstance(node, ast.ImportFrom) or (home == "." and Path(here[0]).stem in DOORS):
            continue
        if node.level == 0 and (node.module or "").startswith("dpassay.audit."):
            parts = tuple(node.module.split(".")[2:])
        elif node.level == 1 and home == "." and node.module:
            parts = tuple(node.module.split("."))
        else:
            continue
        there = room(parts)
        if there != home and ORDER.index(there) > ORDER.index(home):
            found.append(f"{path.relative_to(ROOT)}:{node.lineno} {home} -> {there}")
    return found


def measured() -> dict[str, tuple[int, list[str]]]:
    homes = [path.parent for path in files(*PRODUCT, "benchmarks") if path.stem != "__init__"]
    rooms = Counter(str(home.relative_to(ROOT)) for home in homes)
    long = long_functions()
    up = [line for path in files("audit") for line in upward(path, parsed(path))]
    return {
        "product": (lines(*PRODUCT), []),
        "tests": (lines("tests"), []),
        "benchmarks": (lines("benchmarks"), []),
        "files": (len(files(*PRODUCT, "tests", "benchmarks", "docs", "examples")), []),
        "largest-room": (max(rooms.values()), [f"{name}: {n}" for name, n in rooms.most_common() if n > 20]),
        "functions-over-60-lines": (len(long), long),
        "upward-imports": (len(up), up),
    }


LIMITS = {**CEILINGS["lines"], **CEILINGS["counts"]}


def test_nothing_is_larger_than_its_ceiling():
    over = [
        f"{name}: {number} > {LIMITS[name]['allowed']} {places[:20]}"
        for name, (number, places) in measured().items()
        if number > LIMITS[name]["allowed"]
    ]
    assert not over, "make it smaller, or say in the change what grew and why: " + "; ".join(over)


def test_every_room_has_its_place_in_the_order():
    folders = {path.name for path in (ROOT / "audit").iterdir() if path.is_dir() and any(path.glob("*.py"))}
    assert folders <= set(ORDER), folders - set(ORDER)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("from dpassay.audit.commands.audit import audit", 1),
        ("if TYPE_CHECKING:\n    from dpassay.audit.report.table import x", 1),
        ("from dpassay.audit.lockstep.counts import x", 0),
    ],
)
def test_an_upward_import_is_seen(text, count):
    assert len(upward(ROOT / "audit" / "search" / "engine.py", ast.parse(text))) == count


if __name__ == "__main__":
    print(f"{'':<26}{'now':>8}{'allowed':>9}{'goal':>8}")
    for name, (number, places) in measured().items():
        print(f"{name:<26}{number:>8}{LIMITS[name]['allowed']:>9}{LIMITS[name]['goal']:>8}")
        if number > LIMITS[name]["goal"]:
            print("".join(f"    {place}\n" for place in places[:40]), end="")
