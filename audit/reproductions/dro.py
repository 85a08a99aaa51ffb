"""Reproduction of ``dro``, Section 5: membership inference done twice, and the quality of the models (Tables 2 and 3).

Table 2 of the paper attacks models trained on an imbalanced set and does not name its non-members. Here the attacks are
run on members and non-members of one distribution, beside the paper's number and the ceiling of the claim, and the
confidence attack also against a balanced test set, beside what an attacker without any model reaches there, who sees
the label only. One imbalanced pool is made in the paper's style, and every model is trained on a random half of it: the
other half is of the SAME distribution, the test set is not.

The first models of a game are attacked, each with the last ones as shadow models; no attacked model serves another, so
that given the shadow models the attacked ones are independent.

Every finished cell is written to a file at once, so an interrupted reproduction goes on where it stopped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import t as student

from dpassay.audit.attacks.game import ATTACKS, Game, auc, confidence_in
from dpassay.audit.published.assessment import ceiling_of, ceiling_under_shift, exchangeable_share, matching_p_value
from dpassay.audit.published.dro import EPSILONS, TABLE_2, TABLE_3, TABLE_3_EPSILONS, TABLE_3_NON_PRIVATE
from dpassay.reference.arrays import Array, Indices
from dpassay.reference.dro.divergences import kl
from dpassay.reference.dro.objective import DualObjective
from dpassay.reference.dro.training import BATCH, MAIN, METHODS, PHASE, REPAIRED, STEPS, Setting, train
from dpassay.reference.errors import BadInput, require
from dpassay.reference.problems import imbalanced as sets
from dpassay.reference.problems.models import ClassificationLoss, TwoLayerNetwork

from .report import Finished, Options, Report, Table, notes_of, saved

PAPER_NAMES = {"Double-SPIDER": "DP Double SPIDER", "Recursive-SPIDER": "DP Recursive SPIDER"}
HIDDEN = 16
DELTA_POWER = -1.1  # delta = n^-1.1, Section 5.1
STYLES = ("CIFAR10-ST", "MNIST-ST")
RARE = 12  # records of each rare class: 2 % of the digits would be 3, and half of them trains a model
Content = dict[str, Any]


# trained models, and the scores that an attacker sees ----------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Models:
    """Models trained on random halves of one pool.

    Args:
        game: confidences of every model on every record of the pool, and who was trained on what.
        test: confidences (models, t) on the true label of the balanced test records.
        test_labels: shape (t,).
        qualities: metrics of each model on the balanced test set.
        gradient_norms: norm of the gradient of the robust loss inf_eta L(x, eta), KL with lambda = 1, on the members.
    """

    game: Game
    test: Array
    test_labels: Indices
    qualities: tuple[sets.Quality, ...]
    gradient_norms: tuple[float, ...]


def pool(data: Path | None, largest: int = 6_000) -> tuple[str, Array, Indices]:
    """Name, features and labels of scikit-learn's digits, or of the first records of CIFAR-10 or MNIST-like files."""
    if data is None:
        return "digits", *sets.digits()
    batches = sorted(data.glob("data_batch_*.bin"))
    if batches:
        features, labels = sets.read_cifar10(batches[:1])
        return "CIFAR-10", features[:largest], labels[:largest]
    images = sorted(data.glob("train-images*"))
    require(len(images) > 0, "data", str(data), "has neither data_batch_*.bin nor train-images* files")
    features, labels = sets.read_mnist(
        images[0], images[0].with_name(images[0].name.replace("images-idx3", "labels-idx1"))
    )
    return "IDX images", features[:largest], labels[:largest]


def imbalanced(style: str, features: Array, labels: Indices, seed: int) -> sets.Split:
    """A pool in one of the paper's two styles, with a balanced test set."""
    rng = np.random.default_rng([seed, 0])
    if style == "CIFAR10-ST":
        return sets.cifar10_st(features, labels, rng, RARE)
    return sets.mnist_st(features, labels, rng)


