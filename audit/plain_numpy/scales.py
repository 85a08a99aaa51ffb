"""Noise whose scale follows the data, as smooth sensitivity makes it: by itself that leaks nothing.

The value follows a law of which query and scale are both private, and its density is known on either side. So where
nothing else leaks, exact losses on the pairs of neighbours that show it decide. They are what these pairs give away;
what the scale costs for all data is not known here, so code that they do not refute is neither accused nor passed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpassay.audit.row import Effort
from dpassay.audit.verdict import Verdict
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair

from .by_pair import of_one_pair
from .mechanism import PlainMechanism
from .places import WAY_OUT, NotUnderstood

if TYPE_CHECKING:
    from dpassay.audit.evidence.assay import Assay

_MOST = 3  # pairs that are audited


def judged_where_scales_follow_data(
    run: PlainMechanism,
    found: Assay,
    pairs: Sequence[Pair[Any]],
    claim: PrivacyClaim,
    effort: Effort,
    audit: Callable[..., Assay],
) -> Assay | None:
    """None unless all that leaks is a scale; else the audit, with what the losses on one of the pairs show.

    Args:
        run: the reading that was audited.
        found: its audit.
        pairs: of the witnesses.
        audit: as of `assay_plain`.

    Raises:
        NotUnderstood: naming the noise, where the losses do not refute the claim.
    """
    leaks = [one for one in found.findings if one.kind.leaks]
    if (
        found.verdict is Verdict.VIOLATED
        or not (leaks and pairs)
        or any(one.kind is not Kind.NOISE_SCALE for one in leaks)
    ):
        return None
    most = found.realised or 0.0
    for pair in pairs[:_MOST]:
        one = audit(run, pair, claim, effort, premises=of_one_pair(run, claim, pair))
        if one.realised is not None and one.realised > claim.epsilon:
            why = f"on the pair of a witness losses show epsilon >= {one.realised:.3g}; {found.why}"
            return replace(found, verdict=Verdict.VIOLATED, realised=one.realised, by=one.by, bound=one.bound, why=why)
        most = max(most, one.realised or 0.0)
    lines = ", ".join(sorted({one.label for one in leaks}))
    what = "has a scale that follows the data, as with smooth sensitivity; what that costs is not known here"
    raise NotUnderstood("noise", lines, f"{what}, and losses on the pairs that were found show {most:.3g}; {WAY_OUT}")
