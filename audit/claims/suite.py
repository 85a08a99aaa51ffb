"""All claims of a file: in parallel, each as soon as it is finished, in the order of the file in the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from dpassay.audit.row import Row
from dpassay.audit.running.workers import worked
from dpassay.reference.errors import BadInput, Broken, require

from .audited import audited, resolve
from .model import Algorithm, Claim, ClaimsFile, Lines
from .stored import data_files

Answer = Row | BadInput | Broken


def chosen(file: ClaimsFile, only: Sequence[str]) -> list[int]:
    """Positions of the claims with these names (``*`` stands for anything); of all without names.

    Raises:
        BadInput: a name that no claim has.
    """
    names = [one.name for one in file.claim]
    found = {pattern: {n for n, name in enumerate(names) if fnmatchcase(name, pattern)} for pattern in only}
    for pattern, numbers in found.items():
        require(bool(numbers), "--only", pattern, f"is the name of no claim; there are {', '.join(names[:20])}")
    return sorted(set().union(*found.values())) if only else list(range(len(names)))


def look_over(file: ClaimsFile, numbers: Sequence[int], lines: Lines) -> None:
    """Whatever a claim names must be there: said before the first one is run.

    Raises:
        BadInput: naming the file, the line, the claim and the field.
    """
    here = str(lines.path.resolve().parent)
    if here not in sys.path:  # modules may also lie beside the claims
        sys.path.insert(0, here)
    for number in numbers:
        claim = file.claim[number]
        try:
            if isinstance(claim, Algorithm):
                resolve(claim)
            else:
                data_files(claim, lines.path.parent)
        except BadInput as error:
            raise placed(error, number, claim, lines) from None


def placed(error: BadInput, number: int, claim: Claim, lines: Lines) -> BadInput:
    """An error with the claim that it is about."""
    field = error.field.removeprefix("--")
    return BadInput(lines.where(number, field, claim.name), error.value, error.why)


def run_claims(
    file: ClaimsFile,
    numbers: Sequence[int],
    lines: Lines,
    jobs: int,
    pairs: Mapping[int, Mapping[str, Any]],
    each: Callable[[int, Row], None],
) -> dict[int, BadInput | Broken]:
    """Make the rows of these claims; ``each`` is handed one as soon as it is finished.

    Args:
        pairs: of the lock, by position: the neighbours to audit again.

    Returns:
        What the claims that could not be run ended in, by position: one of them costs no other its row.
    """
    folder, confidence = lines.path.parent, file.confidence
    todo = ((number, file.claim[number], folder, confidence, pairs.get(number), sys.path) for number in numbers)
    errors: dict[int, BadInput | Broken] = {}
    for number, answer in worked(_answer, todo, min(jobs, max(1, len(numbers)))):
        if isinstance(answer, BadInput):
            errors[number] = placed(answer, number, file.claim[number], lines)
        elif isinstance(answer, Broken):
            errors[number] = answer
        else:
            each(number, answer)
    return dict(sorted(errors.items()))


def _answer(
    number: int,
    claim: Claim,
    folder: Path,
    confidence: float,
    pair: Mapping[str, Any] | None,
    path: Sequence[str],
) -> tuple[int, Answer]:
    sys.path += [one for one in path if one not in sys.path]  # of the process that asked
    try:
        return number, audited(claim, folder, confidence, pair)
    except (BadInput, Broken) as error:
        return number, error
    except (MemoryError, OSError):
        raise
    except Exception as error:
        return number, Broken.at(f"claim {claim.name}", error)
