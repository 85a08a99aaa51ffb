"""The methods that minimax_sosp compares with (Tables 1 and 2), each with what it releases. All are reconstructions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpassay.reference.papers import Cite

from .baseline_schedule import Counts, descent_ascent_counts, drift_counts, private_diff_counts, spider_counts
from .minimax_baselines import dp_sgda, private_diff
from .spider_baselines import ada_dp_spider, dp_spider, sto_spider


@dataclass(frozen=True)
class Baseline:
    """A method: ``run(problem, schedule, tape, start)``, the releases of a run, and whether it also moves y."""

    name: str
    title: str
    run: Callable[..., Any]
    counts: Counts
    minimax: bool
    cite: Cite


_TABLES = Cite("minimax_sosp", "Tables 1 and 2")
DP_SPIDER = Baseline("dp_spider", "DP-SPIDER", dp_spider, spider_counts, False, Cite("arora2023", "Algorithm 1"))
STO_SPIDER = Baseline("sto_spider", "Sto-SPIDER", sto_spider, drift_counts, False, _TABLES)
ADA_DP_SPIDER = Baseline("ada_dp_spider", "Ada-DP-SPIDER", ada_dp_spider, drift_counts, False, _TABLES)
PRIVATE_DIFF = Baseline("private_diff", "PrivateDiff", private_diff, private_diff_counts, True, _TABLES)
DP_SGDA = Baseline("dp_sgda", "DP-SGDA", dp_sgda, descent_ascent_counts, True, Cite("yang2022", "Algorithm 1"))
METHODS = (DP_SPIDER, STO_SPIDER, ADA_DP_SPIDER, PRIVATE_DIFF, DP_SGDA)
