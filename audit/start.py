"""Where the command ``dpassay`` begins: it says in one line what is missing where the extras are not installed."""

from __future__ import annotations

import sys

from dpassay.reference.extras import missing


def main() -> None:
    """Run the command line; exit code 2 and one line where it is not installed."""
    try:
        from .cli import main as run
    except ModuleNotFoundError as error:
        known = missing(error)
        if known is None:
            raise
        sys.exit(_refused(str(known)))
    run()


def _refused(line: str) -> int:
    print(f"dpassay: {line}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
