"""`dpassay blackbox`: what it says beside a verdict, and the exit codes a CI sees. And programs as mechanisms."""

import json
import sys
import time

import numpy as np
import pytest

from dpassay.audit.blackbox import power, programs
from dpassay.audit.blackbox.detect import of_outputs
from dpassay.audit.blackbox.programs import CommandLine, KeptAlive
from dpassay.audit.blackbox.table import to_tables
from dpassay.audit.running import programs as running
from dpassay.reference.errors import BadInput
from dpassay.reference.guarantee import gdp

MODULE = """
def right(data, rng): return sum(data) + rng.laplace()
def wrong(data, rng): return {"x": [rng.laplace(), sum(data) + rng.laplace(scale=0.1)]}
def nothing(data, rng): return None
def word(data, rng): return {"said": "yes" if (rng.random() < 0.9) == (sum(data) == 4) else "no", "at": rng.normal()}
def key(data, rng): return {"a": rng.laplace(), **({"b": rng.laplace()} if sum(data) == 4 else {})}
def branch(data, rng): return float(sum(data)) if rng.random() < 0.02 else sum(data) + rng.laplace()
"""


@pytest.fixture
def run(dpassay, tmp_path, monkeypatch):
    """Exit code, output and standard error of an audit of one of them."""
    for name, text in (("mech_of_test.py", MODULE), ("d.json", "[1, 2]"), ("e.json", "[1, 3]")):
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))

    def call(name, *words, neighbour="e.json"):
        pair = ("--dataset", "d.json", "--neighbour", neighbour, "--epsilon", 1)
        return dpassay("blackbox", f"mech_of_test:{name}", *pair, "--samples", 2000, *words)

    yield call
    sys.modules.pop("mech_of_test", None)


@pytest.mark.slow  # 14 simulations each, with what they learn
def test_consistent_is_where_a_larger_epsilon_would_have_been_seen(run):
    """Laplace noise, claim just true: twice the epsilon is seen in 14 simulations of 14, 1.05 times is not."""
    found = json.loads(run("right", "--power", 2, "--json")[1])
    assert found["verdict"] == "consistent"
    planted = found["results"][0]["evidence"]["planted_event"]
    assert planted["power_at_least"] >= 0.8 and planted["share"] == pytest.approx(0.45, abs=0.03)
    code, out, _ = run("right", "--power", 1.05)
    assert code == 3 and "an epsilon 1.05 times larger" in out


def test_an_event_is_made_more_frequent_and_no_output_twice():
    rng = np.random.default_rng(0)
    mask = np.arange(1000) < 300
    size = power._possible(mask, 0.75)
    rows = [power._with_share(mask, 0.75, size, rng) for _ in range(40)]
    assert size == 380 and all(np.unique(one).size == size for one in rows)
    assert np.mean([mask[one].mean() for one in rows]) == pytest.approx(0.75, abs=0.02)
    assert power._possible(np.zeros(50, dtype=bool), 0.5) == 0
    ended = [power._repeated("", lambda rng, seen=seen: seen, 50, (0, 0)).tried for seen in (True, False)]
    assert ended == [power.ENOUGH, power.MISSES + 1]  # what is shown, and what cannot be, needs no more simulations
    assert power.larger(gdp(1.0), 2.0).delta(2.0) == pytest.approx(gdp(1.0).delta(1.0), rel=1e-2)


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("name", "words", "column"),
    [
        ("wrong", "output.x[1] ", "output.x[1]"),
        ("word", "text(output.said) other than 'no'", "text(output.said)"),
        ("key", "output.b is there", "output.b"),
        ("branch", "output equal to 3", "output"),
    ],
)
def test_the_event_and_its_column_are_named(run, name, words, column):
    """In the JSON document, and once in a sentence: an entry, a word, a key, an exact answer (seed 0)."""
    code, out, _ = run(name, "--json")
    evidence = json.loads(out)["results"][0]["evidence"]
    telling = 1 if name == "branch" else 3  # there one output alone
    assert code == 1 and len(evidence["most_telling_outputs"]["on D'"]) == telling
    assert evidence["event"].startswith(words) and evidence["column"] == column
    on_p, on_q = (hits / of for hits, of in zip(evidence["hits"], evidence["of"], strict=True))
    assert (on_q if evidence["allowed_on"] == "on D'" else on_p) > evidence["allowed_share"]
    if name == "key":  # one of the four: the sentence is made of the document
        assert f"Given away by: {evidence['event']} (" in run(name)[1]


@pytest.mark.slow
def test_the_number_of_processes_changes_no_number(run):
    one, two = (json.loads(run("wrong", "--jobs", jobs, "--json")[1])["results"][0] for jobs in "12")
    assert one["p_value"] == two["p_value"] and one["evidence"] == two["evidence"]


