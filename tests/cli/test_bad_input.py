"""Bad input, foreign text and closed streams: one line and exit code 2, nothing destroyed, nothing lost."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

from dpassay.audit.report.results import print_results
from dpassay.audit.results import SoundBound
from dpassay.audit.sandwich import Effort, Row
from dpassay.audit.suite import load, save
from dpassay.proofs_check.ledger import check_rows, load_rows
from dpassay.reference.errors import BadInput, printable
from dpassay.reference.files import read_json, require_writable, write_text

ESCAPE = "\x1b[2J"


def refused(result, *words):
    code, out, err = result
    assert code == 2 and not out, (code, out)
    assert len(err.strip().splitlines()) == 1 and err.startswith("dpassay: "), err
    for word in words:
        assert word in err, err


@pytest.mark.parametrize(
    ("text", "why"),
    [("[" * 100_000 + "]" * 100_000, "nested"), ("9" * 5000, "digits"), ("", "JSON"), ("{", "JSON")],
)
@pytest.mark.parametrize(
    "words",
    [
        ("check",),
        ("crosscheck", "replay"),
        ("sequential", "combine"),
        ("neighbours", "replay"),
        ("audit", "baselines/dp_sgd:digits", "--resume", "--output"),
        ("reproduce", "dro", "--audited"),
    ],
)
def test_json_that_is_none_or_too_much(dpassay, tmp_path, words, text, why):
    path = tmp_path / "file.json"
    path.write_text(text)
    refused(dpassay(*words, path), "file.json", why)
    assert path.read_text() == text


@pytest.mark.parametrize("words", [("check",), ("crosscheck", "replay"), ("neighbours", "replay")])
def test_a_file_that_cannot_be_read(dpassay, tmp_path, words):
    refused(dpassay(*words, tmp_path), str(tmp_path))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    refused(dpassay(*words, tmp_path / "loop"), "loop")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    refused(dpassay(*words, tmp_path / "binary"), "binary", "text")


def test_a_name_in_a_file_cannot_command_the_terminal(dpassay, tmp_path):
    path = tmp_path / "claims.json"
    entry = {"algorithm": "baselines/dp_sgd", "epsilon": 1.0, "delta": 1e-5, f"{ESCAPE}\nname": 1}
    path.write_text(json.dumps({"version": 1, "claims": [entry]}))
    result = dpassay("check", path)
    refused(result, "name")
    assert "\x1b" not in result[2]


def test_printable_keeps_letters_and_spells_out_control_characters():
    assert printable(f"ünï {ESCAPE}\n x\u202e") == "ünï \\x1b[2J x\\u202e"


def test_results_print_foreign_names_as_they_are(capfd):
    name = f"[red]bold[/red] {ESCAPE}"
    bound = SoundBound(method=name, epsilon=1.0, delta=0.0, confidence=0.95, runs=10, seconds=0.0, claimed=None)
    print_results([bound], None, False, f"Audited: {name} [/nothing].")
    out = capfd.readouterr().out
    assert "[red]bold[/red]" in out and "[/nothing]" in out and ESCAPE not in out


@pytest.mark.parametrize("words", [("show", ""), ("audit", ""), ("check", "claims.json"), ("mutants", "")])
def test_an_empty_name_is_no_way_to_say_all(dpassay, tmp_path, words):
    entry = {"algorithm": "", "epsilon": 1.0, "delta": 1e-5}
    (tmp_path / "claims.json").write_text(json.dumps({"version": 1, "claims": [entry]}))
    refused(dpassay(*words), "algorithm")


@pytest.mark.parametrize(
    "words",
    [
        ("check", "claims.json", "--runs", 10**20),
        ("audit", "baselines/dp_sgd:digits", "--pilot", 10**20),
        ("published", "--auc", 0.9, "--members", 9, "--nonmembers", 9, "--sampled-gaussian", "inf:0.1:3"),
        ("published", "--auc", 0.9, "--members", 9, "--nonmembers", 9, "--sampled-gaussian", f"1:0.1:{10**14}"),
        ("published", "--paper", "dro", "--runs", 5),
        ("published", "--paper", "dro", "--delta", 0.0),
        ("scores", "a.csv", "a.csv", "--sampled-gaussian", "0.0001:0.1:10"),
        ("scores", "a.csv", "a.csv", "--sampled-gaussian", "inf:0.1:10"),
        ("scores", "a.csv", "a.csv", "--gdp", 1e300),
        ("scores", "a.csv", "a.csv", "--curve", "bool.json"),
        ("crosscheck", "compare", "vector.json", "vector.json", "--rtol", "inf"),
        ("reproduce", "output_perturbation", "--data", "."),
    ],
)
def test_numbers_out_of_range_and_options_without_effect(dpassay, tmp_path, words):
    entry = {"algorithm": "baselines/dp_sgd:digits", "epsilon": 1.0, "delta": 1e-5}
    (tmp_path / "claims.json").write_text(json.dumps({"version": 1, "claims": [entry]}))
    (tmp_path / "a.csv").write_text("1\n2\n3\n")
    (tmp_path / "bool.json").write_text("[[true, false]]")
    (tmp_path / "vector.json").write_text("{}")
    refused(dpassay(*words))


@pytest.mark.parametrize(
    "answers", [{"events": []}, {"events": [3], "output": 1}, {"events": 3, "output": 1}, {"output": 1}]
)
def test_answers_that_lack_something_never_agree(dpassay, tmp_path, answers):
    assert dpassay("crosscheck", "export", "baselines/dp_sgd:digits", "vector.json")[0] == 0
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    refused(dpassay("crosscheck", "compare", "vector.json", "answers.json"), "answers")
    vector = json.loads((tmp_path / "vector.json").read_text())
    (tmp_path / "answers.json").write_text(json.dumps({**vector, **answers} | {"format": 1}))
    (tmp_path / "answers.json").write_text(json.dumps({"format": vector["format"], **answers}))
    refused(dpassay("crosscheck", "compare", "answers.json", "vector.json"), "vector")


@pytest.mark.parametrize("option", ["--output", "--ledger", "--readme"])
def test_prove_says_at_once_that_it_cannot_write(dpassay, tmp_path, option):
    (tmp_path / "file").write_text("")
    refused(dpassay("prove", option, tmp_path / "file" / "x"), option)
    refused(dpassay("prove", option, tmp_path), option)


@pytest.mark.parametrize("option", ["--ledger", "--readme"])
def test_one_row_is_not_written_as_the_ledger(dpassay, tmp_path, option):
    (tmp_path / "KEPT.md").write_text("kept")
    refused(dpassay("prove", "--id", "dro/lemma9/c_value", option, "KEPT.md"), option, "--id")
    assert (tmp_path / "KEPT.md").read_text() == "kept"


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("--data", "empty.csv"), "--data"),
        (("--data", "ragged.csv"), "--data"),
        (("--noise-multiplier", "1e-300"), "--noise-multiplier"),
        (("--noise-multiplier", "inf"), "--noise-multiplier"),
    ],
)
def test_attack_refuses(dpassay, tmp_path, words, field):
    (tmp_path / "empty.csv").write_text("\n")
    (tmp_path / "ragged.csv").write_text("1,2,0\n1,0\n")
    refused(dpassay("attack", *words), field)


def test_prove_wants_the_markers_before_it_works(dpassay, tmp_path):
    (tmp_path / "README.md").write_text("no markers")
    refused(dpassay("prove", "--readme", "README.md"), "--readme")
    assert (tmp_path / "README.md").read_text() == "no markers"


@pytest.mark.parametrize("option", ["--output", "--page"])
def test_reproduce_says_at_once_that_it_cannot_write(dpassay, tmp_path, option):
    (tmp_path / "file").write_text("")
    refused(dpassay("reproduce", "output_perturbation", option, tmp_path / "file" / "x"), option)


def test_writing_leaves_links_and_devices_what_they_are(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    write_text(tmp_path / "link", "new", "--output")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_text() == "new"
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_text(tmp_path / "pipe", "through", "--output")
    assert (tmp_path / "pipe").is_fifo() and os.read(reader, 100) == b"through"
    os.close(reader)
    require_writable(tmp_path / "pipe", "--output")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe", "target"]


def test_a_failed_write_leaves_the_old_file(tmp_path):
    (tmp_path / "file").write_text("old")
    with pytest.raises(BadInput):
        write_text(tmp_path / "file", "\ud800", "--output")
    assert (tmp_path / "file").read_text() == "old" and len(list(tmp_path.iterdir())) == 1


ROW = Row(
    "a/b", "", "printed", "", 1.0, 1e-5, "replace-one", float("inf"), "", None, "", "tight", "", True, [], {"x": 1.0},
    None, 10, 0.95, 0, 0.1, {"n": 3}, [],
)  # fmt: skip


def test_a_report_keeps_its_rows_and_an_edited_one_is_refused_by_field(tmp_path):
    path = tmp_path / "report.json"
    save(path, [ROW], Effort())
    assert load(path, Effort()) == [ROW]
    original = read_json(path, "report")
    for name, value in {"claimed": "1", "verdict": "private", "findings": "none", "runs": 1.5, "expected": 1}.items():
        rows = [{**original["rows"][0], name: value}]
        path.write_text(json.dumps({**original, "rows": rows}))
        with pytest.raises(BadInput, match=rf"rows\[0\]\.{name}"):
            load(path, Effort())
    path.write_text(json.dumps({**original, "rows": 3}))
    with pytest.raises(BadInput, match="rows"):
        load(path, Effort())


def shell(line, **environment):
    """A command line in a shell of its own; `$D` is dpassay."""
    variables = {**os.environ, **environment, "D": f"{sys.executable} -m dpassay.audit"}
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=variables, check=False, timeout=120)


def test_output_that_nobody_reads_or_that_has_no_room():
    gone = shell("$D list --json | true; exit ${PIPESTATUS[0]}")
    assert gone.returncode == 141 and not gone.stderr, gone
    full = shell("$D list > /dev/full")
    assert full.returncode == 2 and full.stderr == "dpassay: standard output: No space left on device\n", full
    assert shell("$D check nofile 2> /dev/full").returncode == 2


def test_a_terminal_without_our_letters():
    done = shell("$D list; $D show ünïcode", LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 2 and "Traceback" not in done.stderr and "algorithm = " in done.stderr, done.stderr
    assert "second_order_erm/opt@printed" in done.stdout


def test_version(dpassay):
    code, out, _ = dpassay("--version")
    assert code == 0 and out.startswith("dpassay ")


def test_a_ledger_needs_no_cache(tmp_path):
    (tmp_path / "file").write_text("")
    rows = [row for row in load_rows(["dro"]) if row.id == "dro/thm7/N3_at_most_n"]
    [result] = check_rows(rows, 1, tmp_path / "file")
    assert result.rescued


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
def test_foreign_code_that_fails_is_bad_input_and_no_verdict(dpassay, tmp_path, words, name, word):
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
def test_a_program_that_fails_is_bad_input(dpassay, tmp_path, command):
    np.save(tmp_path / "d.npy", np.ones(3))
    words = ["blackbox", "--command", command, "--dataset", "d.npy", "--neighbour", "d.npy", "--epsilon", 1]
    result = dpassay(*words)
    refused(result, "command")
    assert "\x1b" not in result[2]


def test_a_program_gets_arrays_as_lists(dpassay, tmp_path):
    np.save(tmp_path / "d.npy", np.ones(3))
    words = ["--dataset", "d.npy", "--neighbour", "d.npy", "--epsilon", 1, "--samples", 20]
    assert dpassay("blackbox", "--command", "grep -o 1.0,", *words)[0] == 2  # three lines are not one value
    assert dpassay("blackbox", "--command", "sh -c 'grep -c 1.0,'", *words)[0] == 3


@pytest.mark.parametrize("command", ["scores", "blackbox --outputs FILE --outputs"])
@pytest.mark.parametrize("name", ["complex", "empty", "none", "objects", "archive", "scalar", "huge", "deep", "lines"])
def test_stored_values_that_are_no_sample(dpassay, tmp_path, command, name):
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


@pytest.mark.parametrize("laplace", ["nan:1", "0:inf", "0:0", "0:-1", "1"])
def test_a_laplace_mechanism_that_is_none(dpassay, tmp_path, laplace):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).normal(size=30))
    words = ["blackbox", "--outputs", "a.npy", "--outputs", "a.npy", "--epsilon", 1, "--laplace", laplace]
    refused(dpassay(*words), "--laplace")


def test_neighbours_take_a_key_without_its_reading(dpassay):
    """`baselines/dp_sgd:digits` is a key; its colon made it a module that does not exist."""
    code, _, err = dpassay("neighbours", "search", "nobody/knows:it", "--epsilon", 1, "--witness", "w.json")
    assert code == 2 and "is not in the catalogue" in err


def test_a_search_says_at_once_that_it_cannot_write(dpassay, tmp_path):
    (tmp_path / "file").write_text("")
    words = ["neighbours", "search", "output_perturbation/algorithm1@repaired", "--epsilon", 1]
    refused(dpassay(*words, "--witness", tmp_path / "file" / "x", "--budget", 10**9), "--witness")


@pytest.mark.parametrize("error", [ZeroDivisionError("in the algorithm"), OSError(5, "in the algorithm")])
def test_a_crash_is_no_violation(dpassay, tmp_path, monkeypatch, error):
    """Python's own exit code is 1, which a CI would read as a violated claim."""

    def broken(*_):
        raise error

    monkeypatch.setattr(importlib.import_module("dpassay.audit.commands.check"), "run_suite", broken)
    claim = {"algorithm": "baselines/dp_sgd:digits", "epsilon": 1.0, "delta": 1e-5}
    (tmp_path / "claims.json").write_text(json.dumps({"version": 1, "claims": [claim]}))
    code, _, err = dpassay("check", "claims.json")
    assert code == 70 and "Traceback" in err and "in the algorithm" in err


def test_writing_leaves_other_files_alone(tmp_path):
    """Another process may be writing the same file, and somebody may call a file so."""
    other = tmp_path / "audit.json.part"
    other.write_text("precious")
    require_writable(tmp_path / "audit.json", "--output")
    write_text(tmp_path / "audit.json", "{}", "--output")
    assert other.read_text() == "precious" and len(list(tmp_path.iterdir())) == 2
