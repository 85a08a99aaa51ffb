"""Files of other people, and ours: every reading and writing error is one clear line.

What is read is data (JSON only); what is written is complete or not there.
"""

import bz2
import errno
import gzip
import json
import os
import re
import stat
import tomllib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array

from .errors import BadInput, require

_AT_LINE = re.compile(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", re.DOTALL)
_PART = 2**20  # bytes
_DIGITS = 308  # of a whole number in JSON: every float is shorter, and whatever computes with it makes it one
LARGEST_TOML = 2**24  # characters
_PARTS = 50  # as in the pattern below: of a key with dots in TOML: tomllib takes memory by their square
_DEEP_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){50}""")
LARGEST = 2**31  # bytes of a file that is read at once; numbers in text take several times that in memory
SPARSE = 2**26  # bytes: a larger file that is mostly holes is a mistake, and would fill the memory


@contextmanager
def _one_line(path: str | Path, field: str) -> Iterator[None]:
    """What the system, or Python, says of a path, as the one error."""
    try:
        yield
    except BadInput:
        raise
    except (OSError, ValueError, RuntimeError) as error:
        raise BadInput(field, str(path), getattr(error, "strerror", None) or str(error)) from None


def _whole(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError(text[:20])
    return int(text)


def _malformed(error: Exception, where: str) -> BadInput:
    deep = isinstance(error, RecursionError)
    return BadInput(where, "malformed", "is nested too deeply" if deep else "holds a number with too many digits")


def parse_json(text: str, where: str, floats: bool = False) -> Any:
    """JSON text as plain data; ``floats``: no whole number in it may be longer than a float.

    BadInput names ``where`` and, for a syntax error, the line. Nesting and numbers have Python's limits.
    """
    try:
        return json.loads(text, parse_int=_whole if floats else None)
    except json.JSONDecodeError as error:
        raise BadInput(f"{where}: line {error.lineno}", error.msg, "the file must be JSON") from None
    except (ValueError, RecursionError) as error:
        raise _malformed(error, where) from None


def parse_toml(text: str, where: str, why: str = "the file must be TOML") -> dict[str, Any]:
    """TOML text as plain data; BadInput names ``where`` and, for a syntax error, the line where it is known."""
    require(len(text) <= LARGEST_TOML, where, f"{len(text)} characters", f"has more than {LARGEST_TOML}")
    require(_DEEP_KEY.search(text) is None, where, "malformed", f"has a key of more than {_PARTS} parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = _AT_LINE.fullmatch(str(error))
        last = str(text.rstrip().count("\n") + 1)  # of a document that ends too early
        what, line = (match[1], match[2] or last) if match else (str(error), None)
        raise BadInput(f"{where}: line {line}" if line else where, what, why) from None
    except (ValueError, RecursionError) as error:
        raise _malformed(error, where) from None


def there(path: Path, field: str) -> bool:
    """Whether something has that name; BadInput where nothing can: it is too long, or holds a zero."""
    with _one_line(path, field):
        return status(path) is not None


def status(path: Path) -> os.stat_result | None:
    """What the system knows of it; none where nothing has that name.

    ``Path.exists`` of Python 3.14 says no as well where it may not look, which is another thing.

    Raises:
        OSError, ValueError: it cannot be looked at, or nothing can have that name.
    """
    try:
        return path.stat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return None
        raise


def _is_special(path: Path) -> bool:
    """Something that is no regular file: a device, a pipe, a folder."""
    found = status(path)
    return found is not None and not stat.S_ISREG(found.st_mode)


def read_bytes(path: Path, field: str, most: int = LARGEST) -> bytes:
    """The content of a regular file of at most ``most`` bytes.

    A pipe without a writer would be waited for, and a device read, for ever: neither is opened.
    """
    with _one_line(path, field):
        kind = path.stat()
        require(stat.S_ISREG(kind.st_mode), field, str(path), "is not a regular file")
        require(kind.st_size <= most, field, str(path), f"has {kind.st_size} bytes, more than {most}")
        require_no_holes(kind, field, str(path))
        return path.read_bytes()


def require_no_holes(found: os.stat_result, field: str, value: object) -> None:
    """Refuse a large file most of which the disk does not hold."""
    kept = getattr(found, "st_blocks", found.st_size) * 512
    good = found.st_size < SPARSE or 2 * kept >= found.st_size
    require(good, field, value, f"is mostly holes: {kept} bytes on the disk")


def read_text(path: Path, field: str) -> str:
    """A text file; a mark of UTF-8 at its start, as some editors write one, is left out."""
    try:
        return read_bytes(path, field).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise BadInput(field, str(path), "is not a text file (UTF-8)") from None


def decompressed(raw: bytes, field: str, most: int = LARGEST) -> bytes:
    """What a compressed file (gzip, or bzip2 by its first letters) holds, if that is at most ``most`` bytes."""
    try:
        with bz2.open(BytesIO(raw)) if raw.startswith(b"BZh") else gzip.GzipFile(fileobj=BytesIO(raw)) as file:
            found = bytearray()  # part by part: one read of so many bytes would take the memory for all of them first
            while (part := file.read(_PART)) and len(found) <= most:
                found += part
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput("path", field, f"cannot be decompressed: {error}") from None
    require(len(found) <= most, "path", field, f"holds more than {most} bytes")
    return bytes(found)


def contents(path: str | Path, field: str) -> bytes:
    """A file of somebody's data set, decompressed where its name says so."""
    require(there(Path(path), field), field, str(path), "no such file; download the original set and give its path")
    raw = read_bytes(Path(path), field)
    return decompressed(raw, str(path)) if Path(path).suffix in (".gz", ".bz2") else raw


