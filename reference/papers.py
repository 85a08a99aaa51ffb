"""The papers: who wrote them, which text was read, and citations as records (which paper, where in it)."""

from dataclasses import dataclass
from pathlib import Path

from .errors import require
from .files import parse_toml, read_text


@dataclass(frozen=True)
class Paper:
    """A paper, as far as its own text says.

    Args:
        key: short name, used for folders, ids and citations.
        title: as printed.
        authors: as printed, in order; empty where the text is anonymous.
        version: which text was read (its date, or how it marks itself).
        year: of that text, where it prints one; else None.
        venue: where it appeared, and who says so.
        link: where it can be found, where the text or another of these papers prints it.
    """

    key: str
    title: str
    authors: tuple[str, ...]
    version: str
    year: int | None = None
    venue: str = ""
    link: str = ""

    @property
    def citation(self) -> str:
        """Authors, title, where it appeared, version: one line."""
        who = ", ".join(self.authors) or "Anonymous authors"
        parts = [f"{who}: {self.title}", *(part for part in (self.venue, self.link, self.version) if part)]
        return ". ".join(parts)


_TOLD = parse_toml(read_text(Path(__file__).with_suffix(".toml"), "papers"), "papers.toml")
NUMBERED: dict[str, dict[str, str | int]] = {one["key"]: one.pop("numbered") for one in _TOLD["paper"]}
PAPERS: dict[str, Paper] = {one["key"]: Paper(**one | {"authors": tuple(one["authors"])}) for one in _TOLD["paper"]}
"""The papers that are implemented, checked and audited here (of dp_ftrl its main algorithm alone)."""

OTHERS: dict[str, str] = _TOLD["others"]  # baselines and facts are taken from them


@dataclass(frozen=True)
class Cite:
    """A place in a paper.

    Args:
        paper: a key of :data:`PAPERS` or :data:`OTHERS`, or any name of your own.
        place: where in it, as the paper numbers it: ``Algorithm 1, line 4``.

    Raises:
        BadInput: the paper is empty.

    Example:
        >>> from dpassay.reference import Cite
        >>> print(Cite("second_order_erm", "Algorithm 1"))
        second_order_erm, Algorithm 1
        >>> Cite("my draft", "Theorem 2").known
        False

    Source: the table of papers, ``docs/papers.md``.
    """

    paper: str
    place: str

    def __post_init__(self) -> None:
        require(bool(self.paper.strip()), "paper", self.paper, "a citation names its paper")

    @property
    def known(self) -> bool:
        """Whether the paper is one of those listed here; everything in the catalogue and the ledger cites these."""
        return self.paper in PAPERS or self.paper in OTHERS

    def __str__(self) -> str:
        return f"{self.paper}, {self.place}"


def paper(key: str) -> Paper:
    """The paper with this key; BadInput where there is none."""
    require(key in PAPERS, "paper", key, f"must be one of {', '.join(PAPERS)}")
    return PAPERS[key]
