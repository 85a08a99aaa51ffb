"""Which rows of the proof ledger speak about the privacy claim of which case: prefixes of row ids.

The rows are about what the papers print, so repaired readings and baselines have none.
"""

from __future__ import annotations

_MINIMAX = tuple(
    f"minimax_sosp/{place}/" for place in ("def3", "alg3", "appD", "eqB2", "eq30", "eq31", "lemma5", "sec4")
)
_TREE = tuple(f"adaptive_batch/{place}/" for place in ("thm22", "alg1", "alg3", "lemma313", "lemma314", "thm317"))


def _dro(*places: str) -> tuple[str, ...]:
    return tuple(f"dro/{place}" for place in ("def1/", "def3/", "thm1/", "thm5/", *places))


def _erm(*places: str) -> tuple[str, ...]:
    return tuple(f"second_order_erm/{place}/" for place in ("eq4", "propA4", "propA6", *places))


def _output(*places: str) -> tuple[str, ...]:
    return tuple(f"output_perturbation/{place}/" for place in ("def2", *places))


_SHORT, _SEARCH = ("thm1", "eq6"), ("sd", "alg2", "alg3", "thm5", "propA5")
_SADDLE = ("lemma43", "alg3")

PROOFS: dict[str, tuple[str, ...]] = {
    "minimax_sosp/dp_rgda": _MINIMAX,
    "adaptive_batch/stochastic_spider": _TREE,
    "second_order_erm/opt": _erm(*_SHORT),
    "second_order_erm/opt_ls": _erm(*_SEARCH),
    "second_order_erm/opt_b": _erm("sec33", "thmB4", "eq28", "thmB5", "eq30", "defB1", "thmB6", "thmB7", "thmB8"),
    "second_order_erm/two_opt": _erm(*_SHORT),
    "second_order_erm/two_opt_b": _erm("sec33", "thmB5", "eq6", "thmB8"),
    "second_order_erm/two_opt_ls": _erm(*_SHORT, *_SEARCH),
    "dro/double_spider": _dro("double_spider/", "alg2/", "lemma1/", "lemma3/", "lemma4/", "lemma5/"),
    "dro/recursive_spider": _dro("recursive_spider/", "alg3/"),
    "dro/single_sample": _dro("recursive_spider/value_"),
    "output_perturbation/algorithm1": _output("lemma33", "lemma35", "alg1"),
    "output_perturbation/algorithm2": _output("lemma33", "lemma35", "alg1", "alg2"),
    "output_perturbation/algorithm3": _output(*_SADDLE),
    "output_perturbation/algorithm4": _output(*_SADDLE, "alg4"),
    "output_perturbation/algorithm5": _output(*_SADDLE, "alg4"),
    "output_perturbation/algorithms4and5": _output(*_SADDLE, "alg4", "alg45"),
    "output_perturbation/strongly_concave": _output(*_SADDLE, "cor49"),
    "dp_ftrl/dp_ftrl": ("dp_ftrl/alg1/", "dp_ftrl/appD/"),
}  # fmt: skip


def proofs_of(case_id: str, reading: str) -> tuple[str, ...]:
    """Prefixes of the ledger's rows about a case; empty for readings that are not the paper's."""
    return PROOFS.get(case_id, ()) if reading == "printed" else ()
