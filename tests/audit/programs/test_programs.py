"""Programs as people write them: a few in full. All sixty of them, or those that are named:

python -m tests.audit.programs.test_programs [NAME ...]
"""

import sys
import time
from collections import Counter

import pytest

from dpassay.audit.row import Effort
from dpassay.audit.subjects.own import own_row
from dpassay.audit.verdict import Verdict
from dpassay.reference import PrivacyClaim
from dpassay.reference.errors import BadInput
from tests.audit.programs import right, wrong

EFFORT, QUICK = Effort(runs=100, pilot=100, examples=30), Effort(runs=60, pilot=50, examples=20)


def judged(module, name: str, effort: Effort = EFFORT) -> tuple[str, int, str]:
    """What the audit of one program comes to: a word, the exit code of `dpassay audit`, and the cause."""
    try:
        row = own_row(f"{module.__name__}:{name}", None, PrivacyClaim(module.CLAIMS[name], 1e-5), effort)
    except BadInput as refused:
        return "refused", 2, str(refused)
    said = f"certified {row.certified:.3g}, " if row.certified is not None else ""
    return str(row.verdict), Verdict(row.verdict).exit_code, f"{said}{row.why}"


@pytest.mark.some(1)  # the others are audited by tests of commands
@pytest.mark.parametrize(
    ("module", "name"),
    [
        (wrong, "stops_on_the_exact_gradient"),
        *((right, name) for name in ("private_mean", "frame_means")),
        *((wrong, name) for name in ("clip_missing", "noise_halved")),
    ],
)
def test_programs_as_people_write_them(module, name):
    verdict, code, why = judged(module, name, QUICK)
    assert code == (module is wrong), f"{verdict}: {why}"
    assert (verdict == "certified") == (code == 0)


def main(names: list[str]) -> None:
    """Prints the table, and how often each verdict comes for right and for wrong programs."""
    for module in (right, wrong):
        kind, seen = module.__name__.rpartition(".")[2], Counter[str]()
        for name in (one for one in module.CLAIMS if not names or one in names):
            start = time.process_time()
            verdict, code, why = judged(module, name)
            seen[f"{verdict} (exit {code})"] += 1
            print(f"{kind:5} {name:32} {verdict:13} {code} {time.process_time() - start:5.1f}s {why[:150]}", flush=True)
        print(f"{kind}: {dict(seen)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
