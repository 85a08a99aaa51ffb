"""Opacus' clipping and noise in a training loop on the tape.

Runs where it is installed: ``pip install "dpassay[audit,opacus]"``.
"""

import numpy as np
import pytest

pytest.importorskip("opacus", reason="opacus is not installed")

from dpassay.audit.libraries import opacus as adapter
from dpassay.audit.libraries.library import realised
from dpassay.reference.findings import Kind
from dpassay.reference.tape import LiveTape

ROWS = np.array([[0.5, 1.0, 1.0], [2.0, -1.0, 0.0], [0.1, 0.2, 0.3], [1.0, 1.0, -1.0]])


def model(words):
    return next(one for one in adapter.models() if one.name == f"make_private, {words}")


@pytest.mark.parametrize(
    "words",
    ["full batches", "full batches, clipped by layer", "full batches, ghost clipping", "Poisson batches"],
)
def test_the_releases_keep_what_the_library_claims(words):
    """Its accountant is an upper bound of ours, and not far above; one record moves the sum by what is claimed."""
    found = model(words).search("add-remove", examples=10)
    assert not found.findings
    assert 0.85 * model(words).epsilon < found.accounted < model(words).epsilon
    assert found.shares["DPOptimizer"] == pytest.approx(1.0, abs=1e-3)


def test_what_is_realised_lies_below_what_is_claimed():
    one = model("full batches")
    found = realised(one, "add-remove", one.search("add-remove", examples=10), 0)
    assert found.by.startswith("likelihood") and 0.7 * found.added < found.epsilon <= found.added < found.claimed


def test_the_number_of_records_is_seen_in_a_mean():
    kinds = {
        one.kind for one in model("full batches, number of records not public, mean").search("add-remove").findings
    }
    assert Kind.REVEALED_VALUE in kinds
    assert not model("full batches, number of records not public, sum").search("add-remove").findings


def test_clipping_that_does_nothing_is_found(monkeypatch):
    """A twin of the optimizer: the sum of the gradients as they are."""
    import torch
    from opacus.optimizers.optimizer import DPOptimizer

    def unclipped(self):
        for p in self.params:
            p.summed_grad = torch.sum(self._get_flat_grad_sample(p), dim=0)

    adapter.PATCHES.apply()
    monkeypatch.setattr(DPOptimizer, "clip_and_accumulate", unclipped)
    found = model("full batches").search("add-remove", examples=20)
    assert Kind.SENSITIVITY_EXCEEDED in {one.kind for one in found.findings}


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("full batches, ghost clipping, losses of shape (n, 1)", Kind.SENSITIVITY_EXCEEDED),
        (f"one pass over {adapter.PASS} records in order, without Poisson sampling", Kind.OVER_BUDGET),
        ("full batches, number of records not public, sum, adaptive clipping", Kind.NOISE_SCALE),
    ],
)
def test_what_breaks_the_claim_is_found(words, kind):
    assert kind in {one.kind for one in model(words).search("add-remove", examples=20).findings}


def test_steps_that_are_released_and_drawn():
    tape = LiveTape(0)
    model("Poisson batches").run(ROWS, tape)
    assert [one.label for one in tape.transcript.releases] == ["DPOptimizer"] * adapter.STEPS
    assert {one.rate for one in tape.transcript.draws} == {adapter.RATE}


def test_outside_of_runs_the_library_draws_its_own_noise():
    import torch
    from opacus.optimizers import DPOptimizer

    adapter.PATCHES.apply()
    weight = torch.nn.Parameter(torch.zeros(3))
    sgd = torch.optim.SGD([weight], lr=1.0)
    optimizer = DPOptimizer(sgd, noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=1)
    weight.grad_sample = torch.zeros(2, 3)
    optimizer.step()
    assert torch.any(weight != 0)