def train_models(method: str, epsilon: float, count: int, seed: int, split: sets.Split) -> Models:
    """Train ``count`` models, each on a random half of ``split``'s training records."""
    rows, masks, tests, qualities, norms = [], [], [], [], []
    for number in range(count):
        rng = np.random.default_rng([seed, 1, number])  # the halves are those of the seed, whatever the method
        mask = np.zeros(split.n, dtype=bool)
        mask[rng.permutation(split.n)[: split.n // 2]] = True
        model = TwoLayerNetwork(split.features.shape[1], HIDDEN, split.classes)
        loss = ClassificationLoss(model, split.features[mask], split.labels[mask])
        start, tape = model.initial(rng), int(rng.integers(2**31))
        parameters = train(method, Setting(loss, epsilon, loss.n**DELTA_POWER, start, tape))
        rows.append(confidence_in(loss.probabilities(parameters, split.features), split.labels))
        masks.append(mask)
        unseen = loss.probabilities(parameters, split.test_features)
        tests.append(confidence_in(unseen, split.test_labels))
        qualities.append(sets.quality(unseen, split.test_labels))
        robust = DualObjective(loss, kl(), 1.0)
        norms.append(robust.gradient_norm(parameters, robust.best_eta(parameters)))
    confidence = np.array(rows)
    game = Game(confidence, np.array(masks), confidence, split.labels)
    return Models(game, np.array(tests), split.test_labels, tuple(qualities), tuple(norms))


def attack_aucs(models: Models, targets: int, seed: int) -> dict[str, list[float]]:
    """AUC of every attack on the first ``targets`` models; the others are the shadow models."""
    found: dict[str, list[float]] = {name: [] for name in ATTACKS}
    game = models.game
    for target in range(targets):
        keep = [target, *range(targets, len(game.member))]
        alone = Game(game.confidence[keep], game.member[keep], game.population[keep], game.labels)
        for name, attack in ATTACKS.items():
            scores = attack(alone, 0, np.random.default_rng([seed, 3, target]))
            found[name].append(auc(scores, alone.member[0]))
    return found


def shifted(models: Models, target: int) -> tuple[float, float, list[list[int]]]:
    """AUCs on one model with the balanced test set as non-members: of the confidence attack, and of the label alone.

    And the counts (members, non-members) of each class.
    """
    inside = models.game.member[target]
    mine, labels = models.game.labels[inside], np.concatenate([models.game.labels[inside], models.test_labels])
    scores = np.concatenate([models.game.confidence[target, inside], models.test[target]])
    groups = np.stack([np.bincount(one, minlength=labels.max() + 1) for one in (mine, models.test_labels)], axis=1)
    likeliest = (groups[:, 0] / groups.sum(axis=1))[labels]  # the class sizes are public knowledge in the paper
    member = np.arange(len(labels)) < len(mine)
    return auc(scores, member), auc(likeliest, member), groups.tolist()


# cells, tables and the figure ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Cell:
    """One method at one budget in one style; ``shadows`` = 0: its models are trained but not attacked."""

    style: str
    method: str
    epsilon: float
    seeds: int
    shadows: int
    seed: int
    source: str

    @property
    def key(self) -> str:
        """What identifies the cell, the settings of the training included."""
        game = f"{self.seeds}+{self.shadows} models, seed {self.seed}, T {STEPS}, q {PHASE}, batch {BATCH}"
        return f"{self.source} {self.style}: {self.method}, epsilon {self.epsilon:g}, {game}"

    @property
    def private(self) -> bool:
        """Whether there is noise in it."""
        return self.method != "non-private"

    @property
    def budget(self) -> str:
        """Epsilon as printed in tables."""
        return f"{self.epsilon:g}" if self.private else "-"


Cells = Sequence[tuple[Cell, Content]]


def mean_and_half_width(values: Sequence[float]) -> tuple[float, float]:
    """Mean and half-width of the 95 % Student interval over seeds (no number for a single seed)."""
    mean = float(np.mean(values))
    if len(values) < 2 or not np.isfinite(mean):
        return mean, float("nan")
    return mean, float(student.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))


def interval(values: Sequence[float], digits: int = 3) -> str:
    """Mean and half-width of the 95 % Student interval over seeds, as printed in tables."""
    mean, half = mean_and_half_width(values)
    return f"{mean:.{digits}f}" + ("" if np.isnan(half) else f" ± {half:.{digits}f}")


def printed_auc(cell: Cell) -> str:
    """Table 2's number, or a dash."""
    row = TABLE_2.get(PAPER_NAMES.get(cell.method.split(",")[0], "")) if cell.style == "CIFAR10-ST" else None
    return f"{row[EPSILONS.index(cell.epsilon)][0]:.4f}" if row and cell.epsilon in EPSILONS else "-"


def printed_accuracy(cell: Cell) -> str:
    """Table 3's number as a fraction, or a dash."""
    if not cell.private:
        return f"{TABLE_3_NON_PRIVATE[cell.style] / 100:.3f}" if cell.style in TABLE_3_NON_PRIVATE else "-"
    row = TABLE_3[cell.style].get(cell.method.split(",")[0])
    return f"{row[TABLE_3_EPSILONS.index(cell.epsilon)] / 100:.3f}" if row and cell.epsilon in TABLE_3_EPSILONS else "-"


def findings(style: str, found: Cells, sizes: tuple[int, int]) -> str:
    """What the tables of one style show, in one paragraph."""
    private = [(cell, content) for cell, content in found if cell.private]
    delta = sizes[0] ** DELTA_POWER
    where, content = max(private, key=lambda one: _strongest(one[1]))
    best, which = _strongest(content)
    over = [
        cell
        for cell, content in private
        if float(np.mean(content["shifted"])) > ceiling_of("auc", cell.epsilon, delta) >= _strongest(content)[0]
    ]
    text = (
        f"{style}, one distribution: the strongest attack on any of the {len(private)} private cells has mean AUC "
        f"{best:.3f} ({which} on {where.method}, epsilon {where.epsilon:g})"
    )
    for cell, content in found:
        if not cell.private:
            value, which = _strongest(content)
            label = float(np.mean(content["detector"]))
            text += f"; on the non-private model {value:.3f} ({which}). The label alone, without any model, reaches "
            text += f"{label:.3f} against the balanced non-members"
    return (
        f"{text}. In {len(over)} private cells the confidence attack against balanced non-members exceeds the ceiling"
        " of the claim while no attack does on one distribution: the excess is the shift, not a leak."
    )


def _strongest(content: Content) -> tuple[float, str]:
    return max((float(np.mean(content["aucs"][name])), name) for name in ATTACKS)


def same_table(style: str, found: Cells, sizes: tuple[int, int]) -> Table:
    """Members and non-members of one distribution: every attack, the ceiling, a sound p-value for the strongest."""
    rows = []
    for cell, content in found:
        cells = [interval(content["aucs"][name]) for name in ATTACKS]
        if not cell.private:
            rows.append((cell.method, "-", "-", *cells, "-", "-"))
            continue
        delta = sizes[0] ** DELTA_POWER
        strongest = _strongest(content)[0]
        pairs = min(sizes) * cell.seeds
        p_value = min(1.0, len(cells) * matching_p_value(strongest, 1.0 - strongest, pairs, cell.epsilon, delta))
        ceiling = f"{ceiling_of('auc', cell.epsilon, delta):.3f}"
        rows.append((cell.method, cell.budget, printed_auc(cell), *cells, ceiling, f"{p_value:.2g}"))
    title = f"{style}: attack AUC, {sizes[0]} members and {sizes[1]} non-members of one distribution"
    return Table(title, ("algorithm", "epsilon", "paper", *ATTACKS, "ceiling", "p-value"), rows)


def shift_table(style: str, found: Cells) -> Table:
    """Members of an imbalanced set: the confidence attack against a balanced test set."""
    rows = []
    for cell, content in found:
        groups = [(int(m), int(n)) for m, n in content["groups"]]
        delta = sum(m for m, _ in groups) ** DELTA_POWER
        plain = ceiling_of("auc", cell.epsilon, delta)
        rows.append({
            "algorithm": cell.method,
            "epsilon": cell.budget,
            "paper": printed_auc(cell),
            "one distribution": interval(content["aucs"]["loss threshold"]),
            "balanced non-members": interval(content["shifted"]),
            "label alone, no model": interval(content["detector"]),
            "ceiling": f"{plain:.3f}" if cell.private else "-",
            "with shift": f"{ceiling_under_shift(plain, exchangeable_share(groups)):.3f}" if cell.private else "-",
        })  # fmt: skip
    title = f"{style}: AUC of the confidence attack, and what balanced non-members add to it"
    return Table(title, tuple(rows[0]), [tuple(row.values()) for row in rows])


def quality_table(style: str, found: Cells) -> Table:
    """Metrics of Section 5.1 on the balanced test set, Table 3's accuracy beside ours."""
    rows = []
    for cell, content in found:
        if not cell.private or cell.epsilon in TABLE_3_EPSILONS:
            numbers = [interval(content[name]) for name in ("accuracy", "auc", "f1", "worst_group", "gradient_norm")]
            rows.append((cell.method, cell.budget, printed_accuracy(cell), *numbers))
    columns = ("algorithm", "epsilon", "paper", "accuracy", "ROC AUC", "F1", "worst class", "gradient norm")
    return Table(f"{style}: quality on the balanced test set", columns, rows)


def notes(source: str, splits: Mapping[str, sets.Split]) -> list[str]:
    """What was done and what should not be concluded, in full sentences."""
    counts = "; ".join(
        f"{style}: {split.n} records, of which a random half are members, and {len(split.test_labels)} balanced test"
        " records"
        for style, split in splits.items()
    )
    first, *others = notes_of("dro")
    return [first.format(source=f"{source[0].upper()}{source[1:]}", counts=counts, rare=RARE), *others]


CEILING = "largest AUC of any attack, one distribution"
COLOURS = {"Double-SPIDER": "tab:blue", "Recursive-SPIDER": "tab:orange"}


def write_plot(found: Cells, folder: Path) -> Path:
    """AUC over epsilon, one panel per style; returns the path of the PNG."""
    styles = list(dict.fromkeys(cell.style for cell, _ in found))
    figure = Figure(figsize=(10, 6), layout="constrained")
    panels = figure.subplots(1, len(styles), sharey=True, squeeze=False)[0]
    for axes, style in zip(panels, styles, strict=True):
        _panel(axes, style, [one for one in found if one[0].style == style and one[0].shadows])
    panels[0].set_ylabel("AUC of membership inference")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, loc="outside lower center", ncols=2)
    return saved(figure, folder, "dro_membership")


