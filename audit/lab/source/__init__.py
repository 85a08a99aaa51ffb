"""Bugs planted in the source of algorithms, judged by the exit code of the command that a user runs."""
