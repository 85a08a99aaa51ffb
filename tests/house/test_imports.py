"""What is imported when: the heavy libraries are loaded by what uses them, and one that is missing is named."""

import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from dpassay.reference.extras import EXTRAS, Later, missing

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"dp_accounting", "hypothesis", "joblib", "matplotlib", "pandas", "sklearn", "sympy"}
COMMAND = (
    "import sys; sys.argv = ['dpassay', {}]\nfrom dpassay.audit.cli import main\ntry: main()\nexcept SystemExit: pass"
)
REPORT = "\nimport sys; print('loaded:', *sorted({name.split('.')[0] for name in sys.modules}))"


@cache
def loaded(program):
    """Top-level modules that a fresh interpreter has imported after ``program``."""
    run = [sys.executable, "-c", program + REPORT]
    out = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    return set(out.splitlines()[-1].split()[1:])


@pytest.mark.some(5)
@pytest.mark.parametrize(
    ("program", "more"),
    [
        ("import dpassay.reference, dpassay.audit", {"numpy", "scipy", "typer", "greenlet"}),
        (COMMAND.format("'--help'"), {"numpy", "scipy", "rich", "pydantic"}),
        ("import dpassay.audit.pytest_plugin", {"numpy", "scipy", "rich", "pydantic", "greenlet"}),
        ("from dpassay.reference.tape import LiveTape, record", set()),
        ("from dpassay.reference.accounting.cost import account", set()),
        (COMMAND.format("'--version'"), set()),
        (COMMAND.format("'list'"), set()),
        (COMMAND.format("'lits'"), set()),
    ],
)
def test_what_does_not_need_them_does_not_load_them(program, more):
    found = loaded(program)
    assert "dpassay" in found and not found & (HEAVY | more)
    assert "sympy" in loaded("import dpassay.proofs_check.formula"), "what needs one is seen"


def test_the_extras_of_the_table_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {"sklearn": "scikit-learn", "pydantic_core": "pydantic", "jax_privacy": "jax-privacy"}
    for module, extra in EXTRAS.items():
        wanted = names.get(module, module)
        assert any(line.startswith(wanted + ">") for line in project["optional-dependencies"][extra]), module
        assert not any(line.startswith(wanted) for line in project["dependencies"]), module


def test_a_missing_extra_is_one_line_and_no_other_module():
    error = missing(ModuleNotFoundError("no", name="sympy.core"))
    assert str(error) == "package = 'sympy': is not installed: pip install \".[proofs]\" in a clone of dpassay"
    assert missing(ModuleNotFoundError("no", name="dpassay.nowhere")) is None
    assert missing(ImportError("broken", name="sympy")) is None
    with pytest.raises(ModuleNotFoundError):  # another one is not hidden
        Later("dpassay.nowhere").something()


WITHOUT = """
import sys
class Refuses:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == {!r}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Refuses())
sys.argv = ["dpassay", {!r}]
from dpassay.audit.start import main
main()
"""


@pytest.mark.parametrize(
    ("package", "extra", "command"),
    [("typer", "audit", "list"), ("sympy", "proofs", "prove"), ("sklearn", "audit", "attack")],  # the last: used later
)
def test_the_command_line_says_what_to_install(package, extra, command):
    run = [sys.executable, "-c", WITHOUT.format(package, command)]
    found = subprocess.run(run, capture_output=True, text=True)
    line = f"dpassay: package = '{package}': is not installed: pip install \".[{extra}]\" in a clone of dpassay\n"
    assert (found.returncode, found.stdout, found.stderr) == (2, "", line)
