"""One line of the audit table as data, and how hard the audit looked for it."""

from dataclasses import asdict, dataclass, field
from typing import Any

from dpassay.reference.errors import require
from dpassay.reference.findings import Finding

from .exit_codes import FAILED, FINE, INCONCLUSIVE
from .plain import number, plain, rounded
from .verdict import Verdict, over_budget

_COMPUTED = ("accounted", "realised", "movements", "power", "facts", "shares", "curves", "releases", "upper_limit",
             "certified")  # fmt: skip
NOT_RUN = "not run"  # what realises nothing


@dataclass(frozen=True)
class Effort:
    """How hard to look.

    Args:
        runs: runs of the likelihood audit whose losses count.
        pilot: runs for choosing its tilt, thrown away.
        confidence: of each lower bound, in (0, 1).
        seed: same seed, same result.
        examples: of the search over data, sizes and released values; 0: no search.

    Raises:
        Nothing: what an audit cannot use, it refuses.

    Example:
        >>> from dpassay.audit import Effort
        >>> Effort(runs=200).confidence
        0.95

    Source: ``docs/auditor.md``.
    """

    runs: int = 1000
    pilot: int = 400
    confidence: float = 0.95
    seed: int = 0
    examples: int = 150

    def check(self, prefix: str = "") -> None:
        """Refuse what no audit can use: the first number out of range, named with a prefix (``--`` of options)."""
        require(0 < self.confidence < 1, f"{prefix}confidence", self.confidence, "must lie in (0, 1)")
        for name, least, digits in (("runs", 10, 9), ("pilot", 50, 9), ("seed", 0, 19), ("examples", 0, 6)):
            value = getattr(self, name)
            good = isinstance(value, int) and least <= value <= 10**digits
            require(good, f"{prefix}{name}", value, f"must lie in {least}..1e{digits}")

    @property
    def full(self) -> bool:
        """Enough for every declared finding to show."""
        enough = self.runs >= Effort.runs and self.pilot >= Effort.pilot
        return enough and self.examples >= Effort.examples


@dataclass(frozen=True)
class Row:
    """One line of the table; every number an audit reports, with where it came from. ``None``: not available."""

    algorithm: str
    variant: str
    reading: str
    data: str
    claimed: float
    delta: float
    relation: str
    accounted: float
    accounting: str
    upper_bound: bool  # False: something leaks or overshoots, so that `accounted` bounds nothing
    realised: float | None
    realised_by: str
    verdict: str
    why: str
    expected: bool
    undeclared: list[str]  # found, but not declared by the case
    missing: list[str]  # declared by the case, but not found
    findings: list[Finding]
    movements: dict[str, float]
    power: float | None
    runs: int
    pilot: int
    confidence: float
    seed: int
    seconds: float
    code: str  # content hash of the source that the case uses
    facts: dict[str, float | int | str]
    examples: int = 0  # of the search
    shares: dict[str, float] = field(default_factory=dict)  # by label the largest movement that the search found
    coverage: dict[str, int] = field(default_factory=dict)  # lines and branches of the algorithm's own source
    missed: list[str] = field(default_factory=list)  # releases and decisions that were never reached
    raised: list[str] = field(default_factory=list)  # by the algorithm, on data that its claim covers
    witnesses: list[dict[str, Any]] = field(default_factory=list)  # the smallest example of each finding
    curves: dict[str, list[float]] = field(default_factory=dict)  # delta(epsilon): see ``likelihood/curve.py``
    explained: dict[str, str] = field(default_factory=dict)  # what was missed for a reason that the case gives
    attainable: dict[str, str] = field(default_factory=dict)  # by label how far its query can move at most, and why
    unreached: list[str] = field(default_factory=list)  # every line of the algorithm's own source that was not reached
    versions: dict[str, str] = field(default_factory=dict)  # of the package and of what it rests on
    proved: str = ""  # what the ledger says of the statements behind the claim
    releases: list[dict[str, Any]] = field(default_factory=list)  # one a label in order of first use, `releases.py`
    sequence: str = ""  # hash of the sequence of labels and laws
    places: list[dict[str, Any]] = field(default_factory=list)  # of findings: finding, file, line, `places.py`
    upper_limit: float | None = None  # what the likelihood audit does not speak against: an estimate, decides nothing
    stopped: int = 0  # the likelihood audit saw enough after so many runs; 0: it made all of them, or none
    pair: dict[str, Any] = field(default_factory=dict)  # rows, there, target, sizes of what was audited after a search
    claim: str = ""  # name in a claims file
    owner: str = ""  # of the claim
    severity: str = ""  # of the claim: error or warning
    cite: str = ""  # where the claim is stated, in the user's words
    cached: bool = False  # kept from an earlier run of the same code, data and parameters
    changes: list[str] = field(default_factory=list)  # what is worse than in the lock file
    required: str = ""  # the verdict without which the row fails, whatever was found
    as_read: str = ""  # plain NumPy code: the reading that was judged; empty where the outputs speak for themselves

    certified: float | None = None  # no two neighbours can show more; infinite: unbounded; None: no certificate
    certificate: list[str] = field(default_factory=list)  # why it is open or what it takes for granted; the derivation
    source: dict[str, str] = field(default_factory=dict)  # the lines of source that the derivation names

    @property
    def key(self) -> str:
        """The name of the claim, or the case's key."""
        return self.claim or f"{self.algorithm}{':' + self.variant if self.variant else ''}@{self.reading}"

    @property
    def certified_shown(self) -> str:
        """The certificate; ``open`` where one was tried that came to no end, empty where none was tried."""
        return self.shown(self.certified) if self.certified is not None else "open" if self.certificate else ""

    def shown(self, value: float | None) -> str:
        """An epsilon; one beyond the claim with as many digits as show that."""
        return number(value, self.claimed if over_budget(value, self.claimed) else None)

    @property
    def verdict_shown(self) -> str:
        """The verdict; of plain NumPy code a failed one is about a reading, and says so."""
        return f"{self.verdict}, as read" if self.as_read and Verdict(self.verdict).failed else self.verdict

    @property
    def lacks_required(self) -> bool:
        """A verdict was required, and it is another one."""
        return self.required not in ("", self.verdict)

    @property
    def effort(self) -> Effort:
        """What it was made with."""
        return Effort(self.runs, self.pilot, self.confidence, self.seed, self.examples)

    def exit_code(self, strict: bool = False) -> int:
        """0 where the row is as it should be, declared findings of a printed reading included (not if ``strict``).

        So is a claim whose severity is a warning, whatever is found. A declared finding that does not show is 1; with
        less than the default effort it may need more runs: 3. Without the verdict that is required it is 1.
        """
        verdict = Verdict(self.verdict)
        if self.lacks_required:
            return FAILED
        if self.severity == "warning":
            return FINE
        if self.changes or self.undeclared or (self.missing and self.effort.full):
            return FAILED
        if self.missing:
            return INCONCLUSIVE
        return FINE if verdict.failed and not strict else verdict.exit_code

    def as_dict(self) -> dict[str, object]:
        """Plain data; infinities become the string "infinity" (JSON has none).

        What is computed has twelve digits: the last ones depend on threads and on who else works on the machine.
        """
        found: dict[str, object] = plain(asdict(self))
        return {**found, **{name: rounded(found[name]) for name in _COMPUTED}}
