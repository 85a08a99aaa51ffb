"""Hypothesis and extreme values without side effects: same examples in every process, no warnings of overflows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from hypothesis.internal.conjecture.providers import HypothesisProvider


@contextmanager
def quiet() -> Iterator[None]:
    """Extreme values overflow: no news. And Hypothesis draws no constants from whatever modules happen to be loaded."""
    with warnings.catch_warnings(), patch.object(HypothesisProvider, "_maybe_draw_constant", _no_constant):
        warnings.simplefilter("ignore")
        yield


def _no_constant(*args: Any, **settings: Any) -> None:
    return None


def one_line(error: BaseException) -> str:
    """Type and text of an exception."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
