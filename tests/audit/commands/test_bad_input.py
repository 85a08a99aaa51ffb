"""Bad input and foreign text: one line and exit code 2, nothing lost."""

import importlib
import json
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from dpassay.audit.report.verdicts import print_results
from dpassay.audit.results import SoundBound

BROKEN = Path(__file__).parents[2] / "bugs" / "broken.py"
ESCAPE = "\x1b[2J"
CLAIM = """version = 1
[[claim]]
name = "a"
algorithm = "baselines/dp_sgd:digits"
epsilon = 1.0
delta = 1e-5
"""


@pytest.mark.parametrize("text", ["[" * 100_000 + "]" * 100_000, "9" * 5000, "", "{"])
@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("neighbours", "replay"), "file.json"),
        (("audit", "baselines/dp_sgd:digits", "--resume", "--output"), "file.json"),
        (("sequential", "combine"), "--checkpoint"),
    ],
)
def test_a_file_that_is_none_or_too_much_is_left_as_it_is(dpassay, refused, tmp_path, words, field, text):
    path = tmp_path / "file.json"
    path.write_text(text)
    refused(dpassay(*words, path), field, "file.json")
    assert path.read_text() == text and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("words", [("check",), ("neighbours", "replay")])
def test_a_file_that_cannot_be_read(dpassay, refused, tmp_path, words):
    refused(dpassay(*words, tmp_path), str(tmp_path))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    refused(dpassay(*words, tmp_path / "loop"), "loop")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    refused(dpassay(*words, tmp_path / "binary"), "binary", "text")


def test_results_print_foreign_names_as_they_are(capfd):
    name = f"[red]bold[/red] {ESCAPE}"
    bound = SoundBound(method=name, epsilon=1.0, delta=0.0, confidence=0.95, runs=10, seconds=0.0, claimed=None)
    print_results([bound], None, False, f"Audited: {name} [/nothing].")
    out = capfd.readouterr().out
    assert "[red]bold[/red]" in out and "[/nothing]" in out and ESCAPE not in out


def test_a_working_directory_that_is_gone(dpassay, refused, monkeypatch, tmp_path):
    """Libraries look for it when they are loaded: it ended in their tracebacks."""
    (tmp_path / "gone").mkdir()
    with monkeypatch.context() as context:
        context.chdir(tmp_path / "gone")
        (tmp_path / "gone").rmdir()
        result = dpassay("doctor")
    refused(result, "working directory", "No such file")


SEARCHED = ("audit", "planted:descent", "--epsilon", "1")
NUMBERS = ("--auc", 0.9, "--members", 9, "--nonmembers", 9)
PAIR = ("--dataset", "d.json", "--neighbour", "d.json")
BELOW = "claims.toml/x"  # no file can be there


