"""How a program on the live protocol fails: by not keeping to it, by ending within a case, or by refusing its input."""

from __future__ import annotations

from dpassay.audit.lockstep.outcome import NotJudged
from dpassay.reference.errors import printable


class ProgramBroken(NotJudged):
    """The program cannot be started, is late, or says what the protocol does not know: nothing it says can be judged.

    Args:
        command: as the user gave it.
        why: what it did, on one line.

    Raises:
        Nothing itself; the command line exits 2.
    """

    def __init__(self, command: str, why: str):
        super().__init__("program", command, why)


class ProgramUnsupported(ProgramBroken):
    """The program does not know this algorithm or this problem, says so, and waits for the next case."""


class ProgramEnded(RuntimeError):
    """The program ended within a case. That may depend on the data, so it is an outcome of the run, as an exception is.

    Args:
        how: exit status or signal, and the end of what it said on standard error.
    """

    def __init__(self, how: str):
        super().__init__(f"the program {printable(how)}")
        self.how = printable(how)


class ProgramRefused(ValueError):
    """The program refused its input (a schedule that makes no sense, say), and waits for the next case."""

    def __init__(self, why: str):
        super().__init__(printable(why))
