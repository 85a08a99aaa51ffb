"""What a run may be found to do with private data: kinds with their meaning, and findings as records."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum


class Kind(Enum):
    """The value is how a person reads it.

    ``leaks``: something private reaches the outside beside the releases. ``overshoots``: what is accounted is no upper
    bound, as a query moves by more than it declares, or as law, drawer, stream or account are not what they say.
    ``bookkeeping``: a declaration is off, nothing has leaked.
    """

    CALL = "call"
    LAW = "law"
    NOISE_SCALE = "noise scale"
    BATCH_SIZE = "batch size"
    PUBLIC_VALUE = "public value"
    REVEALED_VALUE = "revealed value"
    OUTPUT = "output"
    EARLY_END = "early end"
    WRONG_BATCH = "wrong batch"
    BARE_RELEASE = "released without noise"
    SENSITIVITY_EXCEEDED = "sensitivity exceeded"
    CLAIMED_SENSITIVITY = "claimed sensitivity"
    APPARATUS = "wrong apparatus"
    OVER_BUDGET = "over budget"
    UNDERACCOUNTED = "realised above accounted"
    VIOLATED = "violated"

    @property
    def leaks(self) -> bool:
        """Something private reaches the outside beside the releases."""
        return not (self.overshoots or self.bookkeeping or self.of_the_run)

    @property
    def overshoots(self) -> bool:
        """What is accounted is no upper bound."""
        return self in (Kind.SENSITIVITY_EXCEEDED, Kind.APPARATUS)

    @property
    def bookkeeping(self) -> bool:
        """A declaration differs between neighbours; the values do not."""
        return self is Kind.CLAIMED_SENSITIVITY

    @property
    def of_the_run(self) -> bool:
        """Said of a whole run, not of one release: it has no label."""
        return self in (Kind.OVER_BUDGET, Kind.UNDERACCOUNTED, Kind.VIOLATED)


@dataclass(frozen=True)
class Finding:
    """What differed between neighbours, where.

    Args:
        step: position on the tape.
        given_secrets: shown only to an adversary who knows the secret choices of the run (batches, inner randomness).
    """

    kind: Kind
    label: str
    step: int
    detail: str
    given_secrets: bool = False

    @property
    def what(self) -> str:
        """The detail, and to whom it shows."""
        return f"{self.detail} (given the same secret choices)" if self.given_secrets else self.detail

    def __str__(self) -> str:
        return f"{self.kind.value} at {self.label!r}, step {self.step}: {self.what}"


def merge(known: list[Finding], found: Iterable[Finding]) -> None:
    """Add to ``known`` what is new: one finding for each kind and label, the first one seen.

    A finding that needs no secrets takes the place of one that does: it says more.
    """
    for finding in found:
        places = [k for k, one in enumerate(known) if (one.kind, one.label) == (finding.kind, finding.label)]
        if not places:
            known.append(finding)
        elif known[places[0]].given_secrets and not finding.given_secrets:
            known[places[0]] = finding


@dataclass(frozen=True)
class Declared:
    """A finding that a printed reading is known to show.

    ``label`` is empty for kinds of the whole run; for another kind that means: at whatever label, at one at least.
    ``always`` is False where it depends on seed and time whether a search comes to it: then it is no news if it shows,
    and not missing if it does not.
    """

    kind: Kind
    label: str = ""
    always: bool = field(default=True, compare=False)


def compare(shown: set[Declared], declared: set[Declared]) -> tuple[set[Declared], set[Declared]]:
    """What is shown but not declared, and what is declared but not shown.

    Where something declared shows, ``violated`` is no news: how surely it is realised depends on pair and chance.
    """
    anywhere = {one.kind for one in declared if not one.label}
    kinds = {one.kind for one in shown}
    showing = {one for one in declared if one in shown or (not one.label and one.kind in kinds)}
    missing = {one for one in declared - showing if one.always}
    undeclared = {one for one in shown - declared if one.kind not in anywhere}
    if showing:
        undeclared.discard(Declared(Kind.VIOLATED))
    return undeclared, missing


def declare(*findings: Kind | tuple[Kind, str], always: bool = True) -> tuple[Declared, ...]:
    """A list of :class:`Declared`: kinds of the whole run, and (kind, label) of single releases."""
    named = (one if isinstance(one, tuple) else (one, "") for one in findings)
    return tuple(Declared(kind, label, always) for kind, label in named)
