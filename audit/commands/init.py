"""``dpassay init``: a first claims file, with comments."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from dpassay.audit.claims.reading import DEFAULT
from dpassay.audit.inputs.foreign import is_code
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import read_text, require_writable

TEMPLATE = Path(__file__).parents[1] / "claims" / "first_claims.template"


def init(
    path: Annotated[Path, typer.Argument(help="Where it goes.")] = DEFAULT,
    algorithm: Annotated[
        str | None, typer.Option(help="MODULE:NAME of your own algorithm, for the first claim.")
    ] = None,
    space: Annotated[str | None, typer.Option(help="MODULE:NAME of the data that its claim covers.")] = None,
) -> None:
    """Write a first claims file with comments; a file that is there already stays as it is."""
    for option, value in (("--algorithm", algorithm), ("--space", space)):
        good = value is None or (is_code(value) and '"' not in value and value.isprintable())
        require(good, option, value, "must be MODULE:NAME")
    require(algorithm is not None or space is None, "--space", space, "goes with --algorithm")
    require_writable(path, "PATH")
    try:
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            with os.fdopen(made, "w", encoding="utf-8") as file:
                file.write(first_file(algorithm, space))
        except OSError:
            path.unlink(missing_ok=True)  # half a file would be in the way of the next try
            raise
    except FileExistsError:
        raise BadInput("PATH", str(path), "is there already, and is never overwritten") from None
    except OSError as error:
        raise BadInput("PATH", str(path), error.strerror or str(error)) from None
    print(f"{path}: change it to say what you claim, then: dpassay check {path}")


def first_file(algorithm: str | None, space: str | None) -> str:
    """The text of a first ``claims.toml``; the claim about one's own algorithm is a comment if none is named."""
    name = algorithm.partition(":")[2].replace(".", "-") if algorithm else "my-mechanism"
    said = {"name": name, "algorithm": algorithm or "mine:run", "space": space or "mine:space"}
    text = read_text(TEMPLATE, "template").format(**said)
    first, own, rest = re.split(r"(?m)^(?=\[\[claim\]\]|# An algorithm of the catalogue)", text, maxsplit=2)
    if algorithm and not space:
        own = own.replace('space = "', '# space = "')
    if not algorithm:
        own = "".join(f"# {line}\n" if line else "\n" for line in own.splitlines())
    return first + own + rest
