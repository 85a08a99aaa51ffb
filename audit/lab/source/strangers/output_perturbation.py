"""Bugs of a stranger in `output_perturbation`."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

from .stranger import Stranger

STRANGERS = (
    Stranger(
        "state",
        "output_perturbation/algorithm2@repaired",
        Patch(
            "phases begin at the true solution",
            "output_perturbation/algorithm2.py",
            "        centre = problem.domain_x.project(released) if schedule.project else released\n",
            "        centre = problem.domain_x.project(x_k) if schedule.project else released\n",
            "noise drawn and not used, but in the last phase",
        ),
    ),
    Stranger(
        "sampling",
        "output_perturbation/algorithm2@repaired",
        Patch(
            "phases read all earlier records",
            "output_perturbation/algorithm2.py",
            "        phase = problem.phase(batch.indices, Regulariser",
            "        phase = problem.phase(np.arange(int(batch.indices.max()) + 1), Regulariser",
            "a record is in several phases: no parallel composition",
        ),
    ),
    Stranger(
        "sensitivity",
        "output_perturbation/algorithm3@repaired",
        Patch(
            "pair is scaled by the root of the root",
            "output_perturbation/algorithm3.py",
            "        scale = np.sqrt(problem.weights)\n",
            "        scale = np.sqrt(np.sqrt(problem.weights))\n",
            "another metric than Lemma 4.3's",
        ),
    ),
    Stranger(
        "state",
        "output_perturbation/algorithm4@repaired",
        Patch(
            "phases keep the true y",
            "output_perturbation/algorithm4.py",
            "        whole_centre = np.concatenate([centre, np.zeros(schedule.d_y)])\n",
            (
                "        whole_centre = np.concatenate([centre, np.zeros(schedule.d_y) if k == 1 else "
                "solution[schedule.d :]])\n"
            ),
            "an un-noised y is the next centre",
        ),
    ),
    Stranger(
        "noise",
        "output_perturbation/algorithm5@printed",
        Patch(
            "algorithm 5 takes the last sigma",
            "output_perturbation/algorithm5.py",
            '        std = schedule.noise.std(f"y/{k}", sensitivity)',
            '        std = schedule.noise.std(f"y/{schedule.plan.count}", sensitivity)',
            "sigma of the last phase is the smallest",
        ),
    ),
)
