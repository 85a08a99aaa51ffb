"""The code of docs/output_perturbation.md runs and shows what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from dpassay.reference.tape import LiveTape

PAGE = Path(__file__).parents[2] / "docs" / "output_perturbation.md"


@pytest.mark.more
def test_the_program_of_the_page_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 4
    names: dict[str, object] = {}
    exec(compile("\n".join(blocks), str(PAGE), "exec"), names)
    printed = capsys.readouterr().out
    assert names["accuracy"] > 0.75  # seed 1 of the page
    assert printed.count("release refused") == 2  # two passes of SGD, one step of Newton
    assert "SGD, polished [" in printed
    assert "quiet: []" in printed
    assert "loud: ['revealed value']" in printed
    released = [names["algorithm1"].run(names["problem"], names["schedule"], LiveTape(seed)) for seed in range(200)]
    right = [((names["features"] @ weights > 0) == (names["labels"] > 0)).mean() for weights in released]
    assert np.mean(right) == pytest.approx(0.81, abs=0.01) and np.std(right) == pytest.approx(0.10, abs=0.01)
    distance = float(re.search(r"same noise: (\S+)", printed)[1])
    assert distance < 1e-3
