"""A derivation that was kept is the one that would be made; other files or other code are decided anew."""

from dataclasses import replace

import pytest

from dpassay.proofs_check.derivation import ledger
from dpassay.proofs_check.derivation.model import statements
from dpassay.reference import kept as store


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DPASSAY_CACHE", str(tmp_path))
    return tmp_path / "statements"


@pytest.fixture(scope="module")
def printed():
    """A broken statement with a repair, evidence, a slip and a note: every field is used."""
    return next(one for one in statements(["second_order_erm"]) if one.repaired and one.false and one.slip and one.note)


def never(*_):
    raise AssertionError("decided anew")


def test_what_was_kept_is_what_was_decided(printed, monkeypatch):
    found = ledger.derived(printed, {})
    assert found.repaired and found.false and found.chain.broken() and found.remarks["slip"] and found.remarks["note"]
    monkeypatch.setattr(ledger, "derive", never)
    assert ledger.derived(printed, {}) == found


def test_another_step_another_source_and_another_solver_are_decided_anew(printed, monkeypatch):
    ledger.derived(printed, {})
    monkeypatch.setattr(ledger, "derive", never)
    other = replace(printed, step=(replace(printed.step[0], says="0 <= 1"), *printed.step[1:]))
    for statement, sources in ((other, {}), (printed, {"x": other})):
        with pytest.raises(AssertionError, match="decided anew"):
            ledger.derived(statement, sources)
    monkeypatch.setattr(store, "environment", lambda: "another solver")
    with pytest.raises(AssertionError, match="decided anew"):
        ledger.derived(printed, {})


def test_a_bug_in_the_engine_is_not_hidden(tmp_path, monkeypatch):
    """The hash is of the source: one character more in any file of the two packages, or in its data, is another."""
    for room in ("reference", "proofs_check"):
        (tmp_path / room / "inside").mkdir(parents=True)
        (tmp_path / room / "inside" / "a.py").write_text("x = 1\n")
    (tmp_path / "reference" / "inside" / "a.toml").write_text("y = 1\n")
    monkeypatch.setattr(store, "_HOME", tmp_path)
    codes = set()
    for changed in ("", "reference/inside/a.py", "reference/inside/a.toml", "proofs_check/inside/a.py"):
        if changed:
            (tmp_path / changed).write_text("x = 2\n")
        store.room_hash.cache_clear()
        codes.add(store.code_of(("reference", "proofs_check")))
    store.room_hash.cache_clear()
    assert len(codes) == 4


@pytest.mark.parametrize("content", ["", "{", '{"code": 1}', "[]", "null", '{"code": "x", "answer": null}'])
def test_a_file_that_cannot_be_read_counts_as_not_there(content, tmp_path):
    (tmp_path / "name.json").write_text(content)
    assert store.kept("name", "x") is None


def test_a_file_with_a_problem_is_decided_each_time(printed, folder):
    unneeded = replace(printed.given[0], id="unneeded", added=True, words="for nothing")
    bad = replace(printed, given=(*printed.given, unneeded), step=(*printed.step[:-1], replace(
        printed.step[-1], uses=(*printed.step[-1].uses, "unneeded"))))  # fmt: skip
    assert ledger.derived(bad, {}).problems and not folder.exists()


def test_no_folder_keeps_nothing_and_stops_nothing(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    for place, answer in (("", None), (str(tmp_path / "file"), None), (str(tmp_path), [1])):
        monkeypatch.setenv("DPASSAY_CACHE", place)
        store.keep("name", "x", [1])
        assert store.kept("name", "x") == answer
