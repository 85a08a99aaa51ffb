"""The libraries that are examined, what is run of each, and whether what is found is accounted for.

Each finding comes with a few lines that show it without dpassay.

Each searched model has three numbers of epsilon: claimed, added up, realised, with what shows the last one.

A pure claim is held to the exact log ratio of the probabilities of values that came out: on the pair and the values
where the search saw the largest, that is a lower bound of epsilon, without statistics. A claim with a delta is audited
on the pair that the search found, or on one that is known to move every query by all that is declared, unless the other
is clearly worse. The likelihood of its releases is known, so the bound is sound at its confidence.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from platform import python_version
from typing import Any

from dpassay.audit.assaying.examine import examine as examine_instance
from dpassay.audit.assaying.worst import chosen
from dpassay.audit.results import AssumedEstimate, GivenSecrets
from dpassay.audit.row import Effort
from dpassay.audit.search.witness import Searched
from dpassay.reference import BadInput, LiveTape
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.case import Instance, PrivacyClaim, unscheduled
from dpassay.reference.extras import installing, version_of
from dpassay.reference.files import parse_toml, read_text

from .exact import Line
from .model import LOSS, Model

EFFORT = Effort(runs=200, pilot=100, examples=0)


@dataclass(frozen=True)
class Outcome:
    """What the search of one model under one relation saw, and epsilon of it.

    Args:
        added: what the releases add up to; for a pure claim the sum over all mechanisms of one run, each by the
            sensitivity that the library tells it. None where one of them has no known cost.
        realised: what is realised at least; None where nothing is shown.
        by: what shows it.
    """

    model: Model
    relation: Relation
    searched: Searched
    added: float | None = None
    realised: float | None = None
    by: str = ""

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
                label = one.label.partition(" at ")[0].partition(" of ")[0]  # lines differ between versions
                places.setdefault(one.kind.value, []).append("" if one.label == LOSS else label)
        shown = {kind: ", ".join(sorted(set(labels) - {""})) for kind, labels in sorted(places.items())}
        return [f"{kind} ({labels})" if labels else kind for kind, labels in shown.items()]

    @property
    def share(self) -> float:
        """The largest loss over epsilon; with a delta the largest account over it."""
        if self.model.delta > 0:
            return (self.searched.accounted or 0.0) / self.model.epsilon
        return self.searched.shares.get(LOSS, 0.0)


def outcome_of(model: Model, relation: Relation, searched: Searched, seed: int) -> Outcome:
    """A model that has been searched, with its epsilon."""
    if model.delta > 0:
        found = _audited(model, relation, searched, seed)
        if found.realised is None and model.shown:
            bound, by = model.shown(relation)
            return replace(found, realised=bound, by=by)
        return found
    share = searched.shares.get(LOSS)
    by = "loss of one outcome, exact" if share else ""
    return Outcome(model, relation, searched, _sum(searched), share * model.epsilon if share else None, by)


def _sum(searched: Searched) -> float | None:
    """Over the releases of one run on the pair that moved the furthest."""
    if searched.worst is None:
        return None
    tape = LiveTape(0)
    try:
        searched.worst.mechanism(searched.worst.pair.here, tape)
    except Exception:  # code of others, on whatever values this seed draws
        return None
    total = 0.0
    for release in tape.transcript.releases:
        cost = None if release.sensitivity is None else release.law.cost(release.sensitivity)
        if cost is None or cost.kind == "gaussian":
            return None
        total += cost.size
    return total


def _audited(model: Model, relation: Relation, searched: Searched, seed: int) -> Outcome:
    """The likelihood audit on one pair; which one is decided before any value that it sees is drawn."""
    unknown = Outcome(model, relation, searched, searched.accounted)
    if searched.worst is None:
        return unknown
    claim = PrivacyClaim(model.epsilon, model.delta, None, relation)
    effort = replace(EFFORT, seed=seed)
    worst = chosen(searched.worst, model.run, model.spaces[relation], model.pairs.get(relation, {}))
    instance = Instance(unscheduled(worst.mechanism), None, worst.pair)
    try:
        found = examine_instance(instance, claim, effort, searched)
    except BadInput:  # the pair cannot be replayed in full: the searched findings say why
        return unknown
    by = f"{found.by}, {effort.runs} runs, {effort.confidence:.0%}" if found.by == "likelihood" else found.by
    if found.realised is None:
        by = f"no sound bound: {found.bound.assumption}" if isinstance(found.bound, AssumedEstimate) else ""
        by = "no sound bound: batches or seeds are secret" if isinstance(found.bound, GivenSecrets) else by
    return replace(unknown, added=found.accounted, realised=found.realised, by=by)


RELATIONS: tuple[Relation, ...] = ("replace-one", "add-remove")
_LIMIT = 900  # seconds for one program; the longest takes half a minute on an idle machine


@dataclass(frozen=True)
class Known:
    """One finding.

    Args:
        id: short name.
        models: names of what it is about; it accounts for their findings.
        says: what does not hold, for which neighbours.
        documented: what the library's own documentation says about it.
        program: a few lines that show it; they use the library, NumPy and SciPy only.
        reads: what the printed numbers are.
        shows: is it seen in these numbers? They are all that the program prints, in order (True and False are 1, 0).
        thread: address of a thread that reports it; empty if none was found.
        varies: the library draws from a generator that takes no seed, so another run prints other numbers.
    """

    id: str
    models: tuple[str, ...]
    says: str
    documented: str
    program: str
    reads: str
    shows: Callable[[list[float]], bool]
    thread: str = ""
    varies: bool = False


_OF_SOLVERS = ("default-tolerance", "intercept", "balanced-weights", "stochastic-rate")  # too far from the solution
SHOWS: Mapping[str, Callable[[list[float]], bool]] = {
    "linear-regression-square": lambda seen: seen[0] == seen[1],
    "linear-regression-budget": lambda seen: seen[0] > 1.4,
    "linear-regression-bounds": lambda seen: seen[1] > 1e9 > seen[0],
    "k-means-labels": lambda seen: seen[0] == 1 and abs(seen[1]) < 1e-9,
    "k-means-empty": lambda seen: seen[1] > 1.5 * seen[0] > 0 and seen[2] > 1.5 * seen[0],
    "gaussian-nb-sums": lambda seen: seen[0] > 0.03 and seen[1] < 0.002,
    "classes-from-data": lambda seen: seen == [0, 1, 0, 1, 7, 0, 1, 0, 1, 7],
    "logistic-regression-norm": lambda seen: seen[0] > 3 * seen[1] > 0,
    "forest-order": lambda seen: seen[0] > 0.9 and seen[1] < 0.02,
    "nan-tools": lambda seen: seen[0] < 0.4 < 0.6 < seen[1],
    **dict.fromkeys(("bingham-sampler", "eigenvector-sampler"), lambda seen: abs(seen[0] - seen[1]) > 0.1),
    "threshold-at-equality": lambda seen: seen[1] > 2 * seen[0],
    **dict.fromkeys(("number-of-records", "adaptive-clipping"), lambda seen: seen[0] > 1.6 * seen[1]),
    "batches-in-order": lambda seen: seen[1] > 1.5 * seen[3],
    "adaptive-clipping-sampled": lambda seen: seen[0] > 1.6 * seen[1] and seen[2] == seen[3] > 0,
    "ghost-column": lambda seen: seen[0] <= 2 < 100 < seen[1],
    "replace-one-multiplier": lambda seen: seen[1] > 1.5 * seen[0],
    **dict.fromkeys(_OF_SOLVERS, lambda seen: abs(seen[1] - seen[0]) > 2 * seen[2]),
    "refused-data": lambda seen: seen == [1, 0, 1, 0],
}


def run_program(known: Known) -> tuple[str, bool]:
    """What the program prints, run by itself, and whether it shows the finding.

    It sees neither this package nor its folder: only what is installed.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        try:
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", known.program],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=_LIMIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"no end after {_LIMIT} seconds", False
    printed = done.stdout.strip()
    if done.returncode:
        return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no output", False
    try:
        return printed, bool(known.shows(numbers(printed)))
    except IndexError:
        return printed, False


