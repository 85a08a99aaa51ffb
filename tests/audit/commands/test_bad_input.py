"""Bad input and foreign text: one line and exit code 2, nothing lost."""

import importlib
import json
import shlex
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
        result = dpassay("list", "dro")
    refused(result, "working directory", "No such file")


OWN, PAIR, OUTPUTS = "audit planted:descent --epsilon 1", "--dataset d.json --neighbour d.json", "--outputs a.csv"
PROGRAM, ADAPTER = "audit laplace --program true", "crosscheck run planted:descent"
CANARIES = "attack --canaries 'gradient orthogonal'"
AUC = "published --members 9 --nonmembers 9 --auc 0.9"
HUGE, BELOW = "1" + "0" * 400, "claims.toml/x"  # no file can be there
REFUSED = {  # what the one line says, and what is refused with it
    # names of nothing, and an empty name, which is no way to say all
    "algorithm": ["audit nobody", "audit ''", "show ''", "check empty.toml", f"{OWN} dro"],
    "nowhere": ["crosscheck compare nowhere.json nowhere.json",
                *(f"{ADAPTER} {option} nowhere.json" for option in ("--vectors", "--expected"))],
    "writes a first one": ["check --baseline none.json", "check nowhere.toml"],
    "vector.json: claims": ["check --baseline vector.json"],
    "--algorithm": ["init other.toml --algorithm nonsense"],
    "cannot be reproduced": ["reproduce nobody"],
    "baselines/dp_sgd": ["crosscheck export baselines/dp_sgd x.json"],
    "--paper": ["prove --paper nobody", "published --paper nobody", "published a.csv --paper dro"],
    "Theorem 99": ["prove 'Theorem 99'"],
    "of a paper: --paper dro": ["prove dro"],
    "Theorem 3.4": ["prove 3.4"],
    "Lemma 3.5": ["prove 'Lemma 3.5' --paper dro"],
    "planted:nothing": ["audit planted:nothing --epsilon 1"],
    "--only": ["check claims.toml --only nobody"],
    # numbers out of range, or of no kind that an option means
    "--jobs": ["check claims.toml --jobs 0", "audit baselines --jobs 0", f"audit --jobs={HUGE}"],
    "--confidence": ["audit baselines --confidence 1",
                     *(f"scores a.csv a.csv --epsilon 1 --confidence {one}" for one in (0, 1, 1 - 2**-53, "nan"))],
    "--runs": ["audit baselines --runs 0"],
    "--seed": ["audit baselines --seed -1", "audit --seed nan"],
    "--pilot": [f"audit baselines/dp_sgd:digits --pilot {10**20}"],
    "--timeout": ["audit baselines/dp_sgd:digits --timeout 0", f"{ADAPTER} --timeout 0"],
    "--members": [f"published --members {HUGE}"],
    "--sampled-gaussian": [f"scores a.csv a.csv --sampled-gaussian {one}" for one in
                           ("inf:0.1:3", "0.0001:0.1:10", "1:2:3", "1:0.5:10000000")],
    "auc": [f"{AUC} --auc {wrong} --epsilon 1" for wrong in ("1.2", "nan")],
    "fpr": [f"{AUC} --fpr 0.1 --epsilon 1", f"{AUC.replace('auc', 'tpr')} --epsilon 1"],
    "drop --auc": ["published --paper dro --auc 0.9"],
    "exactly one of --auc": ["published --epsilon 1"],
    "--gdp": ["scores a.csv a.csv --gdp 1e300"],
    "bool.json": ["scores a.csv a.csv --curve bool.json"],
    "--data": ["attack --data empty.csv", "attack --data ragged.csv", "reproduce minimax_sosp --data ."],
    "at least one line of numbers": ["attack --data note.csv"],
    "is empty": ["attack --data nothing.csv"],
    "must be classes": ["attack --data large.csv", "attack --data minus.csv"],
    "--noise-multiplier": ["attack --noise-multiplier 1e-300", "attack --noise-multiplier inf"],
    "1e-9..1e9": ["attack --noise-multiplier 0"],
    "belongs to dp-sgd": ["attack --noise-multiplier 2 --estimator GaussianNB"],
    "one kind at a time": [f"{CANARIES} --canaries mislabelled"],
    "must be one of": ["attack --canaries gradient"],
    "shows no gradients": [f"{CANARIES} --estimator GaussianNB"],
    "in one run": [f"{CANARIES} --models 5"],
    "same from any start": [f"{CANARIES} --initialisation crafted"],
    "at most 62 canaries fit": [f"{CANARIES} --hidden 0"],
    "0..1e5": [f"{CANARIES} --candidates 1", "attack --candidates 1 --models 10"],
    "must be 1, or lie in": ["attack --candidates 5"],
    "--candidates 1": ["attack --initialisation crafted"],
    "must be 0": ["attack --initialisation crafted --candidates 1 --hidden 3"],
    "where to start": ["attack --initialisation crafted --candidates 1 --estimator GaussianNB"],
    "usual or crafted": ["attack --initialisation random"],
    "3..10000": ["attack --models 0"],
    "not negative": ["attack --epsilon -1"],
    "delta": ["attack --delta 1"],
    "estimator": ["attack --estimator os.system"],
    # attacks, mechanisms, scores
    "second file": ["scores a.csv"],
    "none.csv": ["scores none.csv none.csv", "sequential scores none.csv a.csv --checkpoint c.json --gdp 1",
                 "attack --data none.csv"],
    "header, and no line": ["scores head.csv --one-run"],
    "one named score and one member": ["scores value.csv --one-run", "scores twice.csv --one-run"],
    "TOML": [f"{ADAPTER} --expected KEPT.md"],
    "outcome": [f"{ADAPTER} --expected passes.toml"],
    "why": [f"{ADAPTER} --expected no-reason.toml"],
    "table": [f"{ADAPTER} --expected number.toml"],
    "numbers": ["scores words.jsonl words.jsonl"],
    "reads one file": ["scores a.csv a.csv --one-run"],
    "NOISE:RATE:STEPS": ["scores a.csv a.csv --sampled-gaussian 1:2"],
    "for --one-run alone": ["scores named.csv named.csv"],
    "needs a column 'member'": ["scores score.csv --one-run"],
    "line 3": ["scores cut.csv cut.csv", "scores word.csv word.csv"],  # the latter with semicolons
    "none of these columns is named score": ["scores text.csv text.csv"],
    'answered hello, and not with {"dpassay": 1}': ["audit laplace --program cat --epsilon 1 --space planted:space"],
    "cannot be loaded": [f"blackbox nowhere:f {PAIR}", "crosscheck run nowhere:run"],
    "no attribute": [f"blackbox planted:none {PAIR}", "crosscheck run planted:nothing",
                     f"{PROGRAM} --epsilon 1 --space planted:NOTHING"],
    "not callable": [f"blackbox json:decoder {PAIR}", "crosscheck run planted:STD"],
    "MODULE:FUNCTION": ["crosscheck run planted", f"blackbox .planted:descent {PAIR}"],
    "MODULE:SPACE": [f"{PROGRAM} --epsilon 1 --space rows", "audit planted:space --program true"],
    "mechanism": ["blackbox"],
    "both files": ["blackbox planted:descent"],
    "cannot be started": [f"blackbox --command no-such-program {PAIR}",
                          "audit laplace --program no-such-program --epsilon 1 --space planted:space"],
    "is about a claim": [f"blackbox --command no-such-program {PAIR} --floats"],
    "two files": [f"blackbox {OUTPUTS}"],
    "give one of": ["scores a.csv a.csv --epsilon 1 --gdp 1", "sequential scores a.csv a.csv --checkpoint c.json",
                    f"sequential blackbox json:loads --checkpoint c.json {PAIR}"],
    # values of another kind, and options that would be ignored
    "epsilon": ["audit planted:true_branch --epsilon -1", "audit baselines --epsilon 1", f"{AUC}",
                f"{PROGRAM} --space planted:space"],
    "--program with --space": [f"{PROGRAM} --epsilon 1"],
    "plain name": ["audit planted:space --program true --epsilon 1 --space planted:space"],
    "planted:STD": ["audit planted:STD --epsilon 1"],
    "space": [f"{OWN} --space planted:STD", f"{OWN} --space planted:descent"],
    "--relation": [f"{OWN} --relation near", f"{AUC} --epsilon 1 --relation near",
                   f"{PROGRAM} --epsilon 1 --space planted:space --relation near"],
    "--examples": [f"{OWN} --examples 0", f"{PROGRAM} --epsilon 1 --space planted:space --examples 0"],
    "--all": ["audit mine:run --epsilon 1 --all"],
    "--json": ["audit baselines --explain --json"],
    "--keep-alive": [f"blackbox {OUTPUTS} {OUTPUTS} --epsilon 1 --keep-alive"],
    "--delta": ["published --paper dro --delta 0"],
    "leave the statement": ["prove 'Theorem 1' --ledger KEPT.md"],
    "goes with --baseline": ["check --update"],
    # what cannot be written is said before the work begins; KEPT.md has no markers
    "--junit": [f"{OWN} --junit .", f"{OWN} --junit r.json --output r.json"],
    "--sarif": [f"{OWN} --sarif {BELOW}"],
    "--markdown": [f"{OWN} --markdown a.txt --sarif a.txt"],
    "--output": [f"prove --output {BELOW}", f"reproduce minimax_sosp --output {BELOW}"],
    "--ledger": ["prove --ledger ."],
    "--readme": [f"prove --readme {BELOW}", "prove --readme KEPT.md"],
    "--page": [f"reproduce minimax_sosp --page {BELOW}"],
}  # fmt: skip


