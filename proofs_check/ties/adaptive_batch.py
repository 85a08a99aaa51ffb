"""adaptive_batch: tree noise, Lemma 3.14's noise and sizes, and the oracle count of Lemma 3.15."""

from collections import Counter
from math import exp

from dpassay.proofs_check.ties import Numbers, tied, up
from dpassay.reference.adaptive_batch.stochastic_spider import Schedule, printed
from dpassay.reference.adaptive_batch.theorems import Constants, oracle_count
from dpassay.reference.adaptive_batch.tree import printed_nodes, tree_theorem_std

TREE = ({"S": 1024, "s": 0.3, "epsilon": 1.0, "delta": 1e-5}, {"S": 60, "s": 2.0, "epsilon": 0.2, "delta": 1e-6})
NOISE = ({"alpha": 0.4, "d": 10, "epsilon": 0.8, "ell": 11.0}, {"alpha": 0.2, "d": 3, "epsilon": 0.5, "ell": 13.0})
COUNT = (
    {"d": 10, "a": 0.4, "epsilon": 0.8, "kappa": 1.5, "rho": 0.7, "M": 2.0, "B": 3.0},
    {"d": 2, "a": 0.1, "epsilon": 0.3, "kappa": 0.9, "rho": 1.7, "M": 0.5, "B": 1.0},
)
SIZES = ({"n": 1_000_000, "d": 10, "epsilon": 0.8}, {"n": 20_000, "d": 2, "epsilon": 0.5})
ALPHA = "(sqrt(sqrt(d)/(n*epsilon)) + n**(-1/3))"
TAU = ({"alpha": 0.4, "M": 0.9, "rho": 1.2, "tau": 1.0}, {"alpha": 0.3, "M": 0.5, "rho": 1.7, "tau": 1.0})


def _schedule(p: Numbers, source: str) -> Schedule:
    delta = exp(-p["ell"]) if "ell" in p else 1e-5
    c = Constants(
        10**9, int(p.get("d", 4)), p.get("epsilon", 0.9), delta, 1.0, p.get("M", 1.0), p.get("rho", 1.0)
    )  # fmt: skip
    return printed(c, source, alpha=p["alpha"], check_data=False)


def _tree_std(p: Numbers, source: str) -> float:
    return _schedule(p, source).noise.std("tree", 1.0)


def _batch(p: Numbers) -> float:
    alpha = (p["d"] ** 0.5 / (p["n"] * p["epsilon"])) ** 0.5 + p["n"] ** (-1 / 3)
    return float(_schedule({**p, "alpha": alpha}, "Lemma 3.14").batch)


def _oracles(p: Numbers) -> float:
    constants = Constants(10, int(p["d"]), p["epsilon"], 1e-5, 1.0, p["M"], p["rho"], p["B"])
    return oracle_count(constants, p["a"], p["kappa"], 0.0)


TIES = (
    *tied("adaptive_batch.tree.tree_theorem_std", TREE,
          ("Theorem 2.2", "4*s*sqrt(log(S)*log(1/delta))/epsilon",
           lambda p: tree_theorem_std(p["s"], int(p["S"]), p["epsilon"], p["delta"]))),
    *tied("adaptive_batch.stochastic_spider.printed", tuple({**p, "delta": exp(-p["ell"])} for p in NOISE),
          ("Lemma 3.14 against Theorem 3.17", "2*log(1/delta)*alpha/sqrt(d)", lambda p: _tree_std(p, "Lemma 3.14"))),
    *tied("adaptive_batch.stochastic_spider.printed", NOISE,
          ("Lemma 3.14 against Theorem 3.17", "alpha/sqrt(d)", lambda p: _tree_std(p, "Theorem 3.17"))),
    *tied("adaptive_batch.stochastic_spider.printed", TAU,
          ("Lemma 3.14", "alpha ** (3 / 2) / (M * sqrt(rho))", lambda p: _schedule(p, "Lemma 3.14").escape_limit)),
    *tied("adaptive_batch.stochastic_spider.printed", SIZES,
          ("Theorem 3.17", f"sqrt(d)/(epsilon*{ALPHA}) + 1/{ALPHA}**2 + sqrt(d)/epsilon + 1/{ALPHA}", _batch, up)),
    *tied("adaptive_batch.theorems.oracle_count", COUNT,
          ("Lemma 3.15", "B*M*(sqrt(d)/(a**2*epsilon) + kappa/a**3 + rho*kappa/(M**2*a**2) + 1/a**2)", _oracles)),
)  # fmt: skip


def _tree(S: int) -> Counter[str]:
    """Nodes that the fullest leaf belongs to, among all that the prefixes 1..S use."""
    used = {node for t in range(1, S + 1) for node in printed_nodes(t, S)}
    return Counter(node=max(sum(a <= leaf <= b for a, b in used) for leaf in range(1, S + 1)))


COUNTS = {"tree": _tree}
