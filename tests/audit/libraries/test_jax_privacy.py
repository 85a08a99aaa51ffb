"""jax-privacy's clipping and noise in a training loop on the tape.

Runs where it is installed: ``pip install "dpassay[audit,jax-privacy]"``.
"""

import numpy as np
import pytest

pytest.importorskip("jax_privacy", reason="jax-privacy is not installed")

from dpassay.audit.libraries import jax_privacy as adapter
from dpassay.reference.findings import Kind


def test_full_batches_keep_what_the_library_claims():
    """The account of the transcript is the claim of the library's own event, to 6 digits."""
    model = next(one for one in adapter.models() if "replace-one" in one.spaces)
    found = model.search("replace-one", examples=10)
    assert not found.findings
    assert found.accounted == pytest.approx(model.epsilon, rel=1e-6)


def test_a_sensitivity_that_is_too_small_is_found(monkeypatch):
    """The sum of gradients that are clipped to 3 moves by more than is stated for 1."""
    import jax
    from jax_privacy import clipping

    adapter.models()
    wide = clipping.clipped_grad(adapter._loss, l2_clip_norm=3.0, batch_argnums=(1, 2))
    narrow = clipping.clipped_grad(adapter._loss, l2_clip_norm=1.0, batch_argnums=(1, 2))
    compiled = jax.jit(wide.fun)
    monkeypatch.setattr(adapter, "_gradient", lambda rescale, microbatch: (narrow, compiled))
    model = next(one for one in adapter.models() if "replace-one" in one.spaces)
    found = model.search("replace-one", examples=30)
    assert Kind.SENSITIVITY_EXCEEDED in {one.kind for one in found.findings}


def test_outside_of_runs_the_library_draws_its_own_noise():
    from jax_privacy import noise_addition

    adapter.PATCHES.apply()
    privatizer = noise_addition.gaussian_privatizer(stddev=1.0, prng_key=0)
    noisy, _ = privatizer.update(np.zeros(3), privatizer.init(np.zeros(3)))
    assert np.asarray(noisy).shape == (3,) and np.any(np.asarray(noisy) != 0)
