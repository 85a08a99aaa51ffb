"""Plain NumPy code from the command line: `dpassay audit MODULE:FUNCTION`."""

import shutil
from pathlib import Path

MECHANISMS = Path(__file__).parents[1] / "plain_numpy" / "mechanisms.py"


def test_plain_code_is_audited_by_name(dpassay, tmp_path):
    shutil.copy(MECHANISMS, tmp_path / "mine_in_numpy.py")
    words = ("--epsilon", "4", "--runs", "100", "--pilot", "60", "--examples", "25")
    code, out, _ = dpassay("audit", "mine_in_numpy:exact_beside_it", *words)
    assert code == 1 and ("leaks" in out or "violated" in out)
    code, _, err = dpassay("audit", "mine_in_numpy:on_the_sphere", *words)
    assert code == 2 and "mine_in_numpy.py:" in err and "tape" in err