def _panel(axes: Axes, style: str, found: Cells) -> None:
    for family, colour in COLOURS.items():
        cells = [(cell.epsilon, content) for cell, content in found if cell.method == f"{family}, repaired"]
        epsilons = [epsilon for epsilon, _ in cells]
        best = [max(float(np.mean(values)) for values in content["aucs"].values()) for _, content in cells]
        axes.plot(epsilons, best, "o-", color=colour, label=f"{family}, repaired: strongest attack, one distribution")
        shift, halves = np.transpose([mean_and_half_width(content["shifted"]) for _, content in cells])
        label = f"{family}, repaired: confidence, balanced non-members, 95 % interval"
        axes.errorbar(epsilons, shift, halves, fmt="s--", capsize=3, elinewidth=0.8, color=colour, label=label)
        if style == "CIFAR10-ST":
            printed = [mean for mean, _ in TABLE_2[PAPER_NAMES[family]]]
            axes.plot(EPSILONS, printed, "x:", color=colour, label=f"{family}: printed in Table 2 (real CIFAR10-ST)")
    free = [content for cell, content in found if not cell.private]
    if free:
        strongest = max(float(np.mean(values)) for values in free[0]["aucs"].values())
        axes.axhline(strongest, color="gray", lw=1, label="non-private: strongest attack, one distribution")
        axes.axhline(float(np.mean(free[0]["detector"])), color="gray", lw=1, ls="--", label="label alone, no model")
    grid = np.geomspace(0.1, 10.0, 100)
    axes.plot(grid, [ceiling_of("auc", float(e), 0.0) for e in grid], color="black", label=CEILING)
    axes.set_xscale("log")
    axes.set_xticks(EPSILONS, [f"{e:g}" for e in EPSILONS])
    axes.minorticks_off()
    axes.set_xlabel("claimed epsilon")
    axes.tick_params(axis="x", labelsize=8)
    axes.set_title(style, fontsize=10)
    axes.set_ylim(0.4, 1.02)