def read_json(path: Path, field: str, floats: bool = False) -> Any:
    """A JSON file as plain data (``parse_json``); :class:`BadInput` if it cannot be read or is not JSON."""
    return parse_json(read_text(path, field), str(path), floats)


def read_numbers(path: Path, field: str) -> Array:
    """A comma-separated table of numbers, shape (lines, columns), at least one line; a first line of names is left out.

    BadInput names the line that holds something else.
    """
    first, _, others = (text := read_text(path, field)).strip().partition("\n")
    try:
        np.asarray(first.split(",")[:1], dtype=float)
    except ValueError:
        text = others
    return numbers_of(text, field, str(path))


def numbers_of(text: str, field: str, path: str) -> Array:
    """The text of such a table; there are no comments in it: a file of nothing else would be a table of nothing."""
    text = text.strip()
    require("#" not in text, field, path, "is not a table of numbers (it holds #)")
    require("\0" not in text, field, path, "is not a table of numbers (it holds a zero byte)")
    require(bool(text), field, path, "is empty: must hold at least one line of numbers")
    try:
        return np.loadtxt(StringIO(text), delimiter=",", ndmin=2, comments=None)
    except ValueError as error:
        raise BadInput(field, path, f"not a table of numbers ({' '.join(str(error).split())})") from None


def inside(folder: Path, name: str, field: str) -> Path:
    """The file that another file names: in its own folder, or below the working directory; links are followed.

    A file that came from elsewhere must not choose what else is read.
    """
    with _one_line(name, field):
        path, roots = folder / name, (folder.resolve(), Path.cwd().resolve())
        good = any(path.resolve().is_relative_to(root) for root in roots)
        status(path)  # which is an error for a name that no file can have
    why = "lies outside of the folder of the file that names it, and of the working directory"
    require(good, field, name, why)
    return path


def write_text(path: Path, text: str, field: str) -> None:
    """Write the whole file or nothing; folders are made. A link, a device or a pipe stays what it is."""
    with _one_line(path, field):
        path.parent.mkdir(parents=True, exist_ok=True)
        if _is_special(path):  # a device: putting a file in its place would destroy it
            with os.fdopen(_opened(path), "w", encoding="utf-8") as stream:
                stream.write(text)
            return
        temporary = _beside(path)
        try:
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(os.path.realpath(path))
        finally:
            temporary.unlink(missing_ok=True)


def require_writable(path: Path, field: str) -> None:
    """Say before the work begins that its result cannot be written, or the path is a folder."""
    with _one_line(path, field):
        path.parent.mkdir(parents=True, exist_ok=True)
        require(not path.is_dir(), field, str(path), "is a folder")
        if _is_special(path):
            require(os.access(path, os.W_OK), field, str(path), "cannot be written to")
            return
        probe = _beside(path)
        probe.touch()
        probe.unlink()


def _opened(path: Path) -> int:
    """A device or pipe, open for writing; an error, not a wait, where nobody reads the pipe."""
    descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)
    return descriptor


def _beside(path: Path) -> Path:
    """A file of this process alone in the same folder as the one that ``path`` leads to."""
    target = Path(os.path.realpath(path))
    return target.with_name(f"{target.name}.{os.getpid()}.part")
