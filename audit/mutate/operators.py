"""Operators over the syntax tree: where a bug can be planted in a file of source, and what the line then says."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

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


def _release(name: str, why: str, must: bool = True) -> Operator:
    return Operator(name, must, why)


AT_RELEASES = (
    _release("noise_dropped", "the query is released as it is"),
    _release("noise_halved", "costs twice as much"),
    _release("noise_tenth_less", "costs 11 % more"),
    _release("noise_tenth_more", "costs less", must=False),
    _release("noise_over_root_d", "noise for one coordinate spread over all of them"),
    _release("noise_a_variance", "a variance where a standard deviation belongs"),
    _release("noise_of_the_release_before", "one release has the noise scale of another"),
    _release("noise_of_the_data", "the noise scale depends on the query"),
    _release("sensitivity_halved", "the query moves by more than it declares"),
    _release("sensitivity_and_noise_halved", "the query moves by more than it declares, with noise for less"),
    _release("moves_half_as_far_again", "the query moves by 1.5 times what it declares"),
    _release("query_in_its_place", "what goes on is the query, not the released value"),
    _release("query_in_part", "half of what goes on is the query"),
    _release("released_twice", "two releases where one is meant"),
    _release("noise_used_again", "noise that was used before protects once"),
    _release("step_of_the_data", "the released value is scaled by the norm of the query"),
    _release("query_of_the_run_before", "the query comes out of a cache that outlives the run"),
)
BATCH_UNDECLARED = Operator("batch_undeclared", True, "a query on a secret batch passes for one on all records")
BATCH_REUSED = Operator("batch_reused", True, "one secret batch for all steps: the record is in all of them or none")
BATCH_SMALLER = Operator("batch_smaller", True, "half the records: each moves the mean twice as far as declared")
BATCH_OF_THE_DATA = Operator("batch_size_of_the_data", True, "the size of the batch depends on the records")
CLIP_REMOVED = Operator("clip_removed", True, "nothing bounds what one record can do")
CLIP_COORDINATES = Operator("clip_by_coordinates", True, "the 2-norm may be sqrt(d) times the bound")
CLIP_WIDER = Operator("clip_twice_as_wide", True, "a record moves the query twice as far as declared")
ONE_MORE = Operator("one_step_more", True, "a release more than the noise is made for")
ONE_LESS = Operator("one_step_less", False, "fewer releases cost less")
STEPS_OF_THE_DATA = Operator("steps_of_the_data", True, "the number of steps depends on the records")
BRANCH_OF_THE_DATA = Operator("branch_of_the_data", True, "a decision depends on the records")
OUTPUT_OF_THE_DATA = Operator("output_of_the_data", True, "the output is moved by the records")
START_OF_THE_DATA = Operator("start_of_the_data", True, "the public start is moved by the records")
PUBLIC_OF_THE_DATA = Operator("public_value_of_the_data", True, "a public value is moved by the records")
NOT_LESS = Operator("less_or_equal", False, "a tie between released values has probability zero")
THRESHOLD_BARE = _release("threshold_bare", "without noise on the threshold the answers are exact")
OPERATORS = (
    *AT_RELEASES, BATCH_UNDECLARED, BATCH_REUSED, BATCH_SMALLER, BATCH_OF_THE_DATA, CLIP_REMOVED, CLIP_COORDINATES,
    CLIP_WIDER, ONE_MORE, ONE_LESS, STEPS_OF_THE_DATA, BRANCH_OF_THE_DATA, OUTPUT_OF_THE_DATA, START_OF_THE_DATA,
    PUBLIC_OF_THE_DATA, NOT_LESS, THRESHOLD_BARE,
)  # fmt: skip


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
    found: list[Site] = []
    for find in (_releases, _batches, _clips, _loops, _data):
        found += find(source)
    return sorted(found, key=lambda site: (site.line, site.operator.name, site.first))


def plant(text: str, site: Site) -> str:
    """The file with the bug: one place changed, one import added below the future import."""
    changed = text[: site.first] + site.text + text[site.last :]
    mark = "from __future__ import annotations\n"
    assert mark in changed, "every file of the project has the future import"
    return changed.replace(mark, mark + "from dpassay.reference import _planted\n", 1)


def _calls(source: Source, names: tuple[str, ...]) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Calls of a method of a tape, with the expression that is the tape."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names:
            owner = source.code(node.func.value)
            if owner.split(".")[-1].lstrip("_") == "tape":
                yield node, node.func.value


def _releases(source: Source) -> Iterator[Site]:
    for call, tape in _calls(source, RELEASES):
        assert isinstance(call.func, ast.Attribute)
        threshold = call.func.attr == "above_threshold"
        known = ("noise_dropped", "noise_tenth_less", "noise_halved", "sensitivity_halved", "moves_half_as_far_again")
        operators = [one for one in AT_RELEASES if not threshold or one.name in known]
        operators += [THRESHOLD_BARE] if threshold else []
        if any(keyword.arg == "batch" for keyword in call.keywords):
            operators.append(BATCH_UNDECLARED)
        for operator in operators:
            name = source.code(tape)
            yield source.site(operator, tape, f'_planted.through({name}, "{operator.name}")')


def _batches(source: Source) -> Iterator[Site]:
    for call, tape in _calls(source, ("batch",)):
        code, name = source.code(call), source.code(tape)
        yield source.site(BATCH_REUSED, call, f"_planted.same_batch({name}, lambda: {code})")
        if len(call.args) == 3:
            size = call.args[2]
            yield source.site(BATCH_SMALLER, size, f"max(1, ({source.code(size)}) // 2)")
    for function in _functions(source):
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "batch":
                size = node.args[-1]
                text = f"max(1, ({source.code(size)}) - int(_planted.private(problem) > 0))"
                yield source.site(BATCH_OF_THE_DATA, size, text)


def _clips(source: Source) -> Iterator[Site]:
    for node in ast.walk(source.tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) >= 2):
            continue
        rows, bound = source.code(node.args[0]), source.code(node.args[1])
        if node.func.id in CLIPS:
            yield source.site(CLIP_REMOVED, node, f"({rows})")
            yield source.site(CLIP_COORDINATES, node, f"_planted.clipped_by_coordinates({rows}, {bound})")
        if node.func.id in (*CLIPS, "clipped_mean"):
            yield source.site(CLIP_WIDER, node.args[1], f"2 * ({bound})")


def _loops(source: Source) -> Iterator[Site]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and _has_release(source, node):
            made = node.iter
            if isinstance(made.func, ast.Name) and made.func.id == "range" and made.args:
                stop = made.args[min(1, len(made.args) - 1)]
                yield source.site(ONE_MORE, stop, f"({source.code(stop)}) + 1")
                yield source.site(ONE_LESS, stop, f"({source.code(stop)}) - 1")
        if isinstance(node, ast.If) and isinstance(node.test, ast.Compare) and isinstance(node.test.ops[0], ast.Lt):
            left, right = source.code(node.test.left), source.code(node.test.comparators[0])
            if len(node.test.ops) == 1:
                yield source.site(NOT_LESS, node.test, f"{left} <= {right}")


def _data(source: Source) -> Iterator[Site]:
    """Where raw records are at hand: functions that take the problem and a tape."""
    for function in _functions(source):
        first_branch = True
        start = _start(function)
        if start is not None:
            text = f"_planted.moved(({source.code(start)}), problem)"
            yield source.site(START_OF_THE_DATA, start, text)
        for node in ast.walk(function):
            if isinstance(node, ast.Return) and node.value is not None and function.name == "run":
                text = f"_planted.with_data({source.code(node.value)}, problem)"
                yield source.site(OUTPUT_OF_THE_DATA, node.value, text)
            if isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and _has_release(source, node):
                made = node.iter
                if isinstance(made.func, ast.Name) and made.func.id == "range" and made.args:
                    stop = made.args[min(1, len(made.args) - 1)]
                    text = f"({source.code(stop)}) - int(_planted.private(problem) > 0)"
                    yield source.site(STEPS_OF_THE_DATA, stop, text)
            if isinstance(node, ast.If) and first_branch:
                first_branch = False
                text = f"({source.code(node.test)}) != (_planted.private(problem) > 0.3)"
                yield source.site(BRANCH_OF_THE_DATA, node.test, text)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "public":
                text = f"({source.code(node)} + _planted.private(problem))"
                yield source.site(PUBLIC_OF_THE_DATA, node, text)


def _start(function: ast.FunctionDef) -> ast.expr | None:
    """What a variable is set to out of ``start``, else the first place where it is read: a default may stand beside."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and _first_start(node.value) is not None:
            return node.value
    return _first_start(function)


def _first_start(node: ast.AST) -> ast.Attribute | None:
    return next((one for one in ast.walk(node) if isinstance(one, ast.Attribute) and one.attr == "start"), None)


def _functions(source: Source) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef):
            names = {argument.arg for argument in (*node.args.posonlyargs, *node.args.args)}
            if {"problem", "tape"} <= names:
                yield node


def _has_release(source: Source, loop: ast.For) -> bool:
    """Does the loop release something, itself or in a function that gets the tape?"""
    for node in ast.walk(loop):
        if isinstance(node, ast.Call):
            given = [source.code(one) for one in node.args]
            method = isinstance(node.func, ast.Attribute) and node.func.attr in RELEASES
            if method or any(one.split(".")[-1].lstrip("_") == "tape" for one in given):
                return True
    return False
