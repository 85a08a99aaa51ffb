"""Reproduction of ``dro``, Section 5: membership inference done twice, and the quality of the models (Tables 2 and 3).

Table 2 of the paper attacks models trained on an imbalanced set and does not name its non-members. Here the attacks are
run on members and non-members of one distribution, beside the paper's number and the ceiling of the claim, and the
confidence attack also against a balanced test set, beside what an attacker without any model reaches there.

Every finished cell is written to a file at once, so an interrupted reproduction goes on where it stopped.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpassay.audit.published.dro import EPSILONS, TABLE_3_EPSILONS
from dpassay.reference.dro.training import MAIN, METHODS, REPAIRED
from dpassay.reference.errors import BadInput
from dpassay.reference.problems.imbalanced import Split

from .dro_membership import STYLES, attack_aucs, imbalanced, pool, shifted, train_models
from .dro_tables import Cell, findings, notes, quality_table, same_table, shift_table, write_page, write_plot
from .report import Finished, Options, Report

SEEDS, SHADOWS = 5, 12  # attacked models and shadow models of a cell
QUICK_EPSILONS = (1.0, 10.0)


@dataclass(frozen=True)
class Measured:
    """The numbers of a cell."""

    key: str
    content: dict[str, Any]


def run(options: Options) -> Report:
    """Train and attack what is missing, then print ours beside theirs."""
    source = pool(options.data)
    cells = plan(options, source.name)
    finished = Finished(options.output / "dro_cells.jsonl", Measured, "cell")
    splits = {style: imbalanced(style, source, options.seed) for style in STYLES}
    for cell in options.track(cells, "models"):
        finished.make(cell.key, partial(measure, cell, splits[cell.style]))
    report = Report("dro", notes=notes(source.name, splits), files=[finished.path])
    shown = []
    for style in STYLES:
        found = [(cell, finished[cell.key].content) for cell in cells if cell.style == style]
        sizes = splits[style].n // 2, splits[style].n - splits[style].n // 2
        shown.append(findings(style, found, sizes))
        report.tables.extend((same_table(style, found, sizes), shift_table(style, found), quality_table(style, found)))
    report.files.append(write_plot([(cell, finished[cell.key].content) for cell in cells], options.output))
    report.notes[:0] = shown
    report.files.append(write_page(report, options))
    return report


def plan(options: Options, source: str) -> list[Cell]:
    """All cells, in the order of the tables."""
    seeds = options.runs or (2 if options.quick else SEEDS)
    shadows = 3 if options.quick else SHADOWS
    main = REPAIRED if options.quick else MAIN
    attacked = QUICK_EPSILONS if options.quick else EPSILONS
    cells = []
    for style in STYLES:
        for method in METHODS:
            if method in main:
                budgets = tuple(sorted({*attacked, *(() if options.quick else TABLE_3_EPSILONS)}))
            elif method == "non-private":
                budgets = attacked[-1:]
            else:
                budgets = () if options.quick else TABLE_3_EPSILONS
            for epsilon in budgets:
                used = shadows if epsilon in attacked and (method in main or method == "non-private") else 0
                cells.append(Cell(style, method, epsilon, seeds, used, options.seed, source))
    return cells


def measure(cell: Cell, split: Split) -> Measured:
    """Train, attack, and keep the numbers of each attacked model."""
    models = train_models(cell.method, cell.epsilon, cell.seeds + cell.shadows, cell.seed, split)
    content: dict[str, Any] = {
        name: [float(getattr(one, name)) for one in models.qualities[: cell.seeds]]
        for name in ("accuracy", "auc", "f1", "worst_group")
    }
    content["gradient_norm"] = list(models.gradient_norms[: cell.seeds])
    if cell.shadows:
        contrasts = [shifted(models, target) for target in range(cell.seeds)]
        content["aucs"] = attack_aucs(models, cell.seeds, cell.seed)
        content["shifted"] = [one.confidence for one in contrasts]
        content["detector"] = [one.detector for one in contrasts]
        content["groups"] = [list(group) for group in contrasts[0].groups]
    if not all(np.isfinite(values).all() for name, values in content.items() if name != "aucs"):
        raise BadInput("cell", cell.key, "gave a number that is not finite")
    return Measured(cell.key, content)
