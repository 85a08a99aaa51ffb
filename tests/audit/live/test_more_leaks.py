"""Ten more leaks in C and JavaScript, found with their cause; programs that are no function are refused."""

from __future__ import annotations

from functools import partial

import pytest
from typer.testing import CliRunner

from dpassay.audit.cli import app
from dpassay.audit.live.errors import ProgramBroken
from dpassay.audit.live.program import LiveProgram
from dpassay.audit.search.engine import search
from dpassay.audit.subjects.programs import to_its_end
from dpassay.reference.catalogue import find

from .more_leaks import BROKEN, LEAKS
from .test_examples import SGD, Twin, built

ALL = [pytest.param(language, twin, id=f"{language}: {twin.name}") for language in LEAKS for twin in LEAKS[language]]


@pytest.mark.slow
@pytest.mark.parametrize(("language", "twin"), ALL)
def test_a_leak_is_found_by_its_cause(language, twin, tmp_path):
    """By a search of 40 examples (seed 0)."""
    (case,) = find(twin.key)
    with LiveProgram(built(language, tmp_path, twin), case.id, case.reading) as program:
        found = search(partial(to_its_end, program), case.space(), case.claim, examples=40)
    assert twin.kind in [finding.kind for finding in found.findings], [str(one) for one in found.findings]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "before", "after", "words"), BROKEN, ids=[one[0] for one in BROKEN])
def test_a_program_that_is_no_function_of_what_it_is_told_is_refused(name, before, after, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = built("js", tmp_path / "example", Twin(name, SGD, None, "dp_sgd.js", before, after))
    options = ["--runs", "50", "--pilot", "50", "--examples", "20"]
    done = CliRunner().invoke(app, ["audit", SGD, "--program", command, *options])
    assert isinstance(done.exception, ProgramBroken) and words in str(done.exception), done.output
