"""Operators over the syntax tree: where a bug can be planted in a file of source, and what the line then says."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dpassay.reference.files import parse_toml, read_text

RELEASES = ("gaussian", "symmetric_gaussian", "laplace", "above_threshold")
CLIPS = ("clip", "clip_rows")


@dataclass(frozen=True)
class Operator:
    """A kind of bug.

    Args:
        must: it must be caught wherever it changes what is released (otherwise it is harmless for privacy).
        why: the reason for that class.
    """

    name: str
    must: bool
    why: str


@dataclass(frozen=True)
class Site:
    """One place for one operator: the source text from ``first`` to ``last`` becomes ``text``."""

    operator: Operator
    line: int
    first: int
    last: int
    text: str


KINDS = parse_toml(read_text(Path(__file__).with_name("operators.toml"), "operators"), "operators.toml")
AT_RELEASES, AT_THRESHOLDS = tuple(KINDS["at_releases"]), tuple(KINDS["at_thresholds"])
_WHY: dict[str, str] = KINDS["at_releases"] | KINDS["elsewhere"]
OPERATORS = {name: Operator(name, name not in KINDS["harmless"], why) for name, why in _WHY.items()}
Change = tuple[str, ast.expr, str]  # operator, what is replaced, and by what


class Source:
    """A file with its syntax tree, and the tree's places as offsets into the text."""

    def __init__(self, text: str):
        self.text, self.tree = text, ast.parse(text)
        self._lines = [0]
        for line in text.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line.encode()))
        self._bytes = text.encode()

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """First and last position, in characters."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        first = self._lines[node.lineno - 1] + node.col_offset
        last = self._lines[node.end_lineno - 1] + node.end_col_offset
        return len(self._bytes[:first].decode()), len(self._bytes[:last].decode())

    def code(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node."""
        first, last = self.span(node)
        return self.text[first:last]

    def site(self, operator: Operator, node: ast.expr | ast.stmt, text: str) -> Site:
        """The place of a node, which becomes the text."""
        first, last = self.span(node)
        return Site(operator, node.lineno, first, last, text)


def sites(text: str) -> list[Site]:
    """Every place in a file where an operator applies."""
    source = Source(text)
    found: list[Change] = []
    for node in ast.walk(source.tree):
        found += _anywhere(source, node)
        match node:
            case ast.FunctionDef(args=ast.arguments(args=names)) if {"problem", "tape"} <= {one.arg for one in names}:
                found += _beside_records(source, node)
    made = [source.site(OPERATORS[name], node, text) for name, node, text in found]
    return sorted(made, key=lambda site: (site.line, site.operator.name, site.first))


def _anywhere(source: Source, node: ast.AST) -> Iterator[Change]:
    code = source.code
    match node:
        case ast.Call(func=ast.Attribute(attr="batch", value=tape), args=args) if _is_tape(code(tape)):
            yield "batch_reused", node, f"_planted.same_batch({code(tape)}, lambda: {code(node)})"
            if len(args) == 3:
                yield "batch_smaller", args[2], f"max(1, ({code(args[2])}) // 2)"
        case ast.Call(func=ast.Attribute(attr=release, value=tape)) if release in RELEASES and _is_tape(code(tape)):
            names = (*AT_THRESHOLDS, "threshold_bare") if release == "above_threshold" else AT_RELEASES
            batch = ("batch_undeclared",) if any(keyword.arg == "batch" for keyword in node.keywords) else ()
            for name in names + batch:
                yield name, tape, f'_planted.through({code(tape)}, "{name}")'
        case ast.Call(func=ast.Name(id=clip), args=[rows, bound, *_]):
            if clip in CLIPS:
                yield "clip_removed", node, f"({code(rows)})"
                yield "clip_by_coordinates", node, f"_planted.clipped_by_coordinates({code(rows)}, {code(bound)})"
            if clip in (*CLIPS, "clipped_mean"):
                yield "clip_twice_as_wide", bound, f"2 * ({code(bound)})"
        case ast.For() if (stop := _last_step(source, node)) is not None:
            yield "one_step_more", stop, f"({code(stop)}) + 1"
            yield "one_step_less", stop, f"({code(stop)}) - 1"
        case ast.If(test=ast.Compare(left=left, ops=[ast.Lt()], comparators=[right])):
            yield "less_or_equal", node.test, f"{code(left)} <= {code(right)}"


def _beside_records(source: Source, function: ast.FunctionDef) -> Iterator[Change]:
    """Where raw records are at hand: in a function that takes the problem and a tape."""
    code, start = source.code, _start(function)
    if start is not None:
        yield "start_of_the_data", start, f"_planted.moved(({code(start)}), problem)"
    for node in ast.walk(function):
        match node:
            case ast.Return(value=ast.expr() as value) if function.name == "run":
                yield "output_of_the_data", value, f"_planted.with_data({code(value)}, problem)"
            case ast.For() if (stop := _last_step(source, node)) is not None:
                yield "steps_of_the_data", stop, f"({code(stop)}) - int(_planted.private(problem) > 0)"
            case ast.Call(func=ast.Attribute(attr="public")):
                yield "public_value_of_the_data", node, f"({code(node)} + _planted.private(problem))"
            case ast.Call(func=ast.Attribute(attr="batch"), args=[*_, size]):
                less = f"max(1, ({code(size)}) - int(_planted.private(problem) > 0))"
                yield "batch_size_of_the_data", size, less
    for node in [one for one in ast.walk(function) if isinstance(one, ast.If)][:1]:
        yield "branch_of_the_data", node.test, f"({code(node.test)}) != (_planted.private(problem) > 0.3)"


def _start(function: ast.FunctionDef) -> ast.expr | None:
    """What a variable is set to out of ``start``, else the first place where it is read: a default may stand beside."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and _first_start(node.value) is not None:
            return node.value
    return _first_start(function)


def _first_start(node: ast.AST) -> ast.Attribute | None:
    return next((one for one in ast.walk(node) if isinstance(one, ast.Attribute) and one.attr == "start"), None)


def _last_step(source: Source, loop: ast.For) -> ast.expr | None:
    """Where a loop over a range ends, if it releases something, itself or in a function that gets the tape."""
    match loop.iter:
        case ast.Call(func=ast.Name(id="range"), args=[_, *_] as args):
            for node in ast.walk(loop):
                if isinstance(node, ast.Call):
                    method = isinstance(node.func, ast.Attribute) and node.func.attr in RELEASES
                    if method or any(_is_tape(source.code(one)) for one in node.args):
                        return args[min(1, len(args) - 1)]
    return None


def _is_tape(code: str) -> bool:
    return code.split(".")[-1].lstrip("_") == "tape"
