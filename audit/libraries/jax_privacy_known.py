"""What is found in jax-privacy 2.0.0: nothing, as far as it is searched."""

from __future__ import annotations

from .known import Known

KNOWN: tuple[Known, ...] = ()
