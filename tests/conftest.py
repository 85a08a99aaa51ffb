"""What all tests share: one thread of linear algebra, no clock in hypothesis, less work for the garbage collector."""

import gc
import os

from hypothesis import settings

# before NumPy is loaded: two workers that each start a thread a core spin while they wait for each other
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# no test is timed, and so no example of hypothesis is either: a busy machine must not fail a check
settings.register_profile("dpassay", deadline=None)
settings.load_profile("dpassay")


def pytest_configure() -> None:
    """Nothing that collection makes is garbage: no use to look through it."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What is there now stays to the end: the collector leaves it out, and looks at the rest less often."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()
