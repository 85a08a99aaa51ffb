"""Programs as people write them: a few in full; ``python test_programs.py [NAME ...]`` judges all sixty of them."""

import sys
import time
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from dpassay.audit.row import Effort
from dpassay.audit.subjects.own import own_row
from dpassay.audit.verdict import Verdict
from dpassay.reference import PrivacyClaim
from dpassay.reference.errors import BadInput

FOLDER = str(Path(__file__).parent)
EFFORT = Effort(runs=100, pilot=100, examples=30)


def judged(module: str, name: str, claimed: float, effort: Effort = EFFORT) -> tuple[str, int, str]:
    """What the audit of one program comes to: a word, the exit code of `dpassay audit`, and the cause."""
    if FOLDER not in sys.path:
        sys.path.insert(0, FOLDER)
    try:
        row = own_row(f"{module}:{name}", None, PrivacyClaim(claimed, 1e-5), effort)
    except BadInput as refused:
        return "refused", 2, str(refused)
    said = f"certified {row.certified:.3g}, " if row.certified is not None else ""
    return str(row.verdict), Verdict(row.verdict).exit_code, f"{said}{row.why}"


QUICK = Effort(runs=60, pilot=50, examples=20)


@pytest.mark.parametrize(
    ("module", "name", "code"),
    [
        ("wrong", "stops_on_the_exact_gradient", 1),
        pytest.param("right", "private_mean", 0, marks=pytest.mark.more),  # audited by tests of commands
        pytest.param("right", "frame_means", 0, marks=pytest.mark.more),
        pytest.param("wrong", "clip_missing", 1, marks=pytest.mark.more),
        pytest.param("wrong", "noise_halved", 1, marks=pytest.mark.more),
    ],
)
def test_programs_as_people_write_them(monkeypatch, module, name, code):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    verdict, found, why = judged(module, name, import_module(module).CLAIMS[name], QUICK)
    assert found == code, f"{verdict}: {why}"
    assert (verdict == "certified") == (code == 0)
    for one in ("right", "wrong"):
        sys.modules.pop(one, None)


def main(names: list[str]) -> None:
    """Prints the table, and how often each verdict comes for right and for wrong programs."""
    sys.path.insert(0, FOLDER)
    for module in ("right", "wrong"):
        seen: Counter[str] = Counter()
        for name, claimed in import_module(module).CLAIMS.items():
            if names and name not in names:
                continue
            start = time.process_time()
            verdict, code, why = judged(module, name, claimed)
            seen[f"{verdict} (exit {code})"] += 1
            print(
                f"{module:5} {name:32} {verdict:13} {code} {time.process_time() - start:5.1f}s {why[:150]}", flush=True
            )
        print(f"{module}: {dict(seen)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
