"""What programs say, and names on the command line: the lines of both protocols, and how `fuzz.py` feeds them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.audit.attacks.estimators import labelled_data
from dpassay.audit.blackbox.programs import CommandLine, KeptAlive
from dpassay.audit.blackbox.sources import read_source
from dpassay.audit.blackbox.suspicions import of_outputs
from dpassay.audit.blackbox.table import to_tables
from dpassay.audit.claims.claimed import claimed_guarantee
from dpassay.audit.claims.outputs import answer_and_scale
from dpassay.audit.inputs import subject
from dpassay.audit.inputs.own import open_space
from dpassay.audit.inputs.subject import subjects
from dpassay.audit.live import messages
from dpassay.audit.live.conversation import Conversation
from dpassay.audit.live.errors import ProgramEnded
from dpassay.audit.live.program import LiveProgram
from dpassay.reference.accounting.cost import account
from dpassay.reference.tape import LiveTape

_ASKS: tuple[object, ...] = (
    {"ask": "batch", "label": "b", "n": 9, "size": 3},
    {"ask": "poisson", "label": "p", "n": 9, "rate": 0.5},
    {"ask": "gaussian", "label": "g", "query": [1.0, -2.5e-3], "std": 2.0, "sensitivity": 0.5, "batches": [0]},
    {"ask": "gaussian", "label": "g", "query": [[1.0, 2.0]], "std": 2.0, "sensitivity": 0.5},
    {"ask": "laplace", "label": "l", "query": 1.0, "scale": 2.0, "sensitivity": None},
    {"ask": "secret", "label": "r", "draw": "normal", "shape": [2]},
    {"ask": "public", "label": "u", "draw": "permutation", "below": 5},
    {"ask": "public", "label": "i", "draw": "integers", "shape": [2, 2], "below": 5},
    {"ask": "secret", "label": "s", "draw": "ball", "shape": [3], "radius": 2.0},
    {"ask": "noise", "label": "n", "std": 1.0, "shape": [2]},
    {"ask": "reveal", "label": "v", "value": {"a": [1, 2]}},
    {"ask": "fresh", "label": "f", "n": 9, "size": 3, "order": "index"},
    {"ask": "above_threshold", "label": "t", "count": 2, "threshold": 1e9, "threshold_scale": 1.0, "query_scale": 1.0,
     "sensitivity": 1.0},
    {"output": [1.0, 2.0]},
)  # fmt: skip
LINES = tuple(json.dumps(one).encode() for one in _ASKS)
CASE = b"\n".join([*LINES[:-1], b'{"query": 0.5}', b'{"query": -0.5}', LINES[-1]])
_RELEASE = {"label": "a", "sensitivity": 1.0}
_BOUNDED = {"query": 0.5, "scale": 1.5, "lower": -1.0, "upper": 2.0}
_LAWS: tuple[dict[str, object], ...] = (
    {"ask": "geometric", "query": 3, "scale": 1.5}, {"ask": "discrete_gaussian", "query": 3, "scale": 1.5},
    {"ask": "uniform", "query": 0.5, "scale": 1.5}, {"ask": "folded_laplace", **_BOUNDED},
    {"ask": "truncated_laplace", **_BOUNDED}, {"ask": "bounded_laplace", **_BOUNDED},
    {"ask": "truncated_geometric", "query": 1, "scale": 1.5, "lower": 0, "upper": 4},
    {"ask": "folded_geometric", "query": 1, "scale": 1.5, "lower": 0, "upper": 4},
    {"ask": "bounded_noise_laplace", "query": 0.5, "scale": 1.5, "bound": 3.0},
    {"ask": "staircase", "query": 0.5, "scale": 1.5, "epsilon": 1.0, "gamma": 0.5},
    {"ask": "snapping", "query": 0.5, "scale": 1.5, "grid": 2.0, "bound": 8.0},
    {"ask": "exponential", "utilities": [1.0, 2.0], "rate": 0.5, "monotonic": True},
    {"ask": "permute_and_flip", "utilities": [1.0, 2.0, 0.0], "rate": 0.5},
    {"ask": "categorical", "log_probabilities": [math.log(0.25), math.log(0.75)]},
    {"ask": "intervals", "edges": [0.0, 1.0, 2.0], "utilities": [1.0, 2.0], "rate": 0.5},
    {"ask": "bingham", "query": [[1.0, 0.5], [0.5, 2.0]], "rate": 0.5},
)  # fmt: skip
LAWS = tuple(json.dumps({**one, **_RELEASE}).encode() for one in (*_LAWS, *_ASKS[2:5]))
GREETINGS = (b'{"dpassay": 1, "program": "fuzz", "again": true}', b'{"query": [1.5]}', b'{"refused": "n is 0"}')
ANSWERS = (
    b'{"outputs": [1.5, 2, null, "text 7e3", {"a": [1, 2]}, [0.5], true, -0.0, 1, "x"]}',
    b'1.25\n{"a": 1}\n[1, [2, 3]]\nnull\n"words 5"\n7\n8\n9\n10\n11',
)
BOX = b'{"outputs": [[0.25, "yes"], [1e-3, "no"], {"b": {"c": 3}}, "5 of 7", 12, 0.1, 0.2, 0.3, 4, 5]}'
NAMES = (
    b"baselines/dp_sgd:full-batch@baseline", b"dro", b"json:dumps", b"math:pi", b"mine.module:make.inner",
    b"1.1:0.5:2", b"0.5:1.5", b"python -c 'print(1)'", b"breast cancer", b"numbers.csv",
)  # fmt: skip


class Program:
    """A program that says the lines of a file, and then ends."""

    name, complaint, budget = "fuzz", "", 0.0

    def __init__(self, lines: Sequence[bytes]):
        self._lines = iter(lines)

    def send(self, line: bytes) -> None:
        """Nobody listens."""

    def receive(self, timeout: float | None = None) -> bytes:
        """The next line."""
        line = next(self._lines, None)
        if line is None:
            raise ProgramEnded("the program closed its output")
        return line

    def close(self) -> None:
        """Nothing to end."""


def said(path: Path) -> Any:
    """One line of the live protocol within a case."""
    found = messages.read_line(path.read_bytes())
    if hasattr(found, "query"):
        messages.numbers(found.query, "query")
    return found


def greeted(path: Path) -> Any:
    """One line outside of a case, or in answer to a query."""
    line, refused = path.read_bytes(), []
    for kind in (messages.GREETING, messages.QUERY, None):
        try:
            found = messages.read_line(line, kind)
            return messages.numbers(found.query, "query") if kind is messages.QUERY else found
        except messages.Malformed as error:
            refused.append(error)
    raise max(refused, key=lambda one: not str(one).isprintable())


def conversation(path: Path) -> Any:
    """A whole case of the live protocol on a tape."""
    return Conversation(Program(path.read_bytes().split(b"\n")), LiveTape(0)).hold(b"{}\n")  # type: ignore[arg-type]


def released(path: Path) -> Any:
    """A release by any law, and what it costs."""
    tape = LiveTape(0)
    draw = LINES[0] + b"\n" if b"batches" in path.read_bytes() else b""
    Conversation(Program([*(draw + path.read_bytes()).split(b"\n"), LINES[-1]]), tape).hold(b"{}\n")  # type: ignore[arg-type]
    return account(tape.transcript, "replace-one").epsilon(1e-5)


def answered(path: Path) -> Any:
    """Ten outputs of a program that is kept alive, as a table."""
    program, rng = KeptAlive(["fuzz"]), np.random.default_rng(0)
    program._process = Program(path.read_bytes().split(b"\n"))  # type: ignore[assignment]
    outputs = program.many([1.0, 2.0], rng, 10)
    return of_outputs(to_tables(outputs, outputs[:5]), outputs, outputs[:5])


def talked(path: Path) -> Any:
    """One output of a program that is started for each run."""
    output = CommandLine(["fuzz"])._value(path.read_bytes())
    return to_tables([output, output], [output])


_built: dict[str, Any] = {}  # rows of the catalogue, each once
_plain = subject._of_case
subject._of_case = lambda case: _built.get(case.key) or _built.setdefault(case.key, _plain(case))


def named(path: Path) -> Any:
    """A word of the command line, as every option that takes one reads it."""
    word = path.read_bytes().decode("utf-8", "surrogateescape").replace("\x00", "")  # no argument can hold a zero
    failures = []
    dataset = Path(__file__)
    readers: tuple[Callable[[], Any], ...] = (
        lambda: subjects(word),
        lambda: open_space(word, None),
        lambda: claimed_guarantee(None, 1e-5, None, word, None),
        lambda: answer_and_scale(word),
        lambda: LiveProgram(word, word),
        lambda: labelled_data(word),
        lambda: read_source(word, None, dataset, dataset),
    )
    for read in readers:
        try:
            read()
        except ValueError as error:
            if type(error).__name__ != "BadInput":
                raise
            failures.append(error)
    if len(failures) == len(readers):
        raise failures[0]
    return failures
