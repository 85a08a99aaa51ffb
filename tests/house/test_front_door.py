"""The stable names: they exist, they are documented as a reference must be, and their examples run."""

import ast
import doctest
import inspect
from importlib import import_module
from pathlib import Path

import pytest

from dpassay import audit, reference

ROOT = Path(__file__).resolve().parents[2]
DOORS = {"reference": reference, "audit": audit}
NAMES = [(door, name) for door, package in DOORS.items() for name in package.__all__]
DOCUMENTED = [(door, name) for door, name in NAMES if name != "PAPERS"]  # a dictionary: its type, Paper, is documented


def test_there_are_about_fifteen():
    assert 14 <= len(NAMES) <= 21 and len(dict(NAMES)) == 2


@pytest.mark.parametrize(("door", "name"), NAMES)
def test_a_name_is_there_and_leads_to_its_home(door, name):
    package = DOORS[door]
    home = import_module(f"{package.__name__}.{package._HOMES[name]}")
    assert getattr(package, name) is getattr(home, name)
    assert name in dir(package)


@pytest.mark.parametrize("package", DOORS.values(), ids=DOORS)
def test_names_are_the_same_in_every_list(package):
    """``__all__``, the table of homes and what a type checker sees; sorted as the linter sorts them."""
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    (checked,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.name: part.module for part in checked.body if isinstance(part, ast.ImportFrom) for alias in part.names
    }
    assert seen == package._HOMES and set(package.__all__) == set(seen)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        package.nothing  # noqa: B018


@pytest.mark.parametrize(("door", "name"), DOCUMENTED)
def test_a_docstring_is_a_reference(door, name):
    """Arguments, what comes back, what is raised, an example, the source."""
    found = getattr(DOORS[door], name)
    text = inspect.getdoc(found)
    parameters = [
        one
        for one in inspect.signature(found).parameters
        if one not in ("self", "args", "kwds", "kwargs") and not one.startswith("_")
    ]
    wanted = ["Raises:", "Example:", "Source:"]
    is_enum = inspect.isclass(found) and issubclass(found, str)
    if parameters and not is_enum:
        wanted.append("Args:")
        missing = [one for one in parameters if f"{one}:" not in text and f"{one}, " not in text]
        assert not missing, f"{name} does not explain {missing}"
    if inspect.isfunction(found):
        wanted.append("Returns:")
    assert [part for part in wanted if part not in text] == []


@pytest.mark.parametrize(("door", "name"), DOCUMENTED)
def test_its_example_runs(door, name):
    found = getattr(DOORS[door], name)
    (test,) = doctest.DocTestFinder(recurse=False).find(found, name, globs={})
    assert test.examples, "no example"
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert result.failed == 0


def test_the_page_lists_the_same_names():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for door, package in DOORS.items():
        section = page.split(f"## `dpassay.{door}`")[1].split("\n## ")[0]
        listed = [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")]
        assert sorted(listed) == sorted(package.__all__)
