"""A program on test vectors: the reference's recorded values are the answers, what the program asks for is compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

from dpassay.audit.crosscheck.adapter import Result, results
from dpassay.audit.crosscheck.recording import Diverged, VectorTape, asked
from dpassay.audit.running.programs import ProgramBroken, ProgramEnded
from dpassay.reference.errors import BadInput

from .messages import ProgramRefused, ProgramUnsupported
from .program import TIMEOUT, LiveProgram

Vector = dict[str, Any]


def run_live(
    command: str, vectors: Iterable[Vector], *, float32: bool = False, timeout: float = TIMEOUT
) -> Iterator[Result]:
    """The program on these vectors, in order; its processes are kept from one to the next.

    Args:
        float32: it computes in single precision; vectors whose decisions are within rounding are not judged then.

    Raises:
        ProgramBroken: it does not keep to the protocol.
    """
    programs: dict[tuple[str, str], LiveProgram] = {}
    with ExitStack() as stack:

        def ask(vector: Vector) -> Vector:
            key = str(vector["algorithm"]), str(vector["reading"])
            if key not in programs:
                programs[key] = stack.enter_context(LiveProgram(command, *key, timeout=timeout))
            return answered(programs[key], vector)

        yield from results(ask, vectors, float32)


def answered(program: LiveProgram, vector: Vector) -> Vector:
    """What the program asks for on one vector, in the form of ``crosscheck.worker``.

    Raises:
        ProgramBroken: it does not keep to the protocol.
    """
    tape = VectorTape(vector["events"], refusing=vector["expect"] == "refused")
    try:
        output = program(vector["problem"], vector["schedule"], tape)
    except ProgramUnsupported as error:
        return {"kind": "unsupported", "text": error.why, "events": []}
    except ProgramBroken:
        raise
    except Diverged as error:
        return {"kind": "diverged", "text": str(error), "events": asked(tape), "output": None}
    except (BadInput, ProgramEnded, ProgramRefused) as error:
        return {"kind": "raised", "text": str(error), "events": asked(tape), "output": None}
    return {"kind": "returned", "output": output, "events": asked(tape)}
