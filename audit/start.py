"""Where the command ``dpassay`` begins: it says in one line what is missing where the extras are not installed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from dpassay.reference.extras import missing

from .exit_codes import INTERRUPTED
from .running.interrupts import Interrupts


def main() -> None:
    """Run the command line; exit code 2 and one line where it is not installed.

    Signals are heeded from the first moment, while libraries are loaded, to the last.
    """
    os.environ.setdefault("HYPOTHESIS_NO_PLUGINS", "1")  # they are for tests, and some import half a test framework
    listening = Interrupts()
    listening.deaf_at_last()
    with listening:
        try:
            _loaded()()
        except (KeyboardInterrupt, ImportError):
            if not listening.count:
                raise
            sys.exit(INTERRUPTED)
        finally:
            listening.end_at_once()


def _loaded() -> Callable[[], None]:
    try:
        from .cli import main as run
    except ModuleNotFoundError as error:
        known = missing(error)
        if known is None:
            raise
        sys.exit(_refused(str(known)))
    return run


def _refused(line: str) -> int:
    print(f"dpassay: {line}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
