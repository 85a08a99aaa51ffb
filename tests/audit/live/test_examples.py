"""The examples in C and in JavaScript are right, and twins of them with one planted leak are caught by its cause."""

import json
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from tapes import Again
from typer.testing import CliRunner

from dpassay.audit.cli import app
from dpassay.audit.crosscheck.storage import load
from dpassay.audit.live.program import LiveProgram, run_live
from dpassay.audit.report.campaign import judge, read_expected
from dpassay.audit.running.programs import ProgramBroken
from dpassay.reference.catalogue import find
from dpassay.reference.findings import Kind
from dpassay.reference.tape import LiveTape

EXAMPLES = Path(__file__).parents[3] / "examples"
SGD, LINE_SEARCH = "baselines/dp_sgd:fixed-size@baseline", "second_order_erm/opt_ls@repaired"
MISSING = {
    "c": "" if shutil.which("cc") and shutil.which("make") else "needs cc and make",
    "js": "" if shutil.which("node") else "needs node",
}


@dataclass(frozen=True)
class Twin:
    """An example with one line changed."""

    name: str
    key: str
    kind: Kind
    file: str = ""
    before: str = ""
    after: str = ""


C_TWINS = (
    Twin("un-noised use", SGD, Kind.OUTPUT, "dp_sgd.c", "rate * released[j]", "rate * mean[j]"),
    Twin("wrong clip", SGD, Kind.SENSITIVITY_EXCEEDED, "dp_sgd.c", "clip / norm : 1", "clip / sqrt(norm) : 1"),
    Twin("noise halved", SGD, Kind.OVER_BUDGET, "dp_sgd.c", "multiplier->number *", "multiplier->number / 2 *"),
    Twin("wrong batch", SGD, Kind.UNDECLARED_BATCH, "dp_sgd.c", "b->indices[k] : k", "(b->indices[k] + 1) % r->n : k"),
    Twin(
        "branch on the true gradient", LINE_SEARCH, Kind.CALL, "opt_ls.c",
        "if (norm > s->gradient) {", "risk_gradient(r, w, p);\n        if (p[0] > 0) {",
    ),
    Twin(
        "stop on the true loss", LINE_SEARCH, Kind.EARLY_END, "opt_ls.c",
        "k <= T && !certified", "k <= T && !certified && risk_value(r, w) > 0.1",
    ),
    Twin(
        "noise by the true loss", LINE_SEARCH, Kind.NOISE_SCALE, "opt_ls.c",
        "g, d, sigma * s->delta_g,", "g, d, sigma * s->delta_g * (1 + risk_value(r, w)),",
    ),
)  # fmt: skip
JS_TWINS = (
    Twin("batch not named", SGD, Kind.UNDECLARED_BATCH, "dp_sgd.js", "sensitivity, batch);", "sensitivity);"),
    Twin("noise halved", SGD, Kind.OVER_BUDGET, "dp_sgd.js", "multiplier * sens", "multiplier / 2 * sens"),
)
TWINS = [
    pytest.param(language, twin, id=f"{language}: {twin.name}")
    for language, twins in (("c", C_TWINS), ("js", JS_TWINS))
    for twin in twins
]


