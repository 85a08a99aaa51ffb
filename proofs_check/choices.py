"""What the savings of a paper's rows take for granted, in the paper's common symbols: can it all be had at once?

``GIVEN`` is what the papers say of their sizes; ``CHOICES`` has the conditions and readings whose savings are products
of powers, or yes-or-no facts. :mod:`.joint` looks for a point that satisfies all of them, or for the contradiction.
Not listed: savings that speak of a single row's own symbols, or that are no formula.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """What saves one row.

    Args:
        row: its id without the paper.
        conditions: relations between products of powers, all of which are needed.
        facts: what must be so; a fact that begins with ``not`` excludes the fact without it.
    """

    row: str
    conditions: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()


GIVEN: Mapping[str, tuple[str, ...]] = {  # ell = log(1/delta), delta at most 1/55
    "minimax_sosp": ("n >= 100", "d >= 1", "epsilon <= 1", "ell >= 4", "mu <= L", "S_2 >= 1", "S_2 <= n"),
    "adaptive_batch": ("n >= 100", "d >= 1", "epsilon <= 1", "ell >= 4", "S >= 1", "alpha <= G"),
    "second_order_erm": ("n >= 100", "d >= 1", "epsilon <= 1", "ell >= 4", "s <= 1", "T >= 1"),
    "dro": ("n >= 100", "d >= 1", "epsilon <= 10", "ell >= 4", "N_1 <= n", "N_2 <= n", "N_2 >= 1", "T >= q", "q >= 1"),
    "output_perturbation": ("n >= 100", "d >= 1", "epsilon <= 1", "ell >= 4"),
    "dp_ftrl": (),
}

CHOICES: Mapping[str, tuple[Choice, ...]] = {
    "minimax_sosp": (
        Choice("alg3/refresh_counts", facts=("q divides T",)),
        Choice("lemma8/refresh_noise_rate", ("d*ell <= n**(2/3)*epsilon**2",)),
        Choice("lemma12/any_lambda", ("lam <= 1/(6*L)",)),
        Choice("lemma7/eta_H_chain", ("v <= (sqrt(d*ell)/(n*epsilon))**(4/3)",)),
        Choice("lemma10/eta_H_chain", ("v <= sqrt(d*ell)/(n*epsilon)",)),
        Choice("alg3/clipped_mean_sensitivity", ("C_v >= M",)),
        Choice("alg3/clipped_difference_sensitivity", ("C_u >= L*r",)),
        Choice("assumption1/unbounded_domain", ("r <= M/mu",)),
        Choice("appD/clipping_place", ("M <= C_v",)),
    ),
    "adaptive_batch": (
        Choice("thm22/one_leaf", ("S >= 2",)),
        Choice("alg1/levels", facts=("S is a power of two",)),
        Choice("alg1/last_prefix", facts=("not S is a power of two",)),
        Choice("alg3/halts_before_next_batch", facts=("gradient and Hessian batches are shared",)),
        Choice("lemma313/sigma_t_half", facts=("not gradient and Hessian batches are shared",)),
        Choice("thm34/norm_of_noise", ("d >= 2",)),
        Choice("lemma314/tau_below_one", ("alpha**(3/2) >= M*sqrt(rho)",)),
        Choice("lemma314/escape_noise_small_tau", ("B == 1", "G == 1", "M == 1", "rho == 1", "alpha <= 1/10")),
        Choice("lemma314/sigma_t_small_rho", ("B == 1", "G == 1", "M == 1", "rho == 1", "alpha <= 1/10")),
        Choice("lemma314/escape_bound", ("alpha*M <= rho*G", "alpha <= M")),
        Choice("eq9/threshold", ("g >= 3*gamma",)),
    ),
    "second_order_erm": (
        Choice("thm1/count_of_releases", facts=("not the run returns",)),
        Choice("alg1/output_on_every_path", facts=("the run returns",)),
        Choice("alg3/output_on_every_path", facts=("the run returns",)),
        Choice("eq6/absolute_noise", facts=("f(w_0) is the same for all data",)),
        Choice("alg3/absolute_noise", facts=("f(w_0) is the same for all data",)),
        Choice("thmB8/absolute_noise", facts=("f(w_0) is the same for all data",)),
        Choice("thmB8/epsilon0_range", ("s >= 1/10",)),
        Choice("thmB8/amplification_step", ("epsilon_0 <= 3/5",)),
        Choice("eq26/against_eq31", ("eps_H**2 == M*eps_g",)),
        Choice("eq26/rate", ("eps_H**2 == M*eps_g",)),
        Choice("lemmaD6/gaussian_norm", ("zeta <= 367/1000*T",)),
    ),
    "dro": (
        Choice("double_spider/sigma_1_order", ("N_1 >= n",)),
        Choice("double_spider/sigma_2_order", ("T*N_2**2 <= n**2",)),
        Choice("double_spider/sigma_2_accounted", ("T*N_2**2 <= n**2",)),
        Choice("double_spider/refresh_count", facts=("q divides T",)),
        Choice("thm1/any_epsilon", ("epsilon <= 1",)),
        Choice("recursive_spider/caps_crossed", ("b_2 == b_4",)),
        Choice("lemma5/constant", ("G**2 <= L",)),
        Choice("double_spider/C4_eta_constant", ("G**2 <= L",)),
        Choice("prop1/conjugate_slope", ("S_0 >= 1",)),
        Choice("prop1/small_M", ("S_0 >= 1", "M >= 1")),
        Choice("prop1/lambda", ("lam <= S_0",)),
        Choice("thm7/gamma_printed", ("(L/G)*(G**2*M/lam) <= 1",)),
        Choice("thm7/refresh_noise_rate", ("d**2*ell**2 <= n*epsilon**4",)),
        Choice("thm7/T_in_hard_regime", ("d**2*ell**2 <= n*epsilon**4",)),
        Choice("thm8/q_at_least_one", ("d*ell <= n**2*epsilon**2",)),
        Choice("thm8/b2_at_most_n", ("d*ell <= n**2*epsilon**2",)),
        Choice("thm8/value_noise", ("d**4*ell >= n**2*epsilon**2",)),
    ),
    "output_perturbation": (
        Choice("alg2/K_integer", facts=("n is a power of two",)),
        Choice("alg4/K_integer", facts=("n is a power of two",)),
        Choice("thm37/start_at_zero", facts=("the start is 0",)),
    ),
    "dp_ftrl": (),
}
