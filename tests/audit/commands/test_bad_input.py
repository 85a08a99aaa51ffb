"""Bad input and foreign text: one line and exit code 2, nothing lost."""

from __future__ import annotations

import importlib
import json
import shutil
from pathlib import Path

import pytest

from dpassay.audit.report.verdicts import print_results
from dpassay.audit.results import SoundBound
from dpassay.reference.errors import printable

BROKEN = Path(__file__).parents[1] / "search" / "broken.py"
ESCAPE = "\x1b[2J"
ESCAPE_IN_TOML = "\\u001b[2J\\n"
CLAIM = """version = 1
[[claim]]
name = "a"
algorithm = "baselines/dp_sgd:digits"
epsilon = 1.0
delta = 1e-5
"""


@pytest.mark.parametrize(
    ("text", "why"),
    [("[" * 100_000 + "]" * 100_000, "nested"), ("9" * 5000, "digits"), ("", "JSON"), ("{", "JSON")],
)
@pytest.mark.parametrize(
    "words",
    [
        ("crosscheck", "replay"),
        ("neighbours", "replay"),
        ("audit", "baselines/dp_sgd:digits", "--resume", "--output"),
        ("reproduce", "dro", "--audited"),
    ],
)
def test_json_that_is_none_or_too_much(dpassay, refused, tmp_path, words, text, why):
    path = tmp_path / "file.json"
    path.write_text(text)
    refused(dpassay(*words, path), "file.json", why)
    assert path.read_text() == text


@pytest.mark.parametrize("text", ["", "{", "9" * 5000, "[" * 100_000])
def test_a_checkpoint_that_is_none(dpassay, refused, tmp_path, text):
    path = tmp_path / "file"
    path.write_text(text)
    refused(dpassay("sequential", "combine", path), "--checkpoint", str(path))
    assert path.read_text() == text and sorted(one.name for one in tmp_path.iterdir()) == ["file"]


@pytest.mark.parametrize("words", [("check",), ("crosscheck", "replay"), ("neighbours", "replay")])
def test_a_file_that_cannot_be_read(dpassay, refused, tmp_path, words):
    refused(dpassay(*words, tmp_path), str(tmp_path))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    refused(dpassay(*words, tmp_path / "loop"), "loop")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    refused(dpassay(*words, tmp_path / "binary"), "binary", "text")


def test_a_name_in_a_file_cannot_command_the_terminal(dpassay, refused, tmp_path):
    path = tmp_path / "claims.toml"
    path.write_text(f'version = 1\n[[claim]]\nname = "a"\n"{ESCAPE_IN_TOML}name" = 1\n')
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


def test_a_working_directory_that_is_gone(dpassay, refused, monkeypatch, tmp_path):
    """Libraries look for it when they are loaded: it ended in their tracebacks."""
    gone = tmp_path / "gone"
    gone.mkdir()
    with monkeypatch.context() as context:
        context.chdir(gone)
        gone.rmdir()
        result = dpassay("doctor")
    refused(result, "working directory", "No such file")


@pytest.mark.parametrize(
    "words",
    [
        ("blackbox", "--outputs", "a.csv", "--outputs", "a.csv", "--epsilon", 1, "--keep-alive"),
        ("audit", "baselines/dp_sgd:digits", "--timeout", 0),
        ("audit", "baselines/dp_sgd:digits", "--all"),
        ("audit", "mine:run", "--epsilon", 1, "--all"),
    ],
)
def test_options_that_would_be_ignored(dpassay, refused, words):
    refused(dpassay(*words), next(word for word in ("--keep-alive", "--timeout", "--all") if word in words))


@pytest.mark.parametrize("words", [("show", ""), ("audit", ""), ("check", "claims.toml"), ("mutants", "")])
def test_an_empty_name_is_no_way_to_say_all(dpassay, refused, tmp_path, words):
    (tmp_path / "claims.toml").write_text(CLAIM.replace("baselines/dp_sgd:digits", ""))
    refused(dpassay(*words), "algorithm")


