"""Why a planted bug is not caught: what is known of those that survived the last campaign."""

from __future__ import annotations

_PRINTED = "Only a printed reading runs that line."
_HELPER = "Reproductions and callers of the library run it; no row of the catalogue does."
# by name; of a generated bug the file and the kind, since its line may move
_REASONS = {
    "opt: certifies by the true Hessian": "These losses are convex but for the regulariser, whose curvature is never "
    "below -0.0005: the certificate is the same for all data.",
    "adaptive_batch/stochastic_spider:query_of_the_run_before": "It is planted at the bare refresh. " + _PRINTED,
    "blocks/clipping:clip_removed": "It is planted where a mean is clipped as a whole. " + _PRINTED,
    "dro/divergences:less_or_equal": "A tie of the divergence, which no row meets.",
    "dro/scdro:batch_reused": _PRINTED,
    "dro/scdro:batch_smaller": _PRINTED,
    "output_perturbation/phased_erm:noise_tenth_less": _HELPER,
    "output_perturbation/phased_erm:output_of_the_data": _HELPER,
    "output_perturbation/inexact_proximal:noise_of_the_release_before": _HELPER,
}


def why_survived(bug: str) -> str:
    """What is known of it; empty if nothing is.

    >>> why_survived("dro/scdro:43:batch_reused")
    'Only a printed reading runs that line.'
    """
    file, _, rest = bug.partition(":")
    kind = rest.partition(":")[2]
    return _REASONS.get(bug, _REASONS.get(f"{file}:{kind}", ""))
