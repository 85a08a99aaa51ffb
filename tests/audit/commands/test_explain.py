"""What `dpassay audit` says of a row of the catalogue: --explain, and the witness of a failure that nobody declared."""

from __future__ import annotations

import re
from pathlib import Path

from dpassay.audit.running.report_file import load
from dpassay.audit.terminal.finish import Options, show_row

KEY = "second_order_erm/opt@printed"
SMALL = ("--jobs", 1, "--runs", 60, "--pilot", 50, "--examples", 12)
REPORT = Path("reports/second_order_erm-opt@printed.json")
FILE = "reports/second_order_erm-opt@printed.witness-1.json"


def test_explain_tells_premises_movements_source_and_witnesses_which_replay(dpassay, capfd):
    code, out, _ = dpassay("audit", KEY, *SMALL, "--explain")
    told = out.split(f"{KEY}: violated; 12 examples, seed 0\n")[1]
    lines = told.splitlines()
    premises = [line for line in lines if line.startswith("  premise ")]
    fine, broken = "no counterexample found", "does not hold"
    assert [line.rpartition(": ")[2] for line in premises] == [fine, fine, fine, broken, fine]
    place = lines.index(premises[3])
    assert lines[place + 1].startswith("    noise scale at 'gradient', step ")
    place = lines.index("  largest movement of each label, as a share of its declared sensitivity")
    shares = dict(
        line.split()[:2] for line in lines[place + 1 : place + 3]
    )  # what may follow says how much is possible
    assert set(shares) == {"gradient", "hessian"} and all(0 < float(share) <= 1 + 1e-9 for share in shares.values())
    source = next(line for line in lines if line.startswith("  source: "))
    reached, of = (int(word) for word in source.split()[1:4:2])
    assert 0 < reached <= of and "branches of the algorithm's own files" in source
    assert f"\n  again   dpassay neighbours replay {FILE}\n" in told
    assert code in (0, 3)  # with so few examples a declared finding may not show

    code, out, _ = dpassay("neighbours", "replay", FILE)
    assert code == 1 and "Now: the same finding" in out
    Path(FILE).write_text(Path(FILE).read_text().replace("opt@printed", "opt@repaired"))
    code, out, _ = dpassay("neighbours", "replay", FILE)
    assert code == 0 and "Now: not this finding" in out

    (row,) = load(REPORT)
    assert row.witnesses and not row.undeclared
    show_row(REPORT, row, Options())
    assert not capfd.readouterr().out  # what was declared prints no witness


def test_one_s_own_algorithm_is_explained_too(dpassay, monkeypatch, tmp_path):
    (tmp_path / "ours.py").write_text(
        "def run(rows, tape):\n"
        "    v = tape.gaussian('sum', rows.sum(axis=0), std=9.0, sensitivity=2.0)\n"
        "    if len(rows) < 0:\n"
        "        tape.gaussian('never', v, std=9.0, sensitivity=2.0)\n"
        "    return v, float(rows[0, 0])\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    code, out, _ = dpassay("audit", "ours:run", "--epsilon", 5, "--explain", *SMALL)
    assert code == 1 and "    output at" in out
    assert "    ours.py:4: tape.gaussian('never', v, std=9.0, sensitivity=2.0)\n" in out
    assert "reports/ours-run.witness-1.json --module ours" in out
    (row,) = load(Path("reports/ours-run.json"))
    (target,) = re.findall(r"the worst neighbours .*\n    sizes   .*; the neighbours differ in record (\d+)\n", out)
    assert int(target) == row.pair["target"]
