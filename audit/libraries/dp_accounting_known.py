"""What is found in dp-accounting 0.6.0, and how anyone can see it."""

from __future__ import annotations

from .known import Known

KNOWN = (
    Known(
        "replace-one-multiplier",
        ("RDP, 100 Gaussians, replace-one",),
        "For replace-one neighbours the RDP accountant reads a noise multiplier as if the sum moved by one clipping "
        "norm, the PLD accountant as if it moved by two, which is what the event's definition comes to. The epsilon of "
        "the first is too small by a factor of about two.",
        "the docstring of GaussianDpEvent defines the multiplier by the norm of one record",
        "https://github.com/google/differential-privacy/issues/378",
        """import dp_accounting as dp
event = dp.SelfComposedDpEvent(dp.GaussianDpEvent(10.0), 100)
relation = dp.NeighboringRelation.REPLACE_ONE
for make in (dp.rdp.RdpAccountant, dp.pld.PLDAccountant):
    print(make(neighboring_relation=relation).compose(event).get_epsilon(1e-5))""",
        lambda seen: seen[1] > 1.5 * seen[0],
        "epsilon at delta 1e-5 of the same event: RDP, which proves an upper bound, and PLD",
    ),
)