@pytest.mark.parametrize(("name", "words", "code", "relation"), [
    ("right", ("violated", "--relation", "add or remove"), 0, "add or remove"), ("wrong", ("violated",), 1, ""),
    ("wrong", ("never",), 0, ""),
])  # fmt: skip
def test_exit_codes_for_a_pipeline_and_the_relation_of_the_question(run, name, words, code, relation):
    found, out, _ = run(name, "--samples", 800, "--json", "--fail-on", *words)
    assert found == code and json.loads(out)["results"][0]["relation"] == (relation or "not stated")


def test_empty_audits_are_no_success(run):
    code, out, _ = run("nothing", "--power", 2)
    assert code == 3 and "gave nothing to judge" in out
    code, out, _ = run("right", "--power", 2, neighbour="d.json")
    assert code == 3 and "D and D' are equal" in out and "Planted" not in out
    for other, said in ((np.ones(5), True), (np.zeros(5), False)):
        assert bool(of_outputs(to_tables(np.ones(5), other), np.ones(5), other)) is said


# -- programs: descendants end with them, output is bounded, one process may answer line by line ---------------------
RNG = np.random.default_rng(0)
ANSWERS = "import sys,json\nfor line in sys.stdin:\n    r = json.loads(line)\n    print(r['dataset'] + 1, flush=True)\n"


def python(code):
    return [sys.executable, "-c", code]


def says(text):
    """A program that answers its first line with this, and reads on."""
    return python(f"print({text}, flush=True); input(); input()")


@pytest.mark.parametrize("into_a_session_of_its_own", ["", "setsid "])
def test_what_a_program_leaves_behind_is_ended(tmp_path, gone, into_a_session_of_its_own):
    note = tmp_path / "pid"
    script = f"echo $$ > {note}; exec sleep 300"
    program = CommandLine(
        ["sh", "-c", f"{into_a_session_of_its_own}sh -c '{script}' & while ! [ -s {note} ]; do :; done; echo 1"]
    )
    start = time.monotonic()
    assert program(0, RNG) == 1 and time.monotonic() - start < 200
    assert gone(int(note.read_text()))


@pytest.mark.parametrize(
    ("kind", "command", "why"),
    [
        (CommandLine, ["yes"], "printed more than"),
        (KeptAlive, says("'1' * 10**6"), "said more than"),
        (CommandLine, ["sleep", "60"], "took longer"),
        (KeptAlive, ["sleep", "60"], "took longer than .* for an answer; nothing has come so far: .*flush each line"),
        *((kind, ["no-such-program-here"], "cannot be started") for kind in (CommandLine, KeptAlive)),
        (KeptAlive, python("pass"), "ended"),
        (KeptAlive, says("'x'"), "not JSON"),
        (KeptAlive, says("""'{"outputs": [1, 2]}'"""), "gave 2 outputs where the count was 16"),
        (KeptAlive, says("""'{"outputs": 7}'"""), "gave int outputs where the count was 16"),
        (
            CommandLine,
            python("import sys; sys.stderr.write('x' * 9999 + ' the end'); sys.exit(3)"),
            r"exit status 3: .*the end",
        ),
    ],
)
def test_a_program_that_does_not_keep_to_the_protocol_is_named(kind, command, why, monkeypatch):
    for module, limit in ((programs, "MOST_BYTES"), (running, "MOST_LINE")):
        monkeypatch.setattr(module, limit, 100_000)
    program = kind(command, timeout=0.2 if command[0] == "sleep" else 60.0)
    with pytest.raises(BadInput, match=why):
        program.many(0, RNG, 100) if "count" in why else program(0, RNG)


def test_one_process_answers_many_times(gone):
    program = KeptAlive(python(ANSWERS))
    assert [program(i, RNG) for i in range(50)] == list(range(1, 51))
    pid = program._process._popen.pid
    program.close()
    assert gone(pid)


MANY = """
import json, random, sys
for line in sys.stdin:
    request = json.loads(line)
    rng = random.Random(request["seed"])
    outputs = [request["dataset"] + rng.random() for _ in range(request.get("count", 1))]
    print(json.dumps({"outputs": outputs}) if "count" in request else outputs[0], flush=True)
"""


@pytest.mark.parametrize(("code", "requests", "distinct"), [(MANY, 2, 500), (ANSWERS, 500, 1)])
def test_many_outputs_are_asked_for_at_once_where_the_program_gives_them(code, requests, distinct, monkeypatch):
    """Five hundred outputs: sixteen, then the rest; or one by one, where the count is not understood."""
    sent, send = [], running.Process.send
    monkeypatch.setattr(running.Process, "send", lambda self, line: (sent.append(line), send(self, line)))
    program = KeptAlive(python(code))
    found = program.many(3, np.random.default_rng(0), 500)
    program.close()
    assert len(found) == 500 and all(3 <= one <= 4 for one in found)
    assert len(set(found)) == distinct and len(sent) == requests