SEEDS, SHADOWS = 5, 12  # attacked models and shadow models of a cell
QUICK_EPSILONS = (1.0, 10.0)


@dataclass(frozen=True)
class Measured:
    """The numbers of a cell."""

    key: str
    content: dict[str, Any]


def run(options: Options) -> Report:
    """Train and attack what is missing, then print ours beside theirs."""
    source, features, labels = pool(options.data)
    cells = plan(options, source)
    finished = Finished(options.output / "dro_cells.jsonl", Measured, "cell")
    splits = {style: imbalanced(style, features, labels, options.seed) for style in STYLES}
    for cell in options.track(cells, "models"):
        finished.make(cell.key, partial(measure, cell, splits[cell.style]))
    report = Report("dro", notes=notes(source, splits), files=[finished.path])
    shown = []
    for style in STYLES:
        found = [(cell, finished[cell.key].content) for cell in cells if cell.style == style]
        sizes = splits[style].n // 2, splits[style].n - splits[style].n // 2
        attacked = [one for one in found if one[0].shadows]
        shown.append(findings(style, attacked, sizes))
        tables = same_table(style, attacked, sizes), shift_table(style, attacked), quality_table(style, found)
        report.tables.extend(tables)
    report.files.append(write_plot([(cell, finished[cell.key].content) for cell in cells], options.output))
    report.notes[:0] = shown
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


def measure(cell: Cell, split: sets.Split) -> Measured:
    """Train, attack, and keep the numbers of each attacked model."""
    models = train_models(cell.method, cell.epsilon, cell.seeds + cell.shadows, cell.seed, split)
    content: dict[str, Any] = {
        name: [float(getattr(one, name)) for one in models.qualities[: cell.seeds]]
        for name in ("accuracy", "auc", "f1", "worst_group")
    }
    content["gradient_norm"] = list(models.gradient_norms[: cell.seeds])
    if cell.shadows:
        areas, of_labels, groups = zip(*(shifted(models, target) for target in range(cell.seeds)), strict=True)
        content |= {"shifted": list(areas), "detector": list(of_labels), "groups": groups[0]}
        content["aucs"] = attack_aucs(models, cell.seeds, cell.seed)
    if not all(np.isfinite(values).all() for name, values in content.items() if name != "aucs"):
        raise BadInput("cell", cell.key, "gave a number that is not finite")
    return Measured(cell.key, content)
