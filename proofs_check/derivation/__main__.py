"""``python -m dpassay.proofs_check.derivation FILE ...``: decide statements and show their chains."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from dpassay.reference.errors import BadInput

from .derive import derive
from .model import read
from .show import text
from .status import statuses


def main(arguments: list[str]) -> int:
    """Exit 0 if every file is well formed, 1 if one has a problem, 2 if one cannot be read."""
    asked = [Path(argument).resolve() for argument in arguments]
    bad, read_ones, seconds, derivations = 0, [], {}, []
    for path in sorted({beside for one in asked for beside in one.parent.glob("*.toml")}):
        if path.name != "left_out.toml":
            try:
                read_ones.append(read(path))
            except BadInput as error:  # of a file beside those that are asked for: said, and it decides nothing
                print(error)
                bad += 1
    files = {f"{path.parent.name}/{path.name}" for path in asked}
    by_key = {one.key: one for one in read_ones}
    for one in read_ones:
        start = time.process_time()
        derivations.append(derive(one, by_key))
        seconds[one.key] = time.process_time() - start
    found = statuses(derivations)
    for derivation in derivations:
        if derivation.statement.file in files:
            key = derivation.statement.key
            print(f"{text(derivation, found[key])}   ({seconds[key]:.1f} s)\n")
            bad += bool(derivation.problems)
    return 2 if not derivations else int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
