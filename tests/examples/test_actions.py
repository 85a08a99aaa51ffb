"""The GitHub Action, the workflow and the GitLab job are well formed and call `dpassay check` with options it has."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from dpassay.audit.cli import app

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ACTION = EXAMPLES / "github-action" / "action.yml"
OPTIONS = CliRunner().invoke(app, ["check", "--help"], env={"COLUMNS": "200"}).output


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_action_is_a_composite_one_whose_inputs_are_used():
    action = read(ACTION)
    assert {"name", "description", "inputs", "outputs"} <= set(action) and action["runs"]["using"] == "composite"
    text = ACTION.read_text(encoding="utf-8")
    for name, one in action["inputs"].items():
        assert one["description"].endswith(".") and ("default" in one or one["required"]) and f"inputs.{name} " in text
    for step in action["runs"]["steps"]:
        assert ("uses" in step) != ("run" in step)
        if "run" in step:
            assert step["shell"] == "bash" and "${{" not in step["run"], "a value must not become part of a script"
            assert subprocess.run(["bash", "-n", "-c", step["run"]], check=False).returncode == 0


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


def test_the_workflow_uses_the_action_and_its_outputs():
    workflow = read(EXAMPLES / "private-training" / ".github" / "workflows" / "privacy.yml")
    (job,) = workflow["jobs"].values()
    uses = [step["uses"] for step in job["steps"]]
    assert "./.github/actions/dpassay" in uses
    used = re.findall(r"steps\.dpassay\.outputs\.([\w-]+)", str(job))
    assert used and set(used) <= set(read(ACTION)["outputs"])


def test_the_gitlab_job_calls_options_that_exist():
    (job,) = read(EXAMPLES / "gitlab" / "privacy.gitlab-ci.yml").values()
    (command,) = (line for line in job["script"] if line.startswith("dpassay"))
    words = command.split()
    assert words[:2] == ["dpassay", "check"] and all(word in OPTIONS for word in words if word.startswith("--"))
    assert job["artifacts"]["reports"]["junit"] in words


ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = ROOT / ".github" / "workflows"


def test_trusted_publishing_needs_no_secret():
    workflow, text = read(WORKFLOWS / "publish.yml"), (WORKFLOWS / "publish.yml").read_text(encoding="utf-8")
    jobs = workflow["jobs"]
    assert workflow["permissions"] == {"contents": "read"} and "secrets." not in text
    assert "permissions" not in jobs["build"] and jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["needs"] == "build" and jobs["publish"]["environment"]
    for job in jobs.values():
        for step in job["steps"]:
            script = step.get("run", "")
            assert "${{" not in script and subprocess.run(["bash", "-n", "-c", script], check=False).returncode == 0
    build = [step.get("run", "") for step in jobs["build"]["steps"]]
    assert "python -m build" in build and "python -m twine check --strict dist/*" in build


def test_every_supported_python_is_tested():
    workflow = read(WORKFLOWS / "tests.yml")
    jobs = workflow["jobs"]
    assert workflow["permissions"] == {"contents": "read"}
    assert jobs["all"]["steps"][-1]["run"] == ".ci/run" and os.access(ROOT / ".ci" / "run", os.X_OK)
    said = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', (ROOT / "pyproject.toml").read_text("utf-8"))
    assert said and set(said) <= set(jobs["pythons"]["strategy"]["matrix"]["python"])
