"""No test is timed, and so no example of hypothesis is either: a busy machine must not fail a check."""

from hypothesis import settings

settings.register_profile("dpassay", deadline=None)
settings.load_profile("dpassay")
