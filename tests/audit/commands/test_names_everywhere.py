"""Hostile names by every way in, through the whole command, to every way out.

Ways in: a claims file (name, owner, citation), labels of one's own algorithm, labels of a program on the live protocol,
names of files of scores, a vector, answers, a witness, a report, words of the command line. Ways out: the terminal,
standard error, JSON, JUnit, SARIF, Markdown, annotations, the summary of a GitHub job, HTML.
"""

import json
import re
import shlex
import sys
import time
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from markdown_it import MarkdownIt

from dpassay.audit.crosscheck import storage

EVIL = "\x1b[2J\x9b\x00</script></testcase>]]><script>alert(1)</script>\r\n::error::x |`a` [/] \ud800\ufffe\u202e\u2028"
LONG = "n" * 2**20
NAMES = {"evil": EVIL, "long": LONG}
SPEAKER = Path(__file__).parents[1] / "live" / "speaker.py"
SMALL = ("--runs", 50, "--pilot", 50, "--examples", 4, "--jobs", 1)
FILES = ("--junit", "out/j.xml", "--sarif", "out/s.json", "--markdown", "out/m.md", "--github")
MOST = 4 * 2**20  # letters of one output: a megabyte is not copied into every column


@pytest.fixture
def everywhere(dpassay, monkeypatch, tmp_path):
    """Runs a command and looks at all that it says and writes; returns the exit code and what it said."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))

    def run(*words):
        before, begun = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}, time.time()
        code, out, err = dpassay(*words)
        files = (path for path in tmp_path.rglob("*") if path.is_file() and path.suffix not in (".store", ".pyc"))
        written = [path for path in files if path.stat().st_mtime_ns != before.get(path)]
        looked_at({"stdout": out, "stderr": err, **{path.name: path.read_text("utf-8") for path in written}})
        assert code != 2 or len(err.splitlines()) == 1, err[:500]
        assert time.time() - begun < 30
        return code, out + err

    return run


def test_what_is_looked_for_is_seen():
    for name, text in (("stdout", "\x1b"), ("m.md", "<script>alert(1)"), ("stderr", "::set-output x"), ("j.json", "{")):
        with pytest.raises((AssertionError, ValueError)):
            looked_at({name: text})
    looked_at({"stdout": "all is well\n"})


def looked_at(texts):
    """Nothing in them commands a terminal, ends a document, or becomes markup or an annotation."""
    for name, text in texts.items():
        bad = {letter for letter in text if not letter.isprintable() and letter not in "\n\t\u2009\u00a0\u202f"}
        assert not bad or name.endswith((".py", ".toml", ".csv")), (name, sorted(map(ascii, bad)))
        assert len(text) < MOST or name.endswith(".toml"), (name, len(text))
        if name.endswith(".xml"):
            Xml.fromstring(text)
        elif name.endswith(".json") or (name == "stdout" and text.startswith("{")):
            json.loads(text)
        elif name.endswith((".md", ".html")):  # a page may show it as code
            shown = MarkdownIt("commonmark", {"html": True}).render(text) if name.endswith(".md") else text
            assert "<script>alert" not in shown, name
        for line in text.splitlines() if name in ("stdout", "stderr") else ():
            assert not line.startswith("::") or re.match(r"::(error|warning|notice) ", line), line[:200]


@pytest.mark.parametrize("field", ["name", "owner", "cite"])
@pytest.mark.parametrize("name", NAMES)
def test_a_claims_file(everywhere, tmp_path, monkeypatch, name, field):
    """A claim that is broken, so that every output names it. TOML itself has no lone surrogate."""
    (tmp_path / "mine_claimed.py").write_text(OWN.format(name="sum"))
    monkeypatch.syspath_prepend(tmp_path)
    claim = {"name": "a", "owner": "me", "cite": "here", field: NAMES[name].replace("\ud800", "")}
    claim |= {"algorithm": "mine_claimed:run", "examples": 9, "epsilon": 0.1, "delta": 1e-5}
    lines = [f"{key} = {json.dumps(value)}" for key, value in claim.items()]
    (tmp_path / "claims.toml").write_text("\n".join(["version = 1", "[[claim]]", *lines]))
    for more in ((), ("--json",)):
        code, said = everywhere("check", "--no-cache", "--jobs", 1, *FILES, "--output", "out/r.json", *more)
        assert code == (1 if name == "evil" and field != "name" else 2), said[:500]
        if code == 2:
            assert f".{field}" in said or "name" in said
            return
    assert everywhere("report", "out/r.json", "--no-ledger")[0] == 0


OWN = """NAME = {name!r}

def run(rows, tape):
    return tape.gaussian(NAME, rows.sum(axis=0), std=0.2, sensitivity=1.0)
