"""Rows that a defence lawyer would attack: constants that exist, samples that round away, repairs that are wrong."""

import re
from dataclasses import replace

import pytest

from dpassay.proofs_check.check import check
from dpassay.proofs_check.claim import Assumptions, Kind, Verdict
from dpassay.proofs_check.ledger import load_rows

ROWS = {row.id: row for row in load_rows()}
NO_CONSTANT = {
    "second_order_erm/assumption2/loss_bounded": {"B": "[{0}, {0}]", "lam": "[1/1000, 1/1000]"},
    "dro/assumption2/kl": {"M": "[{0}, {0}]"},
    "dro/table1/cressie_read_smooth": {"M": "[{0}, {0}]"},
}
SAMPLED = [
    (name, claim)
    for name, row in ROWS.items()
    for claim in (row.claim, row.saving.claim)
    if claim is not None and claim.kind is Kind.PRIVACY and str(claim.formula.get("rate", "1")) != "1"
]


@pytest.mark.parametrize("name", NO_CONSTANT)
@pytest.mark.parametrize("constant", ["1/1000", "1", "300"])
def test_no_constant_bounds_it(name, constant):
    """'No constant exists' is refuted at every constant, not at one that was chosen too small."""
    domain = {symbol: text.format(constant) for symbol, text in NO_CONSTANT[name].items()}
    assert check(replace(ROWS[name].claim, assumptions=Assumptions(domain=domain))).verdict is Verdict.REFUTED


@pytest.mark.more
def test_a_pass_under_sampling_has_something_to_compare():
    """A lower bound of zero is within every claim."""
    passed = [(name, found.evidence) for name, claim in SAMPLED if (found := check(claim)).passes]
    assert len(passed) >= 3
    for name, evidence in passed:
        bound = re.search(r"true epsilon (?:at least )?(\S+) at delta", evidence)
        assert bound and float(bound[1]) > 0, (name, evidence)


WRONG_REPAIRS = {  # row: a piece of the formula that saves it, and what it must not say instead
    "second_order_erm/thmB8/amplification_step": ("4*eps0", "3*eps0"),
    "dro/lemma1/x_smoothness": ("(L + G**2", "(L/2 + G**2"),
    "dro/double_spider/C4_which_eta_move": ("2*max", "max"),
    "output_perturbation/eq27/end_of_telescope": ("m - a <=", "m - b + 1 <="),
}
WRONG_REPAIRS_SLOW = {
    "second_order_erm/thmB5/shared_batch": ("2*exp(1/sigma**2)", "exp(1/sigma**2)/2"),
    "second_order_erm/thm4/n_min_gradient": ("log(1/eta)/2", "log(1/eta)/4"),
    "dro/table1/cressie_read_every_k": ("<= k - 1", "<= (k - 1)/9"),
}


def wrong_repair_is_refuted(name, right, wrong):
    claim = ROWS[name].saving.claim
    text = claim.formula["claim"]
    assert text.count(right) == 1 and check(claim).holds
    changed = {**claim.formula, "claim": text.replace(right, wrong)}
    assert check(replace(claim, formula=changed)).verdict is Verdict.REFUTED


@pytest.mark.parametrize("name", WRONG_REPAIRS)
def test_a_wrong_repair_is_refuted(name):
    wrong_repair_is_refuted(name, *WRONG_REPAIRS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG_REPAIRS_SLOW)
def test_a_wrong_repair_is_refuted_slow(name):
    wrong_repair_is_refuted(name, *WRONG_REPAIRS_SLOW[name])
