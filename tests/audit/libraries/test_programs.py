"""The programs of the page that need no dpassay: each runs in the library's environment, and prints what the page says.

Run where the libraries are installed, each in an environment of its own; slow, as some of them draw thousands of models
(the eleven of diffprivlib take some ten minutes beside other work). What an environment lacks is skipped, and said:

    python -m pytest tests/audit/libraries/test_programs.py -m slow -rs
"""

import re
from pathlib import Path

import pytest

from dpassay.audit.libraries.library import LIBRARIES, Known, numbers, run_program
from dpassay.audit.libraries.page import SEEDLESS, block

PAGE = Path(__file__).resolve().parents[3] / "docs" / "libraries.md"
KNOWN = [(name, known) for name, library in LIBRARIES.items() for known in library.known]


def told(name, known):
    """The program and what it prints, as the page has them."""
    section = block(name).read(PAGE.read_text(encoding="utf-8"), str(PAGE))
    part = section.split(f"#### {known.id}\n")[1].split("\n#### ")[0]
    (program,) = re.findall(r"```python\n(.*?)```", part, re.S)
    (printed,) = re.findall(r"```text\n(.*?)```", part, re.S)
    return program, printed, SEEDLESS.strip() in part.replace("\n", " ")


@pytest.mark.parametrize(("name", "known"), KNOWN, ids=[known.id for _, known in KNOWN])
def test_the_page_has_the_program_and_numbers_that_show_the_finding(name, known):
    program, printed, seedless = told(name, known)
    assert program.strip() == known.program.strip()
    assert "dpassay" not in program
    assert known.shows(numbers(printed)) and seedless == known.varies


@pytest.mark.slow
@pytest.mark.parametrize(("name", "known"), KNOWN, ids=[known.id for _, known in KNOWN])
def test_the_program_runs_and_prints_what_the_page_says(name, known):
    """rtol 1e-6: of solvers that stop by a tolerance; what is drawn from a seed is the same on one platform."""
    if LIBRARIES[name].version() is None:
        pytest.skip(f"{name} is not installed")
    printed, shown = run_program(known)
    assert shown, printed
    if not known.varies:
        assert numbers(printed) == pytest.approx(numbers(told(name, known)[1]), rel=1e-6, abs=1e-9)


def test_the_page_has_a_place_for_every_library():
    for name in LIBRARIES:
        assert f"## {name} " in block(name).read(PAGE.read_text(encoding="utf-8"), str(PAGE))


def test_a_program_that_fails_or_prints_something_else_shows_nothing():
    def known(program):
        return Known("id", (), "", "", program, "", lambda seen: seen[0] > 1)

    assert run_program(known("print([2, True])")) == ("[2, True]", True)
    assert run_program(known("print(1)"))[1] is False
    assert run_program(known("print('no number')"))[1] is False
    assert run_program(known("raise ValueError('broken')")) == ("ValueError: broken", False)
    assert run_program(known("import dpassay.no_such_module"))[1] is False
