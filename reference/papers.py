"""The papers: who wrote them, which text was read, and citations as records (which paper, where in it)."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import BadInput, require


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


_IMPLEMENTED = (
    Paper(
        key="minimax_sosp",
        title="Finding Differentially Private Second Order Stationary Points in Stochastic Minimax Optimization",
        authors=("Difei Xu", "Youming Tao", "Meng Ding", "Chenglin Fan", "Di Wang"),
        version="undated text in ICML style",
    ),
    Paper(
        key="adaptive_batch",
        title="Adaptive Batch Size for Privately Finding Second-Order Stationary Points",
        authors=("Daogao Liu", "Kunal Talwar"),
        version="undated text; cites work of 2025, so it is later than the first version (2024)",
        link="arXiv:2410.07502 (as cited in minimax_sosp)",
    ),
    Paper(
        key="second_order_erm",
        title="Differentially Private Optimization for Smooth Non-convex ERM",
        authors=(),
        version="anonymous text under double-blind review, undated",
        link="adaptive_batch cites a paper of this title by Changyu Gao and Stephen J. Wright: arXiv:2302.04972",
    ),
    Paper(
        key="dro",
        title="Differentially Private Non-convex Distributionally Robust Optimization",
        authors=(
            "Difei Xu",
            "Meng Ding",
            "Zebin Ma",
            "Huanyi Xie",
            "Youming Tao",
            "Aicha Slaitane",
            "Di Wang",
        ),
        version="undated text",
    ),
    Paper(
        key="output_perturbation",
        title="Bring Your Own Algorithm for Optimal Differentially Private Stochastic Minimax Optimization",
        authors=("Liang Zhang", "Kiran Koshy Thekumparampil", "Sewoong Oh", "Niao He"),
        version="text of June 2, 2022",
        year=2022,
        venue="NeurIPS 35, pp. 35174-35187 (as cited in minimax_sosp)",
    ),
    Paper(
        key="dp_ftrl",
        title="Practical and Private (Deep) Learning without Sampling or Shuffling",
        authors=(
            "Peter Kairouz",
            "Brendan McMahan",
            "Shuang Song",
            "Om Thakkar",
            "Abhradeep Thakurta",
            "Zheng Xu",
        ),
        version="2021; Algorithm 1 and the accounting of Appendix D alone",
        year=2021,
        venue="ICML 2021, PMLR 139, pp. 5213-5225",
        link="arXiv:2103.00039",
    ),
)
PAPERS: dict[str, Paper] = {paper.key: paper for paper in _IMPLEMENTED}
"""The papers that are implemented, checked and audited here (of dp_ftrl its main algorithm alone)."""

OTHERS: dict[str, str] = {  # baselines and facts are taken from them
    "abadi2016": "Abadi et al., Deep learning with differential privacy, CCS 2016",
    "bassily2014": "Bassily, Smith and Thakurta, Private empirical risk minimization: efficient algorithms and tight "
    "error bounds, FOCS 2014",
    "bassily2019": "Bassily, Feldman, Talwar and Thakurta, Private stochastic convex optimization with optimal rates, "
    "NeurIPS 2019",
    "arora2023": "Arora et al., Faster rates of convergence to stationary points in differentially private "
    "optimization, ICML 2023",
    "yang2022": "Yang et al., Differentially private SGDA for minimax problems, UAI 2022",
    "wang2019": "Wang, Chen and Xu, Differentially private empirical risk minimization with non-convex loss "
    "functions, ICML 2019",
    "wang2021": "Wang and Xu, Escaping saddle points of empirical risk privately and scalably via DP-trust region "
    "method, Machine Learning and Knowledge Discovery in Databases, 2021",
    "dwork2014": "Dwork and Roth, The algorithmic foundations of differential privacy, 2014",
}


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
    """The paper with this key.

    Raises:
        BadInput: there is none.
    """
    if key not in PAPERS:
        raise BadInput("paper", key, f"must be one of {', '.join(PAPERS)}")
    return PAPERS[key]