@pytest.mark.parametrize(("line", "said"), [(line, said) for said, lines in REFUSED.items() for line in lines])
def test_what_means_nothing_or_cannot_be_is_one_line(dpassay, refused, tmp_path, line, said):
    shutil.copy(BROKEN, tmp_path / "planted.py")
    files = {"claims.toml": CLAIM, "empty.toml": CLAIM.replace("baselines/dp_sgd:digits", ""), "KEPT.md": "kept"}
    files |= {"a.csv": "1\n2\n3\n", "bool.json": "[[true, false]]", "vector.json": "{}", "empty.csv": "\n"}
    files |= {"ragged.csv": "1,2,0\n1,0\n", "words.jsonl": '"a"\n"b"\n', "d.json": "[1, 0]"}
    files |= {"note.csv": "# nothing\n", "nothing.csv": "", "large.csv": "0,1\n1,1e300\n", "minus.csv": "0,1\n1,-1\n"}
    files |= {"head.csv": "id,score,member\n", "value.csv": "id,value,member\n1,2,0\n2,3,1\n"}
    files |= {"twice.csv": "score,score,member\n1,2,0\n2,3,1\n", "no-reason.toml": '["a"]\noutcome = "fail"\n'}
    files |= {"passes.toml": '["a"]\noutcome = "pass"\nwhy = "x"\n', "number.toml": "a = 1\n"}
    files |= {"named.csv": "member,score\n1,1\n0,2\n", "score.csv": "id,score\na,1\n", "cut.csv": "id,score\na,1\nb\n"}
    files |= {"word.csv": "id;score\na;1\nb;x\n", "text.csv": "id;points\na;1\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    refused(dpassay(*shlex.split(line)), said)
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
FOREIGN = [  # a module, and what is said of its mechanism
    ("import sys\ndef f(data, rng): sys.exit(0)", "SystemExit (mechanism.py, line 2)"),
    ("\n\ndef f(data, rng): raise RuntimeError('boom \\x1b[2J')", "RuntimeError (mechanism.py, line 3): boom"),
    ("def f(): return 1", "TypeError"),
    ("def f(data, rng): return object()", "real numbers"),
    ("def f(data, rng): return 10**400", "too large"),
    ("import sys; sys.exit(0)", "SystemExit"),
    ("raise ValueError('two\\nlines')", "ValueError"),
    ("def f(:", "SyntaxError"),
]


@pytest.mark.parametrize(("text", "word"), FOREIGN)
@pytest.mark.parametrize("words", [("blackbox",), ("sequential", "blackbox", "--checkpoint", "state.json")])
def test_foreign_code_that_fails_is_bad_input_and_no_verdict(dpassay, refused, tmp_path, words, text, word):
    """A `sys.exit(0)` in a mechanism must not end the audit with the exit code that says "fine"."""
    (tmp_path / "mechanism.py").write_text(text)
    (tmp_path / "d.json").write_text("[1]")
    sys.modules.pop("mechanism", None)
    refused(dpassay(*words, "mechanism:f", "--dataset", "d.json", "--neighbour", "d.json", "--epsilon", 1), word)
    assert not (tmp_path / "state.json").exists()


def test_code_for_data_of_other_sizes_is_shown_how_to_name_them(dpassay, refused, tmp_path):
    (tmp_path / "wide.py").write_text("def f(rows, rng): return rows.dot([1.0] * 210) + rng.normal()")
    refused(dpassay("audit", "wide:f", "--epsilon", 1), "d=(21,)")


@pytest.mark.parametrize(
    "command", ["head -c 20 /dev/urandom", "printf [", "true", "sh -c 'printf \"\\033[2J\" >&2; exit 3'", "echo 'x", ""]
)
def test_a_program_that_fails_is_bad_input(dpassay, refused, tmp_path, command):
    np.save(tmp_path / "d.npy", np.ones(3))
    result = dpassay("blackbox", "--command", command, *shlex.split(f"{PAIR.replace('json', 'npy')} --epsilon 1"))
    refused(result, "command")
    assert "\x1b" not in result[2]


def test_a_program_gets_arrays_as_lists(dpassay, tmp_path):
    np.save(tmp_path / "d.npy", np.ones(3))
    words = shlex.split(f"{PAIR.replace('json', 'npy')} --epsilon 1 --samples 20")
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
