"""Bugs written by hand, of the kind that people make, with the thread where somebody made it."""

from __future__ import annotations

from .bugs import Patch

PATCHES: tuple[Patch, ...] = ()
