"""Files that are damaged or hostile: one line that names the file, and never less than was asked for."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pytest

from dpassay.audit.blackbox.detect import audit_outputs
from dpassay.audit.blackbox.programs import _json
from dpassay.audit.claims.model import read_claims
from dpassay.audit.inputs import stored
from dpassay.audit.lockstep.script import Script
from dpassay.audit.reproductions import dro, second_order_erm
from dpassay.audit.reproductions.report import Finished
from dpassay.audit.scores.files import read_scores
from dpassay.audit.search.ground import data_of
from dpassay.audit.search.witness import witness_of
from dpassay.audit.sequential import session
from dpassay.audit.subjects.replay import replay
from dpassay.reference import BadInput, LiveTape, Space
from dpassay.reference.blocks.clipping import clip_rows
from dpassay.reference.files import inside
from dpassay.reference.guarantee import approx_dp
from dpassay.reference.problems import imbalanced, real_data


@contextmanager
def refused(why: str | None = None) -> Iterator[None]:
    with pytest.raises(BadInput, match=why) as error:
        yield
    assert str(error.value).isprintable()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a = " + "9" * 5000, "too many digits"),
        ("a = " + "[" * 3000, "nested too deeply"),
        ("a = \x1b", "TOML"),
        ("a." * 20_000 + "a = 1", "more than 50 parts"),
        ("[" + '"a" . ' * 20_000 + "a]", "more than 50 parts"),
        ("a = '" + "x" * 2**24 + "'", "has more than 16777216"),
        ("version = 1\nb = x\n", "line 2"),
        ("version = 1\nb = [\n", "line 2 = 'Invalid value'"),
    ],
)
def test_toml_that_python_does_not_read(tmp_path, text, why):
    (tmp_path / "x.toml").write_text(text)
    with refused(f"x.toml.*{why}"):
        read_claims(tmp_path / "x.toml")


def test_a_dataset_that_no_program_can_be_sent():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for data in (np.array([b"a", b"b"]), deep):
        with refused("cannot be sent as JSON"):
            _json(data)


def test_a_file_does_not_choose_what_is_read_elsewhere(tmp_path, monkeypatch):
    """Beside itself, or below the working directory that the user chose; links count as what they lead to."""
    for folder in ("project/claims", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "x.npy").touch()
    (tmp_path / "project/data.npy").touch()
    (tmp_path / "project/claims/link.npy").symlink_to(tmp_path / "elsewhere/x.npy")
    folder = tmp_path / "project/claims"
    monkeypatch.chdir(folder)
    assert inside(folder, "x.npy", "files[0]") == folder / "x.npy"
    for name in ("../data.npy", "../../x", "/etc/passwd", "link.npy", "a\x00b", "x" * 5000):
        with refused(r"^files\[0\] = "):
            inside(folder, name, "files[0]")
    monkeypatch.chdir(tmp_path / "project")
    assert inside(folder, "../data.npy", "files[0]").is_file()
    with refused("lies outside"):
        inside(folder, "../../elsewhere/x.npy", "files[0]")


FINDING = {"kind": "sensitivity exceeded", "label": "g", "step": 2, "detail": "x", "given_secrets": False}
WITNESS = {
    "format": 2, "finding": FINDING, "sizes": {"n": 3}, "rows": [[0.0, 1.0]] * 3, "there": [1.0, 1.0], "target": 1,
    "script": Script().as_dict(), "seed": 5, "about": {},
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value"),
    [("target", 3), ("target", 2**53), ("there", [1.0]), ("there", [[1.0, 1.0]]), ("rows", [[10**400, 0.0]] * 3)],
)
def test_a_witness_whose_parts_do_not_fit(field, value):
    assert "differ in record 1" in str(witness_of(WITNESS, "f"))
    with refused(f"f: {field}"):
        witness_of(WITNESS | {field: value}, "f")


def test_a_witness_chooses_neither_how_long_a_run_takes_nor_a_claim_that_no_float_holds():
    space, rows = Space.matrix(n=(1, 5), d=(1, 2)), np.zeros((2, 1))
    assert data_of(space, {"n": 2, "d": 1}, rows, rows[0], 0).target == 0
    with refused(r"sizes\.d = 9007199254740993: must be at most 200"):
        data_of(space, {"n": 2, "d": 2**53 + 1}, rows, rows[0], 0)
    for value in (10**400, "1"):
        about = {"algorithm": "a", "space": "", "relation": "replace-one", "epsilon": value, "delta": 1e-5}
        with refused(r"about.epsilon.*a float"):
            replay(witness_of(WITNESS | {"about": about}, "f"), ())


@pytest.mark.parametrize("text", ["\udcff", "[" * 100_000, '{"key": [1]}', '{"key": "a", "content": 3}', "9" * 5000])
@pytest.mark.parametrize("kind", [dro.Measured, second_order_erm.Run])
def test_kept_runs_that_are_none(tmp_path, kind, text):
    """Before the last line, which may have been cut off by an interrupt."""
    path = tmp_path / "kept.jsonl"
    path.write_text(f"{text}\n{text}\n", errors="surrogateescape")
    with refused(r"kept\.jsonl"):
        Finished(path, kind, "run")


def kept(path):
    return Finished(path, dro.Measured, "cell")


@pytest.mark.parametrize("name", ["n" * 5000, "loop", "a folder"])
@pytest.mark.parametrize(
    "read", [imbalanced.read_idx, real_data.covertype_file, real_data.ijcnn_file, session.load, kept]
)
def test_a_path_that_is_no_file(tmp_path, read, name):
    path = tmp_path / name
    if name == "loop":
        path.symlink_to(path)
    if name == "a folder":
        path.mkdir()
    with nullcontext() if read is kept and name == "loop" else refused():  # that is as nothing: there is no file yet
        read(path)


@pytest.mark.parametrize("label", ["n" * 1001, "\ud800", 7, b"a"])
def test_labels_that_no_report_can_hold(label):
    tape = LiveTape(0)
    for call in (
        lambda: tape.gaussian(label, 0.0, std=1.0, sensitivity=1.0),
        lambda: tape.public(label, lambda rng: rng.random()),
        lambda: tape.reveal(label, 1.0),
        lambda: tape.batch(label, 3, 1),
    ):
        with refused("label"):
            call()
    assert tape.step == 0
    for good in ("", "n" * 1000, "ü\x1b"):
        assert tape.gaussian(good, 0.0, std=1.0, sensitivity=1.0) != 0


@pytest.mark.parametrize(("kind", "bits"), [("f2", 0x7C01), ("f4", 0x7F800001), ("f8", 0x7FF0000000000001)])
def test_an_array_with_signalling_nans(tmp_path, kind, bits):
    """A cast warned about them, on lines that nobody asked for."""
    np.save(tmp_path / "a.npy", np.array([bits] * 3, dtype=kind.replace("f", "u")).view(kind))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(stored.load(tmp_path / "a.npy")).all()
        with refused("NaN"):
            read_scores(tmp_path / "a.npy")


@pytest.mark.parametrize(
    ("name", "count", "why"),
    [*((f"x.{kind}", 2**24, "mostly holes") for kind in ("npy", "csv", "jsonl")), ("x.npy", 4 * 10**8, "3200000000")],
)
def test_a_file_that_is_mostly_holes_or_more_than_can_be_held_is_refused_before_it_is_read(tmp_path, name, count, why):
    with (tmp_path / name).open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (count,)})
        file.truncate(file.tell() + 8 * count)
    with refused(why):
        stored.load(tmp_path / name)
    assert str(BadInput("--outputs", [Path("a.csv")], "x")) == "--outputs = ['a.csv']: x"


def test_outputs_near_the_largest_number_are_judged_without_a_warning():
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p, q = 1e200 * rng.normal(size=(2, 400))
        assert audit_outputs(p, q, approx_dp(1.0), rng).p_value > 0.05
        assert not clip_rows(np.full((1, 2), 1e200), 1.0).any()
