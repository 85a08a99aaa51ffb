"""The workflow that publishes a release: no secret in it, and only one job may say who it is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import yaml

WORKFLOW = Path(__file__).resolve().parents[2] / ".github" / "workflows" / "publish.yml"


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
