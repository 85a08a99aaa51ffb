"""An adapter for `dpassay crosscheck run`: six algorithms written from the vectors' formulas, without dpassay."""

from __future__ import annotations

from functools import partial
from typing import Any

from . import algorithm2, double_spider, dp_ftrl, dp_sgd, dp_spider, sgda
from .arithmetic import Single, told

ALGORITHMS = {
    "baselines/dp_sgd": dp_sgd.run,
    "dp_ftrl/dp_ftrl": dp_ftrl.run,
    "output_perturbation/algorithm2": algorithm2.run,
    "dro/double_spider": double_spider.run,
    "dro/sgda": sgda.run,
    "minimax_sosp/dp_spider": dp_spider.run,
}


def run(case: dict[str, Any], tape: Any, kind: Any = float, bug: str = "") -> Any:
    if case["algorithm"] not in ALGORITHMS:
        raise NotImplementedError(case["algorithm"])
    return ALGORITHMS[case["algorithm"]](told(case, kind), tape, kind, bug)


single = partial(run, kind=Single)
