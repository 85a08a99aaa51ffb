"""Planted bugs in the algorithms of all papers: who catches them, and who is accused wrongly.

python benchmarks/mutants.py [--quick] [--write]
"""

from __future__ import annotations

import audit_figures as figures

from dpassay.audit.zoo.mutants import Effort, Outcome, plan, run_planned

HEADER = ("case", "mutation", "claimed", "epsilon of the pair", "likelihood >=", "caught by", "verdict", "seconds")
METHODS = ("replay", "likelihood", "black box")


def main() -> None:
    """One line a mutant, and the shares."""
    chosen = figures.options(__doc__)
    effort = Effort(runs=200, outputs=0) if chosen.quick else Effort(runs=200, outputs=200)
    outcomes: list[Outcome] = []
    rows = []
    for one in run_planned(plan(only="half" if chosen.quick else ""), effort):
        outcomes.append(one)
        bound = "" if one.likelihood is None else figures.text(one.likelihood)
        said = "right" if one.right else "MISSED" if one.must_be_caught else "FALSE ALARM"
        by = ", ".join(one.caught_by) or "nobody"
        epsilon = "unaccounted" if one.epsilon is None else one.epsilon
        rows.append((one.case, one.mutation, one.claimed, epsilon, bound, by, said, one.seconds))
        figures.show(HEADER, rows[-1])
    notes = shares(outcomes)
    print("\n".join(notes))
    if chosen.write:
        figures.write("mutants", "Planted bugs and who catches them", HEADER, rows, notes)


def shares(outcomes: list[Outcome]) -> list[str]:
    """Counts over the mutants that must be caught, and over the safe ones."""
    bad, safe = [o for o in outcomes if o.must_be_caught], [o for o in outcomes if o.safe]
    counts = [f"{method} {sum(method in o.caught_by for o in bad)}" for method in METHODS]
    missed, accused = sum(not o.right for o in bad), sum(not o.right for o in safe)
    papers = sorted({o.case.split("/")[0] for o in outcomes})
    return [
        f"{len(bad)} mutants exceed their claim by 10 % or more, or data leave outside the accounting; "
        f"caught by {', '.join(counts)}; by nobody {missed}.",
        f"{len(safe)} equivalent or safe mutants; accused {accused}.",
        f"{len({o.case for o in outcomes})} cases of {', '.join(papers)}.",
    ]


if __name__ == "__main__":
    main()
