"""Cases of the baselines."""

from __future__ import annotations

from dpassay.reference.case import Case

CASES: tuple[Case, ...] = ()
