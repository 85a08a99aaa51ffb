"""The exit codes of ``dpassay``, in one place: what every command returns, and what ``dpassay --help`` says of it."""

FINE = 0
FAILED = 1
BAD_INPUT = 2
INCONCLUSIVE = 3
CRASHED = 70  # Python's own code is 1, which says "failed" (70: EX_SOFTWARE)
INTERRUPTED = 130
READER_GONE = 141  # what a shell says of a program that a closed pipe has ended

MEANING: dict[int, str] = {
    FINE: "nothing found",
    FAILED: "a claim is violated, something leaks, a query overshoots, or the releases are over budget",
    BAD_INPUT: "bad usage or bad input",
    INCONCLUSIVE: "inconclusive",
    CRASHED: "an error in the program or in an audited algorithm",
    INTERRUPTED: "interrupted",
    READER_GONE: "the reader of the output went away",
}


def described() -> str:
    """All codes in one sentence."""
    return "Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in MEANING.items()) + "."
