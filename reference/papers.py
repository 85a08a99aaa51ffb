"""Citations as records: which paper, where in it."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import require

PAPERS = {  # implemented, checked and audited here
    "minimax_sosp": "DP-RGDA: second-order stationary points of nonconvex-strongly-concave minimax problems",
    "adaptive_batch": "Adaptive batch sizes and the tree mechanism for private second-order stationary points",
    "second_order_erm": "Differentially private optimization for smooth non-convex ERM",
    "dro": "Private distributionally robust optimisation: Double-SPIDER and Recursive-SPIDER",
    "output_perturbation": "Bring your own algorithm for optimal DP stochastic minimax optimization, v1, 2022",
}
OTHERS = {  # baselines and facts are taken from them
    "abadi2016": "Abadi et al., Deep learning with differential privacy, CCS 2016",
    "bassily2014": "Bassily, Smith and Thakurta, Private empirical risk minimization, FOCS 2014",
    "bassily2019": "Bassily, Feldman, Talwar and Thakurta, Private stochastic convex optimization, NeurIPS 2019",
    "feldman2020": "Feldman, Koren and Talwar, Private stochastic convex optimization in linear time, STOC 2020",
    "arora2023": "Arora et al., Faster rates of convergence to stationary points in DP optimization, ICML 2023",
    "boob2024": "Boob and Guzman, Optimal algorithms for DP stochastic monotone variational inequalities, 2024",
    "yang2022": "Yang et al., Differentially private SGDA for minimax problems, UAI 2022",
    "wang2019": "Wang, Chen and Xu, DP empirical risk minimization with non-convex loss functions, ICML 2019",
    "wang2021": "Wang and Xu, Escaping saddle points of empirical risk privately via DP-trust region, ECML 2020",
    "dwork2014": "Dwork and Roth, The algorithmic foundations of differential privacy, 2014",
}


@dataclass(frozen=True)
class Cite:
    """A place in a paper: ``Cite("second_order_erm", "Algorithm 1")``."""

    paper: str
    place: str

    def __post_init__(self) -> None:
        known = PAPERS | OTHERS
        require(self.paper in known, "paper", self.paper, f"must be one of {', '.join(known)}")

    def __str__(self) -> str:
        return f"{self.paper}, {self.place}"
