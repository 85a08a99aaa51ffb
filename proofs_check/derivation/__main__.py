"""``python -m dpassay.proofs_check.derivation FILE ...``: decide statements of one's own and show their chains."""

import sys
from pathlib import Path

from dpassay.reference.errors import BadInput

from .derive import derive
from .ledger import Examined
from .model import Statement, read
from .show import text
from .status import statuses


def main(arguments: list[str]) -> int:
    """Exit 0 if every file is well formed, 1 if one has a problem, 2 if none can be read."""
    asked = [Path(argument).resolve() for argument in arguments]
    bad, beside, files = 0, list[Statement](), {f"{path.parent.name}/{path.name}" for path in asked}
    for path in sorted({path for one in asked for path in one.parent.glob("*.toml") if path.name != "left_out.toml"}):
        try:
            beside.append(read(path))
        except BadInput as error:  # of a file beside those that are asked for: said, and it decides nothing
            print(error)
            bad += 1
    derivations = [derive(one, {other.key: other for other in beside}) for one in beside]
    found = statuses(derivations)
    for one in derivations:
        if one.statement.file in files:
            print(f"{text(Examined(one, found[one.statement.key]))}\n")
            bad += bool(one.problems)
    return int(bad > 0) if beside else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
