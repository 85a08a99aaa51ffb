"""Bugs written by hand, of the kind that people make, with the thread where somebody made one like it."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

from . import (
    adaptive_batch,
    baselines,
    dro,
    fourth_look,
    minimax_sosp,
    output_perturbation,
    second_look,
    second_order_erm,
    third_look,
)

PATCHES: tuple[Patch, ...] = (
    *baselines.PATCHES,
    *output_perturbation.PATCHES,
    *second_order_erm.PATCHES,
    *dro.PATCHES,
    *minimax_sosp.PATCHES,
    *adaptive_batch.PATCHES,
    *second_look.PATCHES,
    *third_look.PATCHES,
    *fourth_look.PATCHES,
)
