"""Code, programs and stored values of others: their failures are bad input, never a verdict."""

import importlib
import sys
import warnings

import numpy as np
import pytest

MECHANISMS = """
import sys
def exits(dataset, rng): sys.exit(0)
def raises(dataset, rng): raise RuntimeError("boom \\x1b[2J")
def takes_nothing(): return 1
def gives_an_object(dataset, rng): return object()
def gives_a_huge_number(dataset, rng): return 10**400
def gives_a_complex_number(dataset, rng): return 1j
"""


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("mechanism:exits", "SystemExit (mechanism.py, line 3)"),
        ("mechanism:raises", "RuntimeError (mechanism.py, line 4): boom"),
        ("mechanism:takes_nothing", "TypeError"),
        ("mechanism:gives_an_object", "real numbers"),
        ("mechanism:gives_a_huge_number", "too large"),
        ("mechanism:gives_a_complex_number", "real numbers"),
        (".mechanism:exits", "MODULE:FUNCTION"),
        ("leaves:f", "SystemExit"),
        ("breaks:f", "ValueError"),
        ("wrong_syntax:f", "SyntaxError"),
    ],
)
@pytest.mark.parametrize("words", [("blackbox",), ("sequential", "blackbox", "--checkpoint", "state.json")])
def test_foreign_code_that_fails_is_bad_input_and_no_verdict(dpassay, refused, tmp_path, words, name, word):
    """A `sys.exit(0)` in a mechanism must not end the audit with the exit code that says "fine"."""
    (tmp_path / "mechanism.py").write_text(MECHANISMS)
    (tmp_path / "leaves.py").write_text("import sys; sys.exit(0)")
    (tmp_path / "breaks.py").write_text("raise ValueError('two\\nlines')")
    (tmp_path / "wrong_syntax.py").write_text("def f(:")
    (tmp_path / "d.json").write_text("[1]")
    for module in ("mechanism", "leaves", "breaks", "wrong_syntax"):
        sys.modules.pop(module, None)
    importlib.invalidate_caches()
    sys.path.insert(0, str(tmp_path))
    try:
        refused(dpassay(*words, name, "--dataset", "d.json", "--neighbour", "d.json", "--epsilon", 1), word)
    finally:
        sys.path.remove(str(tmp_path))
    assert not (tmp_path / "state.json").exists()


@pytest.mark.parametrize(
    "command", ["head -c 20 /dev/urandom", "printf [", "true", "sh -c 'printf \"\\033[2J\" >&2; exit 3'", "echo 'x", ""]
)
def test_a_program_that_fails_is_bad_input(dpassay, refused, tmp_path, command):
    np.save(tmp_path / "d.npy", np.ones(3))
    words = ["blackbox", "--command", command, "--dataset", "d.npy", "--neighbour", "d.npy", "--epsilon", 1]
    result = dpassay(*words)
    refused(result, "command")
    assert "\x1b" not in result[2]


def test_a_program_gets_arrays_as_lists(dpassay, tmp_path):
    np.save(tmp_path / "d.npy", np.ones(3))
    words = ["--dataset", "d.npy", "--neighbour", "d.npy", "--epsilon", 1, "--samples", 20]
    assert dpassay("blackbox", "--command", "sh -c 'grep -c 1.0,'", *words)[0] == 3


@pytest.mark.parametrize("command", ["scores", "blackbox --outputs FILE --outputs"])
@pytest.mark.parametrize("name", ["complex", "empty", "none", "objects", "archive", "scalar", "huge", "deep", "lines"])
def test_stored_values_that_are_no_sample(dpassay, refused, tmp_path, command, name):
    np.save(tmp_path / "complex.npy", np.ones(20) + 1j)
    np.save(tmp_path / "empty.npy", np.ones(0))
    np.save(tmp_path / "scalar.npy", np.float64(1))
    np.save(tmp_path / "objects.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
    with (tmp_path / "archive.npy").open("wb") as file:
        np.savez(file, a=np.ones(3))
    (tmp_path / "none.csv").write_text("")
    (tmp_path / "huge.jsonl").write_text(f"{'9' * 400}\n" * 20)
    (tmp_path / "deep.jsonl").write_text("[" * 100_000 + "\n")
    (tmp_path / "lines.jsonl").write_text("1\n{\n")
    [path] = [path.name for path in tmp_path.iterdir() if path.stem == name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refused(dpassay(*command.replace("FILE", path).split(), path, "--epsilon", 1))