"""


@pytest.mark.some(1)
@pytest.mark.parametrize("name", NAMES)
def test_labels_of_one_s_own_algorithm(everywhere, tmp_path, name):
    """A lone surrogate, and a megabyte, are no labels; every other letter is shown in words."""
    label = NAMES[name].replace("\ud800", "")[:1000]
    (tmp_path / "broken_names.py").write_text(OWN.format(name=NAMES[name]))
    code, said = everywhere("audit", "broken_names:run", "--epsilon", 1, *SMALL)
    assert code == 2 and "label" in said
    (tmp_path / f"names_{name}.py").write_text(OWN.format(name=label))
    words = ("audit", f"names_{name}:run", "--epsilon", 1, *SMALL, *FILES, "--output", "out/r.json")
    for more in ((), ("--json",), ("--explain",)):
        code, said = everywhere(*words, *more)
        assert code == 1, said[:500]
    assert everywhere("report", "out/r.json", "--no-ledger")[0] == 0


@pytest.mark.parametrize("name", [pytest.param("evil", marks=pytest.mark.slow), "long"])  # a whole audit of a program
def test_labels_and_answers_of_a_program(everywhere, tmp_path, name):
    for old, mode, code in (('"gradient", "query"', "half the noise", 1), ('"hello, world"', "garbage", 2)):
        new = repr(NAMES[name].replace("\ud800", "")) + old.removeprefix('"gradient"').removeprefix('"hello, world"')
        (tmp_path / "program.py").write_text(SPEAKER.read_text().replace(old, new))
        program = shlex.join([sys.executable, "-S", str(tmp_path / "program.py"), mode])
        words = ("audit", "baselines/dp_sgd:fixed-size@baseline", "--program", program, *SMALL, *FILES)
        found, said = everywhere(*words, "--output", "out/r.json")
        assert found == (code if name == "evil" else 2) and "exit status" not in said, said[:500]


@pytest.mark.parametrize("name", ["\x1b[2J ::error:: `a` <b>\u202e\udcff.csv", "x" * 200 + ".csv"])
def test_files_of_scores_whose_names_are_odd(everywhere, tmp_path, name):
    numbers = "\n".join(str(k / 50) for k in range(50))
    (tmp_path / name).write_text(numbers)
    (tmp_path / "q.csv").write_text("\n".join(str(5 + (k / 50) ** 2) for k in range(50)))
    words = (name, "q.csv", "--epsilon", 0.1)
    for more in ((), ("--json",)):
        assert everywhere("scores", *words, *more)[0] == 1
    assert everywhere("sequential", "scores", *words, "--checkpoint", "c.store")[0] in (0, 1, 3)
    assert everywhere("blackbox", "--outputs", name, "--outputs", "q.csv", "--epsilon", 0.1)[0] in (0, 1, 3)
    (tmp_path / name).write_text(f"{EVIL!r}\n{numbers}", encoding="utf-8", errors="replace")
    assert everywhere("scores", *words)[0] in (1, 2)
    lines = "\n".join(json.dumps({EVIL: k, LONG: EVIL}) for k in range(3))
    (tmp_path / "o.jsonl").write_text(lines)
    assert everywhere("blackbox", "--outputs", "o.jsonl", "--outputs", "o.jsonl", "--epsilon", 0.1)[0] in (0, 1, 2, 3)


@pytest.mark.parametrize("name", NAMES)
def test_vectors_answers_and_witnesses(everywhere, tmp_path, name):
    vector = next(one for one in storage.load("baselines/dp_sgd") if one["id"].endswith("@baseline/smallest"))
    files = {"v.json": vector}
    for key in [key for key, value in vector.items() if isinstance(value, str)]:
        files[f"v-{key}.json"] = {**vector, key: NAMES[name]}
    events = [{**one, "label": NAMES[name]} for one in vector["events"]]
    files["answers.json"] = {"events": events, "output": vector.get("output")}
    evil = NAMES[name]
    finding = {"kind": "sensitivity exceeded", "label": evil, "step": 0, "detail": evil, "given_secrets": False}
    about = {"algorithm": evil, "space": evil, "epsilon": 1.0, "delta": 1e-5, "relation": evil}
    files["w.json"] = {"format": 2, "finding": finding, "line": evil, "about": about, evil[:99]: 1}
    for file, document in files.items():
        (tmp_path / file).write_text(json.dumps(document))
    for file in [file for file in files if file.startswith("v")]:
        for more in ((), ("--json",)):
            assert everywhere("crosscheck", "compare", file, "answers.json", "--no-mutants", *more)[0] in (1, 2)
    assert everywhere("neighbours", "replay", "w.json", "--module", "x")[0] == 2


WORDS = (
    "show @, audit @, audit @:run, audit json:@, audit --runs @, blackbox @:f --epsilon 1, check @, check --only @, @, "
    "prove --paper @, prove --id @, list @, reproduce @, published --paper @, libraries @, crosscheck run @, "
    "scores @ @ --sampled-gaussian @, attack --estimator @, sequential combine @, neighbours replay @"
)
ODD = "\x1b[2J\x9b<script>alert(1)</script>::error:: |`[/]\u202e\u2028\udcff"


@pytest.mark.parametrize("name", [ODD, pytest.param("n" * 100_000, marks=pytest.mark.slow)], ids=["odd", "long"])
@pytest.mark.parametrize("words", WORDS.split(", "))
def test_words_of_the_command_line(dpassay, words, name):
    code, out, err = dpassay(*[word.replace("@", name) for word in words.split()])
    looked_at({"stdout": out, "stderr": err})
    assert code in (0, 1, 2, 3) and "Traceback" not in err and len(err) < 200_000
