"""Hypothesis and extreme values without side effects: same examples in every process, no warnings of overflows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from hypothesis.internal.conjecture.engine import ConjectureRunner
from hypothesis.internal.conjecture.providers import HypothesisProvider


@contextmanager
def quiet() -> Iterator[None]:
    """Extreme values overflow: no news. And Hypothesis draws no constants from whatever modules happen to be loaded.

    Nor does it make most examples out of parts of the one before: where an example is a whole choice of sizes, rows and
    values, that repeats sizes that are known and leaves others untried.
    """
    with (
        warnings.catch_warnings(),
        patch.object(HypothesisProvider, "_maybe_draw_constant", lambda *_, **__: None),
        patch.object(ConjectureRunner, "generate_mutations_from", lambda *_: None),
    ):
        warnings.simplefilter("ignore")
        yield


def one_line(error: BaseException) -> str:
    """Type and text of an exception."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
