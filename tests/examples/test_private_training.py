"""The example repository, the script of docs/training.md, and what CI runs: each breakage goes red for its reason."""

import importlib
import linecache
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from dpassay.audit.cli import app, main

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
EXAMPLE = EXAMPLES / "private-training"
CHECK = ("check", "--baseline", "privacy.lock.json")
REASONS = {  # patch: verdict, and what its cause says
    "noise-halved": ("over budget", "the releases add up to 6.65, more than claimed"),
    "noise-10-percent-less": ("over budget", "the releases add up to 3.36, more than claimed"),
    "clip-removed": ("overshoots", "sensitivity exceeded at gradient"),
    "batch-counted-twice": ("overshoots", "sensitivity exceeded at gradient: the pair moves the query by 4, claimed 2"),
    "stops-on-the-true-loss": ("leaks", "replay: early end"),
    "starts-from-the-data": ("leaks", "output (output"),
}
HARMLESS = sorted(path.stem for path in (EXAMPLE / "refactorings").glob("*.patch"))
SLOW = pytest.mark.slow


@pytest.fixture
def repository(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "repository", ignore=shutil.ignore_patterns("__pycache__", ".dpassay_cache"))
    return tmp_path / "repository"


@pytest.fixture
def dpassay(monkeypatch, capfd):
    """The command in this process, on code that is imported anew; what a process of its own would give back."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("COLUMNS", "100")

    def run(folder, *words):
        monkeypatch.chdir(folder)
        for module in ("train", "mytrain"):
            sys.modules.pop(module, None)
        importlib.invalidate_caches()
        linecache.clearcache()
        monkeypatch.setattr(sys, "argv", ["dpassay", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return subprocess.CompletedProcess(words, ended.value.code or 0, *capfd.readouterr())

    return run


@pytest.mark.more
@pytest.mark.parametrize(
    "name", [name if name == "clip-removed" else pytest.param(name, marks=SLOW) for name in REASONS]
)
def test_a_regression_goes_red_for_its_reason(repository, dpassay, name):
    subprocess.run(["git", "apply", f"regressions/{name}.patch"], cwd=repository, check=True)
    found = dpassay(repository, *CHECK, "--sarif", "s.sarif")
    verdict, cause = REASONS[name]
    said = " ".join(found.stdout.split())
    assert found.returncode == 1 and f"{verdict} " in said and " at train.py:" in said and cause in said, found
    assert '"uri": "train.py"' in (repository / "s.sarif").read_text()


@pytest.mark.more
@pytest.mark.parametrize("name", [name if name == HARMLESS[0] else pytest.param(name, marks=SLOW) for name in HARMLESS])
def test_a_refactoring_stays_green(repository, dpassay, name):
    before = (repository / "train.py").read_text()
    subprocess.run(["git", "apply", f"refactorings/{name}.patch"], cwd=repository, check=True)
    assert (repository / "train.py").read_text() != before
    found = dpassay(repository, *CHECK)
    assert found.returncode == 0 and "nothing is worse than it was" in found.stdout, found


def test_there_are_six_of_each_and_the_readme_names_claim_and_regressions():
    text = (EXAMPLE / "README.md").read_text()
    (claim,) = tomllib.loads((EXAMPLE / "claims.toml").read_text())["claim"]
    assert f"({claim['epsilon']:g}, {claim['delta']:.0e})".replace("e-05", "e-5") in text
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.+?) \|$", text, re.MULTILINE))
    assert set(rows) == set(REASONS) == {path.stem for path in (EXAMPLE / "regressions").glob("*.patch")}
    assert len(HARMLESS) == 6
    assert all(said.startswith(REASONS[name][0]) for name, said in rows.items())


@SLOW
def test_the_commands_of_the_readme_do_what_it_says(repository, dpassay):
    text = (EXAMPLE / "README.md").read_text()
    blocks = re.findall(r"```sh\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.DOTALL)
    assert len(blocks) == 3
    for commands, shown in blocks:
        printed = ""
        for line in commands.splitlines():
            command, _, remark = line.partition("  #")
            words = command.split()
            if words[0] == "pip":
                continue
            if words[0] == "dpassay":
                found = dpassay(repository, *words[1:])
            else:
                words[0] = sys.executable if words[0] == "python" else words[0]
                found = subprocess.run(words, cwd=repository, capture_output=True, text=True, check=False)
            assert found.returncode == (1 if "exit code 1" in remark else 0), (line, found)
            printed += found.stdout
        assert all(line in printed.splitlines() for line in shown.splitlines()), printed


# The script of docs/training.md: breakages exit 1 with their line.
PAGE = ROOT / "docs" / "training.md"
FEW = ["--with", "steps=6", "--runs", "60", "--pilot", "50"]
CLIPS = "clipped = grads / np.maximum(1.0, norms / CLIP)"
LOSS = "            if np.mean(np.log1p(np.exp(-(2 * y - 1) * (X @ self.w)))) < 0.6:\n                break\n"
STEP = "            self.w = self.w - self.lr * velocity\n"
BROKEN = {
    "clip dropped": (CLIPS, "clipped = grads", "noisy = "),
    "noise halved": ("scale=NOISE * CLIP", "scale=0.5 * NOISE * CLIP", "noisy = "),
    "momentum on the exact gradient": ("+ noisy / (", "+ clipped.sum(axis=0) / (", "velocity = self.momentum"),
    "stops on the exact loss": (STEP, STEP + LOSS, "if np.mean"),
}


@pytest.fixture
def audited(dpassay, tmp_path):
    def run(text, words):
        (tmp_path / "mytrain.py").write_text(text)
        found = dpassay(tmp_path, "audit", "mytrain:PrivateLogisticRegression", *words)
        return found.returncode, found.stdout

    return run


def script():
    return re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL).group(1)


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_a_breakage_exits_1_and_names_its_line(name, audited):
    old, new, line = BROKEN[name]
    text = script().replace(old, new)
    words = ["--epsilon", "3.4", "--budget", "40"] if "stops" in name else ["--epsilon", "2.5", *FEW]
    code, output = audited(text, words)  # six steps are too few for a stop to show
    number = next(place for place, one in enumerate(text.splitlines(), 1) if line in one)
    first = re.search(r" at +mytrain\.py:(\d+)", output)
    assert code == 1 and first and int(first[1]) == number, output


@pytest.mark.slow
def test_a_budget_ends_with_what_is_certified(audited):
    code, output = audited(script(), ["--epsilon", "3.4", "--budget", "5"])
    assert code == 0 and "certified" in output and "the time of --budget is up" in " ".join(output.split()), output


# -- the GitHub Action, the workflows and the GitLab job are well formed and call `dpassay check` with options it has
ACTION = EXAMPLES / "github-action" / "action.yml"
PRIVACY = EXAMPLE / ".github" / "workflows" / "privacy.yml"
WORKFLOWS = ROOT / ".github" / "workflows"
OPTIONS = CliRunner().invoke(app, ["check", "--help"], env={"COLUMNS": "200"}).output


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps_of(path):
    document = read(path)
    return [step for job in document.get("jobs", {"action": document.get("runs")}).values() for step in job["steps"]]


@pytest.mark.parametrize("path", [ACTION, PRIVACY, *WORKFLOWS.glob("*.yml")], ids=lambda path: path.name)
def test_scripts_are_of_bash_and_no_value_becomes_part_of_them(path):
    for step in steps_of(path):
        assert ("uses" in step) != ("run" in step)
        script = step.get("run", "")
        assert "${{" not in script and subprocess.run(["bash", "-n", "-c", script], check=False).returncode == 0


@pytest.mark.parametrize("code", [0, 1, 3])
def test_the_check_of_the_action_hands_on_exit_code_and_words(tmp_path, code):
    """With a program in place of dpassay that writes down how it was called."""
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin" / "dpassay"
    fake.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/words\nexit {code}\n')
    fake.chmod(0o755)
    (step,) = (one for one in read(ACTION)["runs"]["steps"] if one.get("id") == "check")
    given = {"CLAIMS": "my claims.toml", "BASELINE": "a;b.json", "FAIL_ON": "leaks", "JOBS": "3"}
    given |= {"FOLDER": str(tmp_path / "out"), "GITHUB_OUTPUT": str(tmp_path / "outputs")}
    environment = os.environ | given | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    assert set(step["env"]) <= set(given)
    found = subprocess.run(["bash", "-e", "-c", step["run"]], env=environment, check=False)
    words = (tmp_path / "words").read_text().splitlines()
    assert found.returncode == code
    assert words[:2] == ["check", "my claims.toml"] and words[-2:] == ["--baseline", "a;b.json"]
    assert all(word in OPTIONS for word in words if word.startswith("--"))
    assert (tmp_path / "outputs").read_text() == f"exit-code={code}\nfolder={tmp_path / 'out'}\n"


def test_the_gitlab_job_calls_options_that_exist():
    (job,) = read(EXAMPLES / "gitlab" / "privacy.gitlab-ci.yml").values()
    (command,) = (line for line in job["script"] if line.startswith("dpassay"))
    words = command.split()
    assert words[:2] == ["dpassay", "check"] and all(word in OPTIONS for word in words if word.startswith("--"))
    assert job["artifacts"]["reports"]["junit"] in words


def test_every_supported_python_is_tested():
    workflow = read(WORKFLOWS / "tests.yml")
    jobs = workflow["jobs"]
    assert workflow["permissions"] == {"contents": "read"}
    assert jobs["all"]["steps"][-1]["run"] == ".ci/run" and os.access(ROOT / ".ci" / "run", os.X_OK)
    said = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', (ROOT / "pyproject.toml").read_text("utf-8"))
    assert said and set(said) <= set(jobs["pythons"]["strategy"]["matrix"]["python"])
