"""The process in which an adapter runs: it reads a vector a line, and writes a line of what was asked and returned.

``python -m dpassay.audit.crosscheck.worker MODULE:FUNCTION``. What the adapter prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpassay.audit.inputs.foreign import load_callable
from dpassay.audit.running.workers import end_with
from dpassay.reference.errors import BadInput, printable

from .encode import encode
from .recording import Diverged, VectorTape, asked

HIDDEN = ("events", "output", "rounding", "expect", "why", "float32", "seed", "flags")  # would give the answer away
Vector = dict[str, Any]


def answer(adapter: Callable[..., Any], vector: Vector) -> dict[str, Any]:
    """Run the adapter on one vector.

    Returns:
        ``kind``: ``returned`` (with ``output``), ``raised`` (with ``text``), ``diverged``, ``unsupported``; and
        ``events``, everything that was asked of the tape, the call without an answer last.
    """
    tape = VectorTape(vector["events"], refusing=vector["expect"] == "refused")
    case = {name: entry for name, entry in vector.items() if name not in HIDDEN}
    try:
        output = adapter(case, tape)
    except NotImplementedError as error:
        return {"kind": "unsupported", "text": printable(str(error)), "events": []}
    except Diverged as error:
        return {"kind": "diverged", "text": str(error), "events": asked(tape)}
    except (Exception, SystemExit) as error:
        kind = "diverged" if tape.diverged else "raised"  # the adapter may wrap what the tape raises
        return {"kind": kind, "text": _said(error), "events": asked(tape)}
    if output is NotImplemented:
        return {"kind": "unsupported", "text": "", "events": []}
    try:
        return {"kind": "returned", "output": encode(output, "output"), "events": asked(tape)}
    except BadInput as error:
        return {"kind": "raised", "text": str(error), "events": asked(tape)}


def _said(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    here = Path(__file__).parent
    theirs = [frame for frame in frames if here not in Path(frame.filename).parents] or list(frames)
    place = f"{Path(theirs[-1].filename).name}, line {theirs[-1].lineno}"
    return printable(f"{type(error).__name__} ({place}): {error}")[:1000]


def main(name: str) -> None:
    """Answer until the input ends."""
    end_with(os.getppid())
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as out:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever is printed is for people
        try:
            adapter = load_callable(name, "adapter")
        except BadInput as error:
            said = {"kind": "bad", "field": error.field, "value": str(error.value), "why": error.why}
            print(json.dumps(said), file=out)
            return
        print(json.dumps({"kind": "ready"}), file=out, flush=True)
        for line in sys.stdin:
            print(json.dumps(answer(adapter, json.loads(line))), file=out, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
