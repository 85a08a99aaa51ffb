"""What an answer hangs on: every way in which one module reaches another, or data, and what it does not reach."""

import sys

import pytest

from dpassay.reference import sources

START = """
import typing
from importlib import import_module
from . import plain
from .. import beyond
if typing.TYPE_CHECKING:
    from .types import T
else:
    from .instead import T
def f(name):
    try:
        from pack.inside.deep import g
    except ImportError:
        import pack.handled
    from pack import thing
    read("named.toml")
    return import_module(f"pack.made.{name}.rows"), import_module(name), import_module(f"{name}.x"), import_module()
"""
DOOR = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .behind import thing\n    from .other import x"
SISTER = "from importlib import import_module\nimport_module('.sister', __package__)"
LATER = "import importlib as i\ni.import_module(f'{__name__}_later')"
EMPTY = """
    inside/sister made/one/__init__ made/one/rows made/one/aside behind other types handled_later"""
FILES = {
    "__init__.py": DOOR, "start.py": START, "inside/deep.py": SISTER, "handled.py": LATER, "plain.py": "x = 1 +",
    "instead.py": "import pack.start", **{f"{name}.py": "" for name in EMPTY.split()},
    **dict.fromkeys(("named.toml", "start.toml", "unnamed.toml", "made/one/rows.csv", "plain.md"), ""),
}  # fmt: skip
APART = ("made/one/aside.py", "other.py", "types.py", "unnamed.toml", "plain.md")


@pytest.fixture
def package(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / "pack" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pack" / name).write_text(text)
    (tmp_path / "pack/start.csv").mkdir()  # a folder is no table
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "pack"
    sources.forget()


def code(*text, **more):
    sources.forget()
    return sources.code_of(["pack.start"], *text, ours=lambda name: name.startswith("pack"), **more)


@pytest.mark.parametrize("name", FILES)
def test_a_change_of_what_is_reached_is_seen_and_no_other(package, name):
    before = code()
    (package / name).write_text(f"{FILES[name]}\n# planted")
    assert (code() == before) == (name in APART)
    assert not [one for one in sys.modules if one.startswith("pack.")], "nothing is imported"


def test_a_package_that_is_handed_on_reaches_all_its_names(package):
    (package / "start.py").write_text("import pack")
    before = code()
    (package / "other.py").write_text("# planted")
    assert code() != before


def test_what_is_told_apart(package):
    """Text beside the code, a module that is not asked for, one that is there no more, and one of a made name."""
    codes = {code(), code("text"), code(but={"pack.made.one.rows"})}
    (package / "inside/sister.py").unlink()
    codes.add(code())
    (package / "made/two").mkdir()
    (package / "made/two/rows.py").write_text("")
    assert len({*codes, code()}) == 5


def test_this_package_is_read_once(monkeypatch):
    """What runs is what was read: a file that is edited meanwhile is no other code."""
    before = sources.code_of(["dpassay.reference.errors"])
    monkeypatch.setattr("pathlib.Path.read_bytes", lambda path: b"planted" if path.suffix == ".py" else b"")
    sources.forget()
    assert sources.code_of(["dpassay.reference.errors"]) == before


def test_no_module_reaches_another_by_a_name_that_nobody_can_follow():
    """Where what claims and derivations hang on says ``import_module``, a pattern is followed; but for these."""
    starts = ["dpassay.audit.claims.audited", "dpassay.proofs_check.derivation.derive"]
    texts = {name: path.read_text() for name, path in sources.followed(starts, sources.own).items()}
    assert not [name for name, text in texts.items() if "__import__(" in text or "entry_points(" in text]
    assert {name.removeprefix("dpassay.") for name, text in texts.items() if "import_module(" in text} <= {
        "reference.catalogue", "proofs_check.ties",  # followed
        "reference.sources",  # this is about it
        "reference.extras",  # names behind a front door, which are followed, and libraries
        "audit.running.workers",  # parts of Python
        "audit.inputs.foreign",  # the user's code: its name is a start
        "audit.crosscheck.encoding",  # classes of the reference's cases, which the catalogue holds
    }  # fmt: skip
