"""adaptive_batch: tree noise, Lemma 3.14's noise and sizes, and the oracle count of Lemma 3.15."""

from collections import Counter

from dpassay.proofs_check.ties import Numbers, tied, up
from dpassay.reference.adaptive_batch.stochastic_spider import printed
from dpassay.reference.adaptive_batch.theorems import Constants, Sizes, oracle_count, sizes
from dpassay.reference.adaptive_batch.tree import printed_nodes, tree_theorem_std

TREE = ({"Sigma": 99, "s": 0.3, "epsilon": 0.9, "delta": 1e-5}, {"Sigma": 60, "s": 2.5, "epsilon": 0.2, "delta": 1e-6})
SIZES = (
    {"n": 1_000_000, "d": 10, "epsilon": 0.8, "delta": 1e-5, "G": 1.6, "M": 0.9, "rho": 1.2, "B": 3.1, "alpha": 0.6,
     "kappa": 1.5, "batch": 1100, "g": 2.1},
    {"n": 50_000, "d": 2, "epsilon": 0.5, "delta": 1e-6, "G": 2.4, "M": 0.2, "rho": 0.7, "B": 4.6, "alpha": 0.3,
     "kappa": 1.7, "batch": 900, "g": 0.005},
)  # fmt: skip


def _constants(p: Numbers) -> Constants:
    return Constants(int(p["n"]), int(p["d"]), *(p[name] for name in ("epsilon", "delta", "G", "M", "rho", "B")))


def _sizes(p: Numbers) -> Sizes:
    return sizes(_constants(p), p["alpha"])


def _std(p: Numbers, source: str, label: str) -> float:
    return printed(_constants(p), source, alpha=p["alpha"], check_data=False).noise.std(label, 1.0)


RUN = tuple({**p, "kappa": _sizes(p).drift_limit} for p in (*SIZES, {**SIZES[1], "g": 3.5}))
TIES = (
    *tied("adaptive_batch.tree.tree_theorem_std", TREE,
          ("Theorem 2.2", "4*s*sqrt(log(Sigma)*log(1/delta))/epsilon",
           lambda p: tree_theorem_std(p["s"], int(p["Sigma"]), p["epsilon"], p["delta"]))),
    *tied("adaptive_batch.stochastic_spider.printed", RUN,
          ("Lemma 3.14, sigma_tree", "2*log(1/delta)*alpha/sqrt(d)", lambda p: _std(p, "Lemma 3.14", "tree")),
          ("Lemma 3.14, sigma_t", "2*log(1/delta)*alpha/sqrt(d)", lambda p: _std(p, "Lemma 3.14", "escape")),
          ("Theorem 3.17, sigma_tree", "alpha/sqrt(d)", lambda p: _std(p, "Theorem 3.17", "tree")),
          ("Theorem 3.17, sigma_t", "alpha/sqrt(d)", lambda p: _std(p, "Theorem 3.17", "escape"))),
    *tied("adaptive_batch.theorems.sizes", RUN,
          ("Section 3.2", "1/M", lambda p: _sizes(p).step_size),
          ("Lemma 3.14", "alpha**(3/2)/(M*sqrt(rho))", lambda p: _sizes(p).escape_limit),
          ("Lemma 3.14", "G*sqrt(d)/(epsilon*alpha) + G**2/alpha**2 + M*sqrt(d)/(rho*epsilon) + M**2/(rho*alpha)",
           lambda p: _sizes(p).batch, up),
          # b_t without its first term, which is at most the second: kappa is at least alpha sqrt(d)/epsilon
          ("Lemma 3.14", "max(kappa*g/alpha**2, rho*kappa*g/(M**2*alpha), 1)",
           lambda p: max(_sizes(p).batch_slope * p["g"], 1)),
          ("Lemma 3.16", "max(alpha*sqrt(d)/epsilon, (B*G*M)**(1/3))", lambda p: _sizes(p).drift_limit)),
    *tied("adaptive_batch.theorems.Constants.accuracy", SIZES,
          ("Theorem 3.17", "((B*G*M)**(1/3) + sqrt(B*M))*(sqrt(d)/(n*epsilon))**(1/2)"
           " + (B**(2/9)*M**(2/9)*G**(5/9) + B**(4/9)*M**(4/9)*G**(1/9))/n**(1/3) + (M*B)**(1/2)/sqrt(n)"
           " + sqrt(B*M**2)/(rho*sqrt(n)) + B**(1/3)*M**(4/3)/(G**(1/6)*sqrt(rho*n))"
           " + B**(2/3)*G**(1/6)*sqrt(rho)/(M**(1/3)*sqrt(n)) + B*rho*sqrt(d)/(M*n*epsilon)",
           lambda p: _constants(p).accuracy())),
    *tied("adaptive_batch.theorems.oracle_count", SIZES,
          ("Lemma 3.15", "batch*B*M/(kappa*alpha)"
           " + B*M*(sqrt(d)/(alpha**2*epsilon) + kappa/alpha**3 + rho*kappa/(M**2*alpha**2) + 1/alpha**2)",
           lambda p: oracle_count(_constants(p), p["alpha"], p["kappa"], p["batch"]))),
)  # fmt: skip


def _tree(S: int) -> Counter[str]:
    """Nodes that the fullest leaf belongs to, among all that the prefixes 1..S use."""
    used = {node for t in range(1, S + 1) for node in printed_nodes(t, S)}
    return Counter(node=max(sum(a <= leaf <= b for a, b in used) for leaf in range(1, S + 1)))


COUNTS = {"tree": _tree}
