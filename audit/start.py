"""Where the command ``dpassay`` begins: it says in one line what is missing where the extras are not installed."""

import os
import sys

from dpassay.reference.extras import missing

from .exit_codes import BAD_INPUT, INTERRUPTED
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
            from .cli import main as run

            run()
        except (KeyboardInterrupt, ImportError) as error:
            if listening.count:
                sys.exit(INTERRUPTED)
            known = missing(error) if isinstance(error, ModuleNotFoundError) else None
            if known is None:
                raise
            print(f"dpassay: {known}", file=sys.stderr)
            sys.exit(BAD_INPUT)
        finally:
            listening.end_at_once()
