"""Of the sixty programs a few, in full; the table (`table.py`) has all of them."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

from dpassay.audit import Effort

QUICK = Effort(runs=60, pilot=50, examples=20)


@pytest.mark.parametrize(
    ("module", "name", "code"),
    [
        ("right", "private_mean", 0),
        ("right", "frame_means", 0),
        ("wrong", "clip_missing", 1),
        ("wrong", "noise_halved", 1),
        ("wrong", "stops_on_the_exact_gradient", 1),
    ],
)
def test_programs_as_people_write_them(monkeypatch, module, name, code):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    table, claims = import_module("table"), import_module(module).CLAIMS
    verdict, found, why = table.judged(module, name, claims[name], QUICK)
    assert found == code, f"{verdict}: {why}"
    assert (verdict == "certified") == (code == 0)
    for one in ("table", "right", "wrong"):
        sys.modules.pop(one, None)
