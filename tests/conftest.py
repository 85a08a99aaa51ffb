"""What all tests share: no clock in hypothesis, and less work for the garbage collector."""

import gc

from hypothesis import settings

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
