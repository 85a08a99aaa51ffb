"""Stored outputs and scores of other people: .npy (never unpickled), .csv of numbers, .jsonl."""

import csv
import json
import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import LARGEST, numbers_of, read_text, require_no_holes

LARGEST_LETTER = 0x10FFFF


def load(path: Path) -> Any:
    """Stored outputs of one dataset: .npy (no pickles), .csv of numbers (a header is skipped), or .jsonl."""
    if path.suffix == ".npy":
        return load_array(path)
    if path.suffix == ".csv":
        return numbers_of(_header_and_rows(read_text(path, "path"))[1], "path", str(path))
    if path.suffix in (".jsonl", ".json"):
        return _json_lines(path)
    raise BadInput("path", str(path), "must end in .npy, .csv or .jsonl")


def load_array(path: Path) -> NDArray[Any]:
    """A .npy file of numbers or strings, at least one entry, never unpickled, of no more than `LARGEST` bytes."""
    try:
        here = np.load(path, mmap_mode="r", allow_pickle=False)  # the header, held against the size of the file
        good = isinstance(here, np.ndarray) and here.dtype.kind in "fiubUS" and here.dtype.itemsize > 0
        require(good, str(path), str(getattr(here, "dtype", ""))[:60], "must be an array of real numbers: no pickles")
        shape, dtype = here.shape, here.dtype
        require(here.ndim > 0 and here.size > 0, str(path), shape, "must be an array with at least one entry")
        require(here.nbytes <= LARGEST, str(path), shape, f"holds {here.nbytes} bytes, more than {LARGEST}")
        require_no_holes(path.stat(), str(path), shape)
        found = np.array(here)
        if dtype.kind == "f":
            found[np.isnan(found)] = np.nan  # one that signals would be a warning wherever it is used
        if dtype.kind == "f" and dtype.itemsize > 8:  # beyond a double is infinity
            with np.errstate(over="ignore", invalid="ignore"):
                found = found.astype(np.float64)
        if dtype.kind == "U":  # NumPy does not look at what it hands to Python as letters
            codes = np.ascontiguousarray(found).view(np.dtype(np.uint32).newbyteorder(dtype.byteorder))
            require(int(codes.max()) <= LARGEST_LETTER, str(path), "text", "holds what is no letter")
        return found
    except BadInput:
        raise
    except OSError as error:
        raise BadInput(str(path), "unreadable", error.strerror or " ".join(str(error).split())) from None
    except Exception as error:  # a damaged file meets NumPy's parser at any point
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise BadInput(str(path), "unreadable", f"is not a .npy file ({why})") from None


def _header_and_rows(text: str) -> tuple[str, str]:
    """The first line if it holds words, and the rest; nothing and everything if it does not."""
    first, _, rest = text.lstrip().partition("\n")
    words = re.search(r"[A-Za-z_]", re.sub(r"(?i)\b(nan|inf|infinity)\b|(?<=[\d.])e(?=[-+\d])", "", first))
    return (first, rest) if words else ("", text)


def named_columns(path: Path, names: Sequence[str]) -> dict[str, list[Any]] | None:
    """The columns of a .csv file with a header, or of a .parquet file, whose names are among these.

    By name, in lower case, what each line holds; None for another file, and where no name is among them.
    """
    if path.suffix == ".parquet":
        frame = _frame(path)
        lines: list[list[Any]] = [[str(name) for name in frame.columns], *frame.to_numpy().tolist()]
    elif path.suffix == ".csv" and (header := _header_and_rows(text := read_text(path, "path"))[0]):
        lines = [line for line in csv.reader(text.splitlines(), delimiter=_separator(header)) if line]
    else:
        return None
    head = [str(name).strip().lower() for name in lines[0]]
    chosen = [name for name in names if head.count(name) == 1]
    require(len(lines) > 1 or not chosen, "path", str(path), "has a header, and no line below it")
    for number, line in enumerate(lines[1:] if chosen else (), 2):
        require(len(line) == len(head), f"{path}: line {number}", line, f"must have {len(head)} columns, as the header")
    return {name: [line[head.index(name)] for line in lines[1:]] for name in chosen} or None


def _separator(header: str) -> str:
    """A comma, or what stands in the header more often: some spreadsheets write semicolons."""
    return max(",;\t", key=header.count)


def _frame(path: Path) -> Any:
    try:
        return import_module("pandas").read_parquet(path)
    except ImportError:
        raise BadInput("path", str(path), "needs pandas and pyarrow: pip install pandas pyarrow") from None
    except Exception as error:  # of its parsers, which are many
        raise BadInput("path", str(path), f"is not a parquet file ({' '.join(str(error).split())[:200]})") from None


def column_names(paths: Sequence[Path]) -> tuple[str, ...] | None:
    """What the headers of .csv files call their columns; None where they differ, are missing, or name one twice."""
    if any(path.suffix != ".csv" for path in paths):
        return None
    headers = {_header_and_rows(read_text(path, "path"))[0].strip() for path in paths}
    header = headers.pop() if len(headers) == 1 else ""
    names = tuple(name.strip().strip("\"'") for name in header.split(_separator(header)))
    return names if all(names) and len(set(names)) == len(names) > 0 else None


def _json_lines(path: Path) -> list[Any]:
    found = []
    for number, line in enumerate(read_text(path, "path").split("\n"), 1):  # a text may hold other line ends
        where = f"{path}: line {number}"
        try:
            found += [json.loads(line)] if line.strip() else []
        except json.JSONDecodeError as error:
            raise BadInput(where, line, f"is not JSON: {error.msg}") from None
        except (ValueError, RecursionError):
            raise BadInput(where, line[:60], "is nested too deeply, or a number has too many digits") from None
    require(bool(found), "path", str(path), "is empty: must hold at least one line")
    return found
