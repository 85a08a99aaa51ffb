"""Bugs in the methods of dro."""

from __future__ import annotations

from dpassay.audit.lab.source.bugs import Patch

PATCHES: tuple[Patch, ...] = ()
