"""House rules, each a few lines: what every file, name and row of the project must keep to; the stable names."""

import ast
import doctest
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from dpassay import audit, reference
from dpassay.reference.catalogue import CASES, ROOMS

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("reference", "audit", "proofs_check")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
SECTIONS = ("SCHEDULE", "GRADIENT", "CLIP", "NOISE", "STEP")


def name(path):
    return str(path.relative_to(ROOT))


def imported(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_every_folder_of_code_is_a_package():
    assert all((path.parent / "__init__.py").exists() for path in FILES)
    assert sorted(ROOMS) == sorted(path.parent.name for path in FILES if path.name == "cases.py"), "a paper's folder"


def test_layers():
    """The reference knows nobody, proofs and audit know the reference, only the commands join the two."""
    for path in FILES:
        layer = path.relative_to(ROOT).parts[0]
        forbidden = {"reference": ("dpassay.audit", "dpassay.proofs_check"), "proofs_check": ("dpassay.audit",)}
        if layer == "audit" and "commands" not in path.parts:
            forbidden["audit"] = ("dpassay.proofs_check",)
        rooms, text = forbidden.get(layer, ()), path.read_text(encoding="utf-8")
        if not any(room.rpartition(".")[2] in text for room in rooms):
            continue  # parsing them all takes most of a second
        bad = [module for module in imported(text) if module.startswith(rooms)]
        assert not bad, f"{name(path)} imports {bad}"


def test_no_hidden_randomness_in_the_reference():
    """Algorithms take a tape; a generator without a seed or the global one is nowhere."""
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert "default_rng()" not in text, name(path)
        assert not re.search(r"np\.random\.(seed|rand|randn|normal|random|choice)\(", text), name(path)


def test_no_code_is_made_of_data():
    """No pickle and no eval; sympify only where the project's own formulas are; joblib's files only where trusted."""
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\bpickle\b|(?<![\w.])(eval|exec)\(|allow_pickle=True", text), name(path)
        if path.relative_to(ROOT).parts[0] != "proofs_check":
            assert "sympify(" not in text, name(path)
        assert "joblib.load(" not in text or name(path) == "audit/attacks/estimators.py", name(path)


def test_nothing_points_at_one_machine():
    pattern = re.compile(r"(?<![\w.])/(root|work|home|opt|farm)/|https?://[^\s)\"']*(pypi|index|registry)")
    made = {"reports", "build", "dist"}  # and what begins with a point: an environment has more files than all others
    ours = [one for one in ROOT.iterdir() if one.name not in made and one.name[0] != "."]
    for path in [one for top in ours for one in ([top] if top.is_file() else top.rglob("*")) if one.is_file()]:
        if path.suffix in {".py", ".md", ".toml", ".json", ".html"} and path != Path(__file__).resolve():
            found = pattern.search(path.read_text(encoding="utf-8"))
            assert not found, f"{name(path)}: {found.group()}"


def test_every_case_is_whole():
    assert len({case.key for case in CASES}) == len(CASES)
    assert [case.key for case in CASES if not (case.title and case.cite.place and case.claim.cite.place)] == []
    assert [case.key for case in CASES if case.reading == "repaired" and not case.repairs] == []


def test_every_algorithm_names_the_five_sections():
    """In its comments; who leaves one to another file says in words whose it is."""
    for folder in ROOMS:
        for path in sorted((ROOT / "reference" / folder).glob("*.py")):
            text = path.read_text(encoding="utf-8")
            if re.search(r"^def run\(", text, re.MULTILINE):
                missing = [one for one in SECTIONS if not re.search(rf"\b{one}\b", text)]
                assert not missing, f"{name(path)} lacks {missing}"


DOORS = {"reference": reference, "audit": audit}
NAMES = [(door, name) for door, package in DOORS.items() for name in package.__all__]
DOCUMENTED = [one for one in NAMES if one[1] != "PAPERS"]  # a dictionary: its type, Paper, is documented


@pytest.mark.parametrize("package", DOORS.values(), ids=DOORS)
def test_names_are_the_same_in_every_list(package):
    """``__all__``, the table of homes and what a type checker sees; sorted as the linter sorts them."""
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    (checked,) = (node for node in tree.body if isinstance(node, ast.If))
    parts = [part for part in checked.body if isinstance(part, ast.ImportFrom)]
    seen = {alias.name: part.module for part in parts for alias in part.names}
    assert seen == package._HOMES and set(package.__all__) == set(seen) <= set(dir(package))
    for one, home in seen.items():
        assert getattr(package, one) is getattr(import_module(f"{package.__name__}.{home}"), one)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        package.nothing  # noqa: B018


@pytest.mark.parametrize(("door", "name"), DOCUMENTED)
def test_a_docstring_is_a_reference_and_its_example_runs(door, name):
    found = getattr(DOORS[door], name)
    text, wanted = inspect.getdoc(found), ["Raises:", "Example:", "Source:"]
    hidden = ("self", "args", "kwds", "kwargs")
    parameters = [one for one in inspect.signature(found).parameters if one not in hidden and one[0] != "_"]
    if parameters and not (inspect.isclass(found) and issubclass(found, str)):  # an enum is made of a word
        wanted.append("Args:")
        assert [one for one in parameters if f"{one}:" not in text and f"{one}, " not in text] == [], "not explained"
    if inspect.isfunction(found):
        wanted.append("Returns:")
    assert [part for part in wanted if part not in text] == []
    (test,) = doctest.DocTestFinder(recurse=False).find(found, name, globs={})
    assert test.examples, "no example"
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed == 0


def test_the_page_lists_the_same_names():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for door, package in DOORS.items():
        section = page.split(f"## `dpassay.{door}`")[1].split("\n## ")[0]
        listed = [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")]
        assert sorted(listed) == sorted(package.__all__)
