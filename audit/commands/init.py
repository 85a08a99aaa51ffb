"""``dpassay init``: a first claims file, with comments."""

from pathlib import Path
from typing import Annotated

import typer

from dpassay.audit.claims.model import DEFAULT
from dpassay.audit.inputs.foreign import is_code, is_written
from dpassay.audit.phases import reporting
from dpassay.audit.subjects.own import NOTHING, nearest, open_own
from dpassay.audit.terminal.progress import Quiet, progress
from dpassay.reference.errors import require
from dpassay.reference.files import read_text, require_writable, write_text

_THERE = "is there already, and is never overwritten: write another [[claim]] into it, or name another file"
TEMPLATE = Path(__file__).parents[1] / "claims" / "first_claims.template"


def init(
    path: Annotated[Path, typer.Argument(help="Where it goes.")] = DEFAULT,
    algorithm: Annotated[
        str | None, typer.Option(help="MODULE:NAME of your own algorithm, for the first claim.")
    ] = None,
    space: Annotated[
        str | None, typer.Option(help="The data that its claim covers: MODULE:NAME, or as Space.matrix(n=(8,)).")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write a first claims file with comments; a file that is there already stays as it is.

    Your own algorithm is audited first: its claim has the epsilon that was found at delta 1e-5.
    """
    for option, value in (("--algorithm", algorithm), ("--space", space)):
        written = option == "--space" and value is not None and is_written(value)
        good = value is None or ((is_code(value) or written) and '"' not in value and value.isprintable())
        require(good, option, value, "must be MODULE:NAME")
    require(algorithm is not None or space is None, "--space", space, "goes with --algorithm")
    require_writable(path, "PATH")
    require(not path.exists(), "PATH", str(path), _THERE)
    text, told = first_file(None, None), "change it to say what you claim"
    if algorithm is not None:
        run, where = open_own(algorithm, space, None, field="--algorithm")
        with progress("searching for a claim", 1, quiet=quiet) as say, reporting(say):
            epsilon = nearest(algorithm, run, where, 1e-5, 0).epsilon
        text = first_file(algorithm, space, epsilon if epsilon < NOTHING else 1.0)
        found = f"it claims epsilon {epsilon:g}, which was found"
        told = found if epsilon < NOTHING else f"no finite epsilon was found; {told}"
    require(not path.exists(), "PATH", str(path), _THERE)  # by now: a search takes minutes
    write_text(path, text, "PATH")
    print(f"{path}: {told}; then: dpassay check {path}")


def first_file(algorithm: str | None, space: str | None, epsilon: float = 1.0) -> str:
    """The text of a first ``claims.toml``: one's own claim of this epsilon, or without one a claim of the catalogue."""
    name = algorithm.partition(":")[2].replace(".", "-") if algorithm else "my-mechanism"
    said = {"name": name, "algorithm": algorithm or "mine:run", "space": space or "mine:space", "epsilon": epsilon}
    first, own, catalogue = read_text(TEMPLATE, "template").format(**said).split("# ---\n")
    if algorithm and not space:
        own = own.replace('space = "', '# space = "')
    return first + (own + _commented(catalogue) if algorithm else _commented(own) + catalogue)


def _commented(block: str) -> str:
    return "".join(f"# {line}\n" if line and not line.startswith("#") else f"{line}\n" for line in block.splitlines())