def built(language, folder, twin=None):
    """The command of an example, copied into a folder, with a line changed, built."""
    if MISSING[language]:
        pytest.skip(MISSING[language])
    shutil.copytree(EXAMPLES / f"live-{language}", folder, dirs_exist_ok=True)
    if twin is not None:
        path = folder / twin.file
        text = path.read_text()
        assert text.count(twin.before) == 1, twin
        path.write_text(text.replace(twin.before, twin.after))
    if language == "js":
        return shlex.join(["node", str(folder / "main.js")])
    (folder / "live").unlink(missing_ok=True)
    flags = "-std=c11 -O1 -Wall -Wextra -Wpedantic -Werror"
    done = subprocess.run(["make", "-C", str(folder), f"CFLAGS={flags}"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return str(folder / "live")


@pytest.fixture(scope="module", params=["c", "js"])
def example(request, tmp_path_factory):
    return built(request.param, tmp_path_factory.mktemp("example"))


def problems(case, sizes, seed):
    """The case's own pair, and random data of some sizes of its space (for OPT-LS: they reach both line searches)."""
    instance, space = case.build(), case.space()
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(sizes["n"], sizes["d"])) / 2
    if space.rows.labels:
        rows /= np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
        rows = np.column_stack([rows, rng.choice(space.rows.labels, size=sizes["n"])])
    return [(instance.pair.here, instance.schedule), (space.problem(rows, sizes), space.schedule(sizes))]


@pytest.mark.some(4)
@pytest.mark.parametrize(
    ("key", "sizes"),
    [
        (SGD, {"n": 5, "d": 3, "steps": 3, "batch": 2}),
        ("baselines/dp_sgd:poisson@baseline", {"n": 5, "d": 3, "steps": 3, "batch": 2}),
        ("baselines/dp_sgd:full-batch@baseline", {"n": 5, "d": 3, "steps": 3}),
        (LINE_SEARCH, {"n": 5, "d": 3, "steps": 4}),
        ("second_order_erm/opt_ls@printed", {"n": 5, "d": 2, "steps": 4}),
    ],
)
def test_the_examples_ask_for_what_the_reference_asks_for(example, key, sizes):
    """The same calls, queries and scales to 1e-11 (sums in another order; eigenvectors by another method)."""
    (case,) = find(key)
    run, labels = case.build().run, set()
    with LiveProgram(example, case.id, case.reading) as program:
        for seed in (0, 1, 2):
            for problem, schedule in problems(case, sizes, seed):
                ours = LiveTape(seed)
                ours.transcript.output = run(problem, schedule, ours)
                theirs = Again(ours.transcript, seed)
                output = program(problem, schedule, theirs)
                labels |= {release.label for release in ours.transcript.releases}
                for one, other in zip(ours.transcript.releases, theirs.transcript.releases, strict=True):
                    close(one.law, other.law)
                    assert one.sensitivity == pytest.approx(other.sensitivity, rel=1e-11)
                w = output["w"] if isinstance(output, dict) else output
                expected = getattr(ours.transcript.output, "w", ours.transcript.output)
                assert np.allclose(w, expected, rtol=1e-9, atol=1e-9 * np.max(np.abs(expected)))
    assert "opt_ls" not in key or {"line search/gradient", "line search/curvature"} & labels


def close(one, other):
    """Two laws with all their numbers, the noise of line searches among them."""
    assert type(one) is type(other)
    for name in ("query", "std", "threshold", "threshold_scale", "query_scale"):
        if getattr(one, name, None) is not None:
            a, b = np.asarray(getattr(one, name)), np.asarray(getattr(other, name))
            assert a.shape == b.shape
            assert np.all(np.abs(a - b) <= 1e-11 * np.max(np.abs(a), initial=1e-300))


@pytest.mark.parametrize("algorithm", ["baselines/dp_sgd", "second_order_erm/opt_ls"])
def test_the_examples_pass_on_all_vectors(example, algorithm):
    """Input that must be refused is among them; what an example does not know stands in its file."""
    known = read_expected(EXAMPLES / "live-c" / "expected.toml")
    results = list(run_live(example, load(algorithm)))
    wrong = [one.result for one in judge(results, known) if one.unexpected]
    assert len(results) > 10 and not wrong, [(one.id, one.message) for one in wrong]


def test_the_examples_say_what_they_do_not_know(example):
    (case,) = find("second_order_erm/opt@repaired")
    instance = case.build()
    with LiveProgram(example, case.id, case.reading) as program, pytest.raises(ProgramBroken, match="it knows"):
        program(instance.pair.here, instance.schedule, LiveTape(0))


@pytest.mark.slow  # a compiler and a search each; `test_program.py` finds the same bugs in Python
@pytest.mark.parametrize(("language", "twin"), TWINS)
def test_the_command_ends_with_one_on_planted_leaks(language, twin, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = built(language, tmp_path / "example", twin)
    options = ["--runs", "50", "--pilot", "50", "--examples", "60", "--json"]
    done = CliRunner().invoke(app, ["audit", twin.key, "--program", command, *options])
    assert done.exit_code == 1, done.output
    assert f'"kind": "{twin.kind.value}"' in done.output


@pytest.mark.slow
@pytest.mark.parametrize("key", [SGD, LINE_SEARCH])
def test_the_command_ends_well_on_the_examples(example, key, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["audit", key, "--program", example, "--json"])
    (row,) = json.loads(done.stdout)["rows"]
    assert row["findings"] == [] and row["realised"] > 0
    assert done.exit_code == {"tight": 0, "consistent": 0}[row["verdict"]], done.output
