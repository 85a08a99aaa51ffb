"""The script of docs/training.md: breakages exit 1 with their line, refactorings stay green."""

import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpassay.audit.cli import app

PAGE = Path(__file__).resolve().parents[2] / "docs" / "training.md"
FEW = ["--with", "steps=6", "--runs", "60", "--pilot", "50", "--examples", "30"]
CLIPS = "clipped = grads / np.maximum(1.0, norms / CLIP)"
LOSS = "            if np.mean(np.log1p(np.exp(-(2 * y - 1) * (X @ self.w)))) < 0.6:\n                break\n"
STEP = "            self.w = self.w - self.lr * velocity\n"
BROKEN = {
    "clip dropped": (CLIPS, "clipped = grads", "noisy = "),
    "noise halved": ("scale=NOISE * CLIP", "scale=0.5 * NOISE * CLIP", "noisy = "),
    "momentum on the exact gradient": ("+ noisy / (", "+ clipped.sum(axis=0) / (", "velocity = self.momentum"),
    "stops on the exact loss": (STEP, STEP + LOSS, "if np.mean"),
}
HELPER = "\n\ndef shortened(grads):\n    return grads / np.maximum(1.0, np.linalg.norm(grads, axis=1, keepdims=True))\n"
KEPT = {
    "a helper function": (CLIPS, "clipped = shortened(grads)"),
    "the other way to clip": (CLIPS, "clipped = grads * np.minimum(1.0, CLIP / np.maximum(norms, 1e-12))"),
    "another name": ("noisy", "private_gradient"),
}


def audited(text, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mytrain", raising=False)
    Path("mytrain.py").write_text(text + HELPER)
    result = CliRunner().invoke(app, ["audit", "mytrain:PrivateLogisticRegression", *words])
    sys.modules.pop("mytrain", None)
    return result.exit_code, result.output


def script():
    return re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL).group(1)


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_a_breakage_exits_1_and_names_its_line(name, tmp_path, monkeypatch):
    old, new, line = BROKEN[name]
    text = script().replace(old, new)
    words = ["--epsilon", "3.4", "--budget", "40"] if "stops" in name else ["--epsilon", "2.5", *FEW]
    code, output = audited(text, words, tmp_path, monkeypatch)  # six steps are too few for a stop to show
    number = next(place for place, one in enumerate(text.splitlines(), 1) if line in one)
    first = re.search(r" at +mytrain\.py:(\d+)", output)
    assert code == 1 and first and int(first[1]) == number, output


@pytest.mark.slow
@pytest.mark.parametrize("name", KEPT)
def test_a_refactoring_stays_green(name, tmp_path, monkeypatch):
    code, output = audited(script().replace(*KEPT[name]), ["--epsilon", "2.5", *FEW], tmp_path, monkeypatch)
    assert code == 0, output


@pytest.mark.slow
def test_a_budget_ends_with_what_is_certified(tmp_path, monkeypatch):
    code, output = audited(script(), ["--epsilon", "3.4", "--budget", "5"], tmp_path, monkeypatch)
    assert code == 0 and "certified" in output and "the time of --budget is up" in " ".join(output.split()), output