def numbers(text: str) -> list[float]:
    """All numbers in what a program printed; True and False are 1 and 0."""
    found = []
    for word in text.replace("[", " ").replace("]", " ").replace(",", " ").split():
        try:
            found.append({"True": 1.0, "False": 0.0}[word] if word in ("True", "False") else float(word))
        except ValueError:
            continue
    return found


# -- a library ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Library:
    """One library; its modules are imported when it is examined.

    Args:
        name: of the extra and of the distribution.
        relation: what the documentation says about neighbours.
        known: the findings.
        models: ``module:function`` that gives what is searched; empty if nothing is.
        lines: ``module:function`` that gives mechanisms with their exact cost.
        either: a model keeps its claim if it keeps it for one kind of neighbours.
        beside: distributions that its numbers depend on as well.
    """

    name: str
    relation: str
    known: tuple[Known, ...] = ()
    models: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    either: bool = False
    beside: tuple[str, ...] = ()

    def version(self) -> str | None:
        """What is installed; None if it is not."""
        return version_of(self.name)

    def versions(self) -> str:
        """What the numbers were computed with, in words."""
        names = ("Hypothesis", "NumPy", "SciPy", *self.beside)
        return ", ".join([f"Python {python_version()}", *(f"{name} {version_of(name)}" for name in names)])


