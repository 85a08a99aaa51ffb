"""The libraries that are examined, what is run of each, and whether what is found is accounted for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import Any

from dpassay.audit.search.searched import Searched
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.errors import BadInput

from .exact import Line
from .known import Known, run_program
from .model import Model
from .pure_loss import LOSS
from .realised import Realised, realised

RELATIONS: tuple[Relation, ...] = ("replace-one", "add-remove")


@dataclass(frozen=True)
class Library:
    """One library; its modules are imported when it is examined.

    Args:
        name: of the extra and of the distribution.
        models: ``module:function`` that gives what is searched; empty if nothing is.
        lines: ``module:function`` that gives mechanisms with their exact cost.
        known: module that holds the findings.
        relation: what the documentation says about neighbours.
        either: a model keeps its claim if it keeps it for one kind of neighbours.
        beside: distributions that its numbers depend on as well.
    """

    name: str
    models: tuple[str, ...]
    lines: tuple[str, ...]
    known: str
    relation: str
    either: bool = False
    beside: tuple[str, ...] = ()

    def version(self) -> str | None:
        """What is installed; None if it is not."""
        try:
            return version(self.name)
        except PackageNotFoundError:
            return None

    def versions(self) -> str:
        """What the numbers were computed with, in words."""
        names = ("Hypothesis", "NumPy", "SciPy", *self.beside)
        return ", ".join([f"Python {python_version()}", *(f"{name} {version(name)}" for name in names)])


LIBRARIES: Mapping[str, Library] = {
    "diffprivlib": Library(
        "diffprivlib",
        ("diffprivlib_models:models", "diffprivlib_models:tools"),
        ("diffprivlib_mechanisms:lines",),
        "diffprivlib_known",
        "The documentation states no neighbour relation. So each model is searched twice, for records that are "
        "replaced and for records that are added or removed; one of the two is enough.",
        either=True,
        beside=("scikit-learn",),
    ),
    "opendp": Library(
        "opendp",
        (),
        ("opendp:lines",),
        "opendp_known",
        "Every measurement states its input metric, its measure and a privacy map; the pairs are at distance 1 of the "
        "metric.",
    ),
    "jax-privacy": Library(
        "jax-privacy",
        ("jax_privacy:models",),
        (),
        "jax_privacy_known",
        "Sensitivities are stated for add-or-remove, replace-one and zero-out neighbours (clipped_grad), so both kinds "
        "that are searched here count. The claim is the library's own event for such a training, by the PLD "
        "accountant, at delta 1e-5; the shares are what the releases add up to over it. Double precision.",
        beside=("jax", "dp-accounting"),
    ),
    "opacus": Library(
        "opacus",
        ("opacus:models",),
        (),
        "opacus_known",
        "The claim is what the library's own RDP accountant says of such a training at delta 1e-5: of records that are "
        "added or removed, as the noise multiplier is per clipping norm. For records that are replaced nothing is "
        "claimed; they are searched all the same. A record that is added takes the place of one without a gradient; "
        "how many there may be is public, but where said otherwise. Double precision.",
        beside=("torch",),
    ),
    "dp-accounting": Library(
        "dp-accounting",
        (),
        ("dp_accounting:lines",),
        "dp_accounting_known",
        "The relation is an argument of every accountant.",
    ),
    "scikit-learn": Library(
        "scikit-learn",
        ("scikit_learn:models", "scikit_learn_stable:models"),
        (),
        "scikit_learn_known",
        "It claims nothing about privacy. The claim is that of output perturbation: Algorithm 1 of "
        "`output_perturbation` as printed, epsilon 0.9 and delta 1e-5 for records that are replaced, with an estimator "
        "as its base solver, taken at its word. The noise is for a point within L/(mu n) of the solution; it adds up "
        "to 0.65, since the paper keeps half of delta for solvers that fail. A record that is added takes the place of "
        "one without features: how many there may be is public, and it moves the solution half as far. (Were it left "
        "out of the mean, n would tell of it, and solutions could be 2L/(mu (n - 1)) apart.) Estimators have their "
        "default tolerances and no intercept where nothing else is said. Where no number of records is named it is 1 "
        "to 8: there the noise covers far larger errors than with many. *Polished* are gradient steps from the "
        "estimator's point until the distance is certified ([Bring your own solver](output_perturbation.md)). *Noise "
        "by stability* needs no certificate: the passes are fixed in number, their order is public, and the noise "
        "covers what one record can move along them (`audit/libraries/scikit_learn_stable.py`). For sag and saga no "
        "such bound is known here: they step along stored gradients, which is no contraction, and stop by a rule that "
        "reads the data. Their random states count as secret, so no sound lower bound is shown either.",
    ),
}


@dataclass(frozen=True)
class Outcome:
    """What the search of one model under one relation saw."""

    model: Model
    relation: Relation
    searched: Searched
    realised: Realised

    @property
    def kinds(self) -> list[str]:
        """Kinds of findings, bookkeeping aside."""
        return sorted({one.kind.value for one in self.searched.findings if not one.kind.bookkeeping})

    @property
    def failed(self) -> list[str]:
        """Findings in words, bookkeeping aside: each kind with what it was found at."""
        places: dict[str, list[str]] = {}
        for one in self.searched.findings:
            if not one.kind.bookkeeping:
                places.setdefault(one.kind.value, []).append("" if one.label == LOSS else _without_line(one.label))
        shown = {kind: ", ".join(sorted(set(labels) - {""})) for kind, labels in sorted(places.items())}
        return [f"{kind} ({labels})" if labels else kind for kind, labels in shown.items()]

    @property
    def share(self) -> float:
        """The largest loss over epsilon; with a delta the largest account over it."""
        if self.model.delta > 0:
            return (self.searched.accounted or 0.0) / self.model.epsilon
        return self.searched.shares.get(LOSS, 0.0)


@dataclass
class Examined:
    """Everything about one library."""

    library: Library
    version: str
    outcomes: list[Outcome] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    known: list[tuple[Known, str, bool]] = field(default_factory=list)

    def kept_by(self, name: str) -> list[Relation]:
        """Relations under which nothing was found for this model."""
        return [one.relation for one in self.outcomes if one.model.name == name and not one.failed]

    def open(self, name: str) -> bool:
        """This model was not searched under every relation."""
        return {one.relation for one in self.outcomes if one.model.name == name} != set(RELATIONS)

    def names(self) -> list[str]:
        """Searched models, in order."""
        return list(dict.fromkeys(one.model.name for one in self.outcomes))

    def unaccounted(self) -> list[str]:
        """What is found and not among the known findings, or known and not shown: nothing, if all is as recorded."""
        named = {name for known, _, _ in self.known for name in known.models}
        news = [
            f"{name}: kept for no neighbours that are searched, and no known finding says why"
            for name in self.names()
            if not self.kept_by(name) and name not in named and not (self.library.either and self.open(name))
        ]
        news += [
            f"{line.name}: {line.measure} {line.exact:.4g}, claimed {line.claimed:.4g}"
            for line in self.lines
            if not line.kept and line.name not in named
        ]
        astray = [line for line in self.lines if not line.follows]
        news += [f"{line.name}: draws do not follow its law, p = {line.p_value}" for line in astray]
        silent = [(known, printed) for known, printed, shown in self.known if not shown]
        return news + [f"{known.id}: its program does not show it: {printed}" for known, printed in silent]


def examine(
    library: Library, examples: int | None, seed: int, tell: Callable[[str], None] = lambda text: None
) -> Examined:
    """Search the models, compute the mechanisms' costs, run the programs of the findings.

    Args:
        tell: is told what goes on.

    Raises:
        BadInput: the library is not installed.
    """
    installed = library.version()
    if installed is None:
        raise BadInput("library", library.name, f'is not installed: pip install "dpassay[{library.name}]"')
    found = Examined(library, installed)
    for model in (one for name in library.models for one in _call(name)):
        for relation in model.spaces:
            tell(f"{model.name}, {relation}")
            seen = model.search(relation, seed, examples)
            found.outcomes.append(Outcome(model, relation, seen, realised(model, relation, seen, seed)))
    for name in library.lines:
        tell(name.partition(":")[0])
        found.lines += _call(name)
    known: Sequence[Known] = import_module(f".{library.known}", __package__).KNOWN
    for one in known:
        tell(one.id)
        found.known.append((one, *run_program(one)))
    return found


def _call(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(f".{module}", __package__), function)()


def _without_line(label: str) -> str:
    """``LaplaceTruncated`` of ``LaplaceTruncated of class 1 at naive_bayes.py:12``: lines differ between versions."""
    return label.partition(" at ")[0].partition(" of ")[0]
