"""A second set of bugs: written blind, by somebody who knew neither the search nor the first set."""

from __future__ import annotations

from . import (
    adaptive_batch,
    baselines,
    dro,
    harmless,
    minimax_sosp,
    output_perturbation,
    second_order_erm,
    shared,
)
from .stranger import Stranger as Stranger

STRANGERS: tuple[Stranger, ...] = (
    *baselines.STRANGERS,
    *output_perturbation.STRANGERS,
    *second_order_erm.STRANGERS,
    *dro.STRANGERS,
    *minimax_sosp.STRANGERS,
    *adaptive_batch.STRANGERS,
    *shared.STRANGERS,
    *harmless.STRANGERS,
)