def _described(name: str) -> Library:
    """A library as its file beside this one describes it."""
    path = Path(__file__).with_name("described") / f"{name}.toml"
    said = parse_toml(read_text(path, "libraries"), str(path))
    listed = {part: tuple(said.get(part, ())) for part in ("models", "lines", "beside")}
    found = said.get("finding", ())
    known = tuple(Known(**{**one, "models": tuple(one["models"])}, shows=SHOWS[one["id"]]) for one in found)
    return Library(name, said["relation"], known, either=said.get("either", False), **listed)


LIBRARIES: Mapping[str, Library] = {
    name: _described(name)
    for name in ("diffprivlib", "opendp", "jax-privacy", "opacus", "dp-accounting", "scikit-learn")
}


@dataclass
class Examined:
    """Everything about one library."""

    library: Library
    version: str
    outcomes: list[Outcome] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    known: list[tuple[Known, str, bool]] = field(default_factory=list)

    @property
    def models(self) -> dict[str, dict[Relation, Outcome]]:
        """What was seen of each searched model, in order, by relation."""
        found: dict[str, dict[Relation, Outcome]] = {}
        for one in self.outcomes:
            found.setdefault(one.model.name, {})[one.relation] = one
        return found

    def unaccounted(self) -> list[str]:
        """What is found and not among the known findings, or known and not shown: nothing, if all is as recorded."""
        named = {name for known, _, _ in self.known for name in known.models}
        news = []
        for name, seen in self.models.items():
            may_keep = self.library.either and len(seen) < len(RELATIONS)  # for neighbours that were not searched
            if all(one.failed for one in seen.values()) and name not in named and not may_keep:
                news.append(f"{name}: kept for no neighbours that are searched, and no known finding says why")
        for line in self.lines:
            if not line.kept and line.name not in named:
                news.append(f"{line.name}: {line.measure} {line.exact:.4g}, claimed {line.claimed:.4g}")
        news += [f"{one.name}: draws do not follow its law, p = {one.p_value}" for one in self.lines if not one.follows]
        silent = [(known, printed) for known, printed, shown in self.known if not shown]
        return news + [f"{known.id}: its program does not show it: {printed}" for known, printed in silent]


def examine(
    library: Library, examples: int | None, seed: int, tell: Callable[[str], None] = lambda text: None
) -> Examined:
    """Search the models, compute the mechanisms' costs, run the findings' programs; ``tell`` is told what goes on."""
    installed = library.version()
    if installed is None:
        raise BadInput("library", library.name, f"is not installed: {installing(library.name)}")
    found = Examined(library, installed)
    for model in (one for name in library.models for one in _call(name)):
        for relation in model.spaces:
            tell(f"{model.name}, {relation}")
            seen = model.search(relation, seed, examples)
            found.outcomes.append(outcome_of(model, relation, seen, seed))
    for name in library.lines:
        tell(name.partition(":")[0])
        found.lines += _call(name)
    for one in library.known:
        tell(one.id)
        found.known.append((one, *run_program(one)))
    return found


def _call(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(f".{module}", __package__), function)()
