"""The libraries that are examined, what is run of each, and whether what is found is accounted for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any

from dpassay.audit.search.witness import Searched
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.errors import BadInput
from dpassay.reference.files import parse_toml, read_text

from .exact import Line
from .known import Known, known_of, run_program
from .model import LOSS, Model
from .realised import Realised, realised

RELATIONS: tuple[Relation, ...] = ("replace-one", "add-remove")


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
        try:
            return version(self.name)
        except PackageNotFoundError:
            return None

    def versions(self) -> str:
        """What the numbers were computed with, in words."""
        names = ("Hypothesis", "NumPy", "SciPy", *self.beside)
        return ", ".join([f"Python {python_version()}", *(f"{name} {version(name)}" for name in names)])


def _described(name: str) -> Library:
    """A library as its file beside this one describes it."""
    path = Path(__file__).with_name("described") / f"{name}.toml"
    said = parse_toml(read_text(path, "libraries"), str(path))
    listed = {part: tuple(said.get(part, ())) for part in ("models", "lines", "beside")}
    known = tuple(known_of(one) for one in said.get("finding", ()))
    return Library(name, said["relation"], known, either=said.get("either", False), **listed)


LIBRARIES: Mapping[str, Library] = {
    name: _described(name)
    for name in ("diffprivlib", "opendp", "jax-privacy", "opacus", "dp-accounting", "scikit-learn")
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
    for one in library.known:
        tell(one.id)
        found.known.append((one, *run_program(one)))
    return found


def _call(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(f".{module}", __package__), function)()


def _without_line(label: str) -> str:
    """``LaplaceTruncated`` of ``LaplaceTruncated of class 1 at naive_bayes.py:12``: lines differ between versions."""
    return label.partition(" at ")[0].partition(" of ")[0]