@pytest.mark.parametrize(
    ("words", "field"),
    [
        # names of nothing, and an empty name, which is no way to say all
        (("audit", "nobody"), "algorithm"),
        (("show", ""), "algorithm"),
        (("check", "empty.toml"), "algorithm"),
        (("check", "nowhere.toml"), "nowhere.toml"),
        (("check", "claims.toml", "--only", "nobody"), "--only"),
        (("check", "--baseline", "none.json"), "--update writes a first one"),
        (("check", "--baseline", "vector.json"), "vector.json: format"),
        (("init", "other.toml", "--algorithm", "nonsense"), "--algorithm"),
        (("reproduce", "nobody"), "cannot be reproduced"),
        (("crosscheck", "compare", "nowhere.json", "nowhere.json"), "nowhere.json"),
        (("crosscheck", "export", "baselines/dp_sgd", "x.json"), "baselines/dp_sgd"),
        (("prove", "--paper", "nobody"), "--paper"),
        (("prove", "Theorem 99"), "Theorem 99"),
        (("prove", "dro"), "of a paper: --paper dro"),
        (("prove", "3.4"), "Theorem 3.4"),
        (("prove", "Lemma 3.5", "--paper", "dro"), "Lemma 3.5"),
        (("audit", "planted:nothing", "--epsilon", "1"), "planted:nothing"),
        # numbers out of range, or of no kind that an option means
        (("check", "claims.toml", "--jobs", 0), "--jobs"),
        (("audit", "baselines", "--jobs", "0"), "--jobs"),
        (("audit", "baselines", "--confidence", "1"), "--confidence"),
        (("audit", "baselines", "--runs", "0"), "--runs"),
        (("audit", "baselines", "--seed", "-1"), "--seed"),
        (("audit", "baselines/dp_sgd:digits", "--pilot", 10**20), "--pilot"),
        (("audit", "baselines/dp_sgd:digits", "--timeout", 0), "--timeout"),
        (("audit", "--jobs=1" + "0" * 30), "--jobs"),
        (("audit", "--seed", "nan"), "--seed"),
        (("published", "--members", "1" + "0" * 400), "--members"),
        (("published", *NUMBERS, "--sampled-gaussian", "inf:0.1:3"), "--sampled-gaussian"),
        (("scores", "a.csv", "a.csv", "--sampled-gaussian", "0.0001:0.1:10"), "--sampled-gaussian"),
        (("scores", "a.csv", "a.csv", "--gdp", 1e300), "--gdp"),
        (("scores", "a.csv", "a.csv", "--curve", "bool.json"), "bool.json"),
        (("attack", "--data", "empty.csv"), "--data"),
        (("attack", "--data", "ragged.csv"), "--data"),
        (("attack", "--noise-multiplier", "1e-300"), "--noise-multiplier"),
        (("attack", "--noise-multiplier", "inf"), "--noise-multiplier"),
        # attacks, mechanisms, scores
        (("scores", "a.csv"), "second file"),
        (("scores", "none.csv", "none.csv"), "none.csv"),
        (("scores", "words.jsonl", "words.jsonl"), "numbers"),
        (("scores", "a.csv", "a.csv", "--one-run"), "reads one file"),
        (("scores", "a.csv", "a.csv", "--epsilon", 1, "--gdp", 1), "give one of"),
        (("scores", "a.csv", "a.csv", "--sampled-gaussian", "1:2"), "NOISE:RATE:STEPS"),
        (("scores", "named.csv", "named.csv"), "for --one-run alone"),
        (("scores", "score.csv", "--one-run"), "needs a column 'member'"),
        (("scores", "cut.csv", "cut.csv"), "line 3"),
        (("blackbox", "nowhere:f", *PAIR), "cannot be loaded"),
        (("blackbox", "planted:none", *PAIR), "no attribute"),
        (("blackbox", "json:decoder", *PAIR), "not callable"),
        (("blackbox",), "mechanism"),
        (("blackbox", "planted:descent"), "both files"),
        (("blackbox", "--command", "no-such-program", *PAIR), "cannot be started"),
        (("blackbox", "--command", "no-such-program", *PAIR, "--floats"), "is about a claim"),
        (("blackbox", "--outputs", "a.csv"), "two files"),
        (("sequential", "blackbox", "json:loads", "--checkpoint", "c.json", *PAIR), "claim"),
        (("sequential", "scores", "a.csv", "a.csv", "--checkpoint", "c.json"), "claim"),
        (("sequential", "scores", "none.csv", "a.csv", "--checkpoint", "c.json", "--gdp", 1), "none.csv"),
        # values of another kind
        (("audit", "planted:true_branch", "--epsilon", "-1"), "epsilon"),
        (("audit", "planted:STD", "--epsilon", "1"), "planted:STD"),
        ((*SEARCHED, "--space", "planted:STD"), "space"),
        ((*SEARCHED, "--space", "planted:descent"), "space"),
        ((*SEARCHED, "--relation", "near"), "--relation"),
        ((*SEARCHED, "--examples", "0"), "--examples"),
        (("audit", "planted:descent", "dro", "--epsilon", "1"), "algorithm"),
        # options that would be ignored
        (("audit", "baselines", "--epsilon", "1"), "--epsilon"),
        (("audit", "mine:run", "--epsilon", 1, "--all"), "--all"),
        (("audit", "baselines", "--explain", "--json"), "--json"),
        (("blackbox", "--outputs", "a.csv", "--outputs", "a.csv", "--epsilon", 1, "--keep-alive"), "--keep-alive"),
        (("published", "--paper", "dro", "--delta", 0.0), "--delta"),
        (("reproduce", "minimax_sosp", "--data", "."), "--data"),
        (("prove", "Theorem 1", "--ledger", "KEPT.md"), "leave the statement"),
        (("check", "--update"), "goes with --baseline"),
        # what cannot be written is said before the work begins
        ((*SEARCHED, "--junit", "."), "--junit"),
        ((*SEARCHED, "--sarif", BELOW), "--sarif"),
        ((*SEARCHED, "--markdown", "a.txt", "--sarif", "a.txt"), "--markdown"),
        ((*SEARCHED, "--junit", "r.json", "--output", "r.json"), "--junit"),
        (("prove", "--output", BELOW), "--output"),
        (("prove", "--ledger", "."), "--ledger"),
        (("prove", "--readme", BELOW), "--readme"),
        (("prove", "--readme", "KEPT.md"), "--readme"),  # it has no markers
        (("reproduce", "minimax_sosp", "--output", BELOW), "--output"),
        (("reproduce", "minimax_sosp", "--page", BELOW), "--page"),
    ],
)
def test_what_means_nothing_or_cannot_be_is_one_line(dpassay, refused, tmp_path, words, field):
    shutil.copy(BROKEN, tmp_path / "planted.py")
    files = {"claims.toml": CLAIM, "empty.toml": CLAIM.replace("baselines/dp_sgd:digits", ""), "KEPT.md": "kept"}
    files |= {"a.csv": "1\n2\n3\n", "bool.json": "[[true, false]]", "vector.json": "{}", "empty.csv": "\n"}
    files |= {"ragged.csv": "1,2,0\n1,0\n", "words.jsonl": '"a"\n"b"\n', "d.json": "[1, 0]"}
    files |= {"named.csv": "member,score\n1,1\n0,2\n", "score.csv": "id,score\na,1\n", "cut.csv": "id,score\na,1\nb\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    refused(dpassay(*words), field)
    assert {name: (tmp_path / name).read_text() for name in files} == files and not (tmp_path / "r.json").exists()


@pytest.mark.parametrize(
    "answers", [{"events": []}, {"events": [3], "output": 1}, {"events": 3, "output": 1}, {"output": 1}]
)
def test_answers_that_lack_something_never_agree(dpassay, refused, tmp_path, answers):
    assert dpassay("crosscheck", "export", "baselines/dp_sgd:digits", "vector.json")[0] == 0
    vector = json.loads((tmp_path / "vector.json").read_text())
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    refused(dpassay("crosscheck", "compare", "vector.json", "answers.json"), "answers")
    (tmp_path / "answers.json").write_text(json.dumps({"format": vector["format"], **answers}))
    refused(dpassay("crosscheck", "compare", "answers.json", "vector.json"), "vector")


@pytest.mark.parametrize("error", [ZeroDivisionError("in the algorithm"), OSError(5, "in the algorithm")])
def test_a_crash_is_no_violation(dpassay, tmp_path, monkeypatch, error):
    """Python's own exit code is 1, which a CI would read as a violated claim."""

    def broken(*_, **__):
        raise error

    monkeypatch.setattr(importlib.import_module("dpassay.audit.commands.check"), "run_claims", broken)
    (tmp_path / "claims.toml").write_text(CLAIM)
    code, _, err = dpassay("check")
    assert code == 70 and "Traceback" in err and "in the algorithm" in err


# Code, programs and stored values of others: their failures are bad input, never a verdict.
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
    refused(dpassay(*words, name, "--dataset", "d.json", "--neighbour", "d.json", "--epsilon", 1), word)
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
