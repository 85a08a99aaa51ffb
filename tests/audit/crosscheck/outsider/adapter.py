"""dpassay crosscheck run outsider.adapter:run --algorithm ID"""

import importlib

from outsider.tools import plain

MODULES = {
    "baselines/dp_sgd": "dp_sgd",
    "dp_ftrl/dp_ftrl": "dp_ftrl",
    "second_order_erm/opt": "opt",
    "second_order_erm/opt_ls": "opt_ls",
    "minimax_sosp/dp_rgda": "dp_rgda",
    "minimax_sosp/dp_spider": "dp_spider",
    "dro/recursive_spider": "recursive_spider",
    "dro/double_spider": "double_spider",
    "dro/sgda": "sgda",
    "output_perturbation/algorithm2": "phased",
    "adaptive_batch/stochastic_spider": "stochastic_spider",
}


def run(case, tape):
    name = MODULES.get(case["algorithm"])
    if name is None:
        raise NotImplementedError(case["algorithm"])
    return importlib.import_module("outsider." + name).run(plain(case), tape)
