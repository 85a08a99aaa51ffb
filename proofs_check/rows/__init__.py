"""The ledger's rows, one module or more per paper; each module holds a list ``ROWS``."""

MODULES = (
    "minimax_sosp_privacy",
    "minimax_sosp_utility",
    "adaptive_batch_privacy",
    "adaptive_batch_utility",
    "second_order_erm_short_step",
    "second_order_erm_convergence",
    "second_order_erm_line_search",
    "second_order_erm_minibatch",
    "second_order_erm_tables",
    "dro_privacy",
    "dro_duality",
    "dro_double_utility",
    "dro_recursive_utility",
    "dro_tables",
    "output_perturbation_convex",
    "output_perturbation_minimax",
)
