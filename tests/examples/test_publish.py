"""The project's own workflows: what publishes a release has no secret, and what tests runs what CI runs."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "publish.yml"
TESTS = ROOT / ".github" / "workflows" / "tests.yml"


def test_trusted_publishing_needs_no_secret():
    text = WORKFLOW.read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
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
    workflow = yaml.safe_load(TESTS.read_text(encoding="utf-8"))
    jobs = workflow["jobs"]
    assert workflow["permissions"] == {"contents": "read"}
    assert jobs["all"]["steps"][-1]["run"] == ".ci/run" and os.access(ROOT / ".ci" / "run", os.X_OK)
    said = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', (ROOT / "pyproject.toml").read_text("utf-8"))
    assert said and set(said) <= set(jobs["pythons"]["strategy"]["matrix"]["python"])