@pytest.mark.parametrize(
    "words",
    [
        ("check", "claims.toml", "--jobs", 0),
        ("check", "claims.toml", "--only", "nobody"),
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
        ("audit", "nobody"),
        ("audit", "baselines", "--jobs", "0"),
        ("show", "nobody"),
        ("crosscheck", "export", "baselines/dp_sgd", "x.json"),
        ("crosscheck", "compare", "nowhere.json", "nowhere.json"),
        ("prove", "--paper", "nobody"),
        ("prove", "Theorem 99"),
        ("audit", "planted:true_branch", "--epsilon", "-1"),
        ("audit", "planted:nothing", "--epsilon", "1"),
        ("audit", "planted:STD", "--epsilon", "1"),
        ("audit", "planted:descent", "--epsilon", "1", "--space", "planted:STD"),
        ("audit", "planted:descent", "--epsilon", "1", "--space", "planted:descent"),
        ("audit", "planted:descent", "--epsilon", "1", "--relation", "near"),
        ("audit", "planted:descent", "--epsilon", "1", "--examples", "0"),
        ("audit", "planted:descent", "dro", "--epsilon", "1"),
        ("audit", "baselines", "--epsilon", "1"),
    ],
)
def test_what_means_nothing_is_one_line(dpassay, refused, monkeypatch, tmp_path, words):
    """Names of nothing, numbers out of range, options without effect, values of another kind."""
    monkeypatch.syspath_prepend(str(tmp_path))
    shutil.copy(BROKEN, tmp_path / "planted.py")
    (tmp_path / "claims.toml").write_text(CLAIM)
    (tmp_path / "a.csv").write_text("1\n2\n3\n")
    (tmp_path / "bool.json").write_text("[[true, false]]")
    (tmp_path / "vector.json").write_text("{}")
    refused(dpassay(*words))


@pytest.mark.parametrize(
    "answers", [{"events": []}, {"events": [3], "output": 1}, {"events": 3, "output": 1}, {"output": 1}]
)
def test_answers_that_lack_something_never_agree(dpassay, refused, tmp_path, answers):
    assert dpassay("crosscheck", "export", "baselines/dp_sgd:digits", "vector.json")[0] == 0
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    refused(dpassay("crosscheck", "compare", "vector.json", "answers.json"), "answers")
    vector = json.loads((tmp_path / "vector.json").read_text())
    (tmp_path / "answers.json").write_text(json.dumps({**vector, **answers} | {"format": 1}))
    (tmp_path / "answers.json").write_text(json.dumps({"format": vector["format"], **answers}))
    refused(dpassay("crosscheck", "compare", "answers.json", "vector.json"), "vector")


@pytest.mark.parametrize("option", ["--output", "--ledger", "--readme"])
def test_prove_says_at_once_that_it_cannot_write(dpassay, refused, tmp_path, option):
    (tmp_path / "file").write_text("")
    refused(dpassay("prove", option, tmp_path / "file" / "x"), option)
    refused(dpassay("prove", option, tmp_path), option)


@pytest.mark.parametrize("option", ["--ledger", "--readme"])
def test_one_statement_is_not_written_as_the_ledger(dpassay, refused, tmp_path, option):
    (tmp_path / "KEPT.md").write_text("kept")
    refused(dpassay("prove", "Theorem 1", option, "KEPT.md"), option, "leave the statement")
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
def test_attack_refuses(dpassay, refused, tmp_path, words, field):
    (tmp_path / "empty.csv").write_text("\n")
    (tmp_path / "ragged.csv").write_text("1,2,0\n1,0\n")
    refused(dpassay("attack", *words), field)


def test_prove_wants_the_markers_before_it_works(dpassay, refused, tmp_path):
    (tmp_path / "README.md").write_text("no markers")
    refused(dpassay("prove", "--readme", "README.md"), "--readme")
    assert (tmp_path / "README.md").read_text() == "no markers"


@pytest.mark.parametrize("option", ["--output", "--page"])
def test_reproduce_says_at_once_that_it_cannot_write(dpassay, refused, tmp_path, option):
    (tmp_path / "file").write_text("")
    refused(dpassay("reproduce", "output_perturbation", option, tmp_path / "file" / "x"), option)


def test_version(dpassay):
    code, out, _ = dpassay("--version")
    assert code == 0 and out.startswith("dpassay ")


@pytest.mark.parametrize("error", [ZeroDivisionError("in the algorithm"), OSError(5, "in the algorithm")])
def test_a_crash_is_no_violation(dpassay, tmp_path, monkeypatch, error):
    """Python's own exit code is 1, which a CI would read as a violated claim."""

    def broken(*_, **__):
        raise error

    monkeypatch.setattr(importlib.import_module("dpassay.audit.commands.check"), "run_claims", broken)
    (tmp_path / "claims.toml").write_text(CLAIM)
    code, _, err = dpassay("check")
    assert code == 70 and "Traceback" in err and "in the algorithm" in err


@pytest.mark.parametrize(
    "words",
    [
        ("published", "--members", "1" + "0" * 400),
        ("published", "--auc", "0.9", "--std", "inf"),
        ("audit", "--jobs=1" + "0" * 30),
        ("audit", "--seed", "nan"),
    ],
)
def test_numbers_that_no_option_means(dpassay, refused, words):
    refused(dpassay(*words), words[-2] if "=" not in words[-1] else "--jobs")
