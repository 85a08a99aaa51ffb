"""How `fuzz.py` damages a valid file: by what the file is made of, so that many inputs come past the first check.

JSON and TOML: a value becomes a hostile one, or a neighbour of itself; subtrees go, come twice, change places. Tables:
cells and lines. `.npy` and IDX: the fields of the header. Stores: pages, and rows with digests that fit. Compressed
files: what is inside. All of them sometimes, and all others always: bytes flipped, cut, doubled, moved, overwritten.
"""

from __future__ import annotations

import ast
import copy
import gzip
import json
import math
import random
import re
import struct
import tomllib
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

LARGEST = 2**20  # bytes of an input
UNFIT = (ValueError, RecursionError, SyntaxError, LookupError, TypeError, AttributeError, OverflowError, OSError,
         EOFError, MemoryError, struct.error, zlib.error)  # fmt: skip
HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400,
    1e308, -1e308, 5e-324, -0.0, 1e999, "", "nan", "infinity",
    "-infinity", "x" * 5000, "\x1b[2J", "\u202e", "\ud800", "\x00", "../../../etc/passwd", "/etc/passwd",
    "/dev/zero", "<script>alert(1)</script>", "]]>", "::error::x", "| a `b` |", "os:system", "%s%n{0}", "\u2028",
    "=1+1", "a\nb", [], [1], [[1], [1, 2]], [[]], {}, {"": 0}, {"class": "os.system"}, [None] * 300, [[[[1.0]]]],
    [[0.5]] * 40, {"a": {"a": {"a": {}}}},
)  # fmt: skip
TOKENS = (
    b"\x00", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\r\n", b"\x1b[2J", b"nan", b"inf", b"1e999", b"-", b"9" * 400,
    b"9" * 5000, b",", b'"', b"[" * 2000, b"{'a':" * 1500,
    b"{", b"#", b"\xe2\x80\xa8", b"\xed\xa0\x80", b"PK\x03\x04", b"'", b'"""', b"1_0", b"07:32:00", b"9999-99-99",
    b"= ", b"[[claim]]\n", b":", b"\xef\xbb\xbf", b"0x1", b"True", b"../", b"\x1f\x8b\x08", b"MODULE:NAME",
)  # fmt: skip
CELLS = (
    "",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "-0",
    "1e-400",
    "0x1",
    "x",
    "1 2",
    "1,2",
    '"1"',
    "9" * 400,
    "\x1b",
    "٣",
    "1_0",
)
DTYPES = (
    "<f8", ">f8", "<f2", "<f4", "<f16", "<i8", ">i2", "|b1", "|u1", "<U1", "<U0", "|S3", "|S0", "|O", "<c16", "<M8[s]",
    "<m8", "|V8", "<U999999999", "f8,i4", "object", "<u8", "\x00", "<i3",
)  # fmt: skip
SHAPES = (
    "()", "(0,)", "(1,)", "(-3,)", "(3, -1)", "(1000000000,)", "(9223372036854775808,)", "(99999999999999999999999,)",
    "(1,) * 9", "(True,)", "3", "[3]", "(3.0,)", "(" + "1," * 40 + ")", "(" * 200 + ")" * 200,
    "(4611686018427387904, 4)",
)  # fmt: skip


def changed(raw: bytes, form: str, chance: random.Random) -> bytes:
    """One to four changes of a file of this form."""
    structured = FORMS.get(form)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        if structured is not None and chance.random() < 0.8:
            try:
                raw = structured(raw, chance)
                continue
            except UNFIT:
                pass  # an earlier change has left nothing of that form
        raw = changed_bytes(raw, chance)
    return raw[:LARGEST]


# bytes ----------------------------------------------------------------------------------------------------------------


def changed_bytes(raw: bytes, chance: random.Random) -> bytes:
    """Bytes flipped, cut, doubled, moved, or overwritten."""
    at, other = sorted((chance.randrange(len(raw) + 1), chance.randrange(len(raw) + 1)))
    how = chance.randrange(7)
    if how == 0 and raw:
        at = min(at, len(raw) - 1)
        return raw[:at] + bytes([raw[at] ^ (1 << chance.randrange(8))]) + raw[at + 1 :]
    if how == 1:
        return raw[:at]
    if how == 2:
        return raw[:at] + raw[other:]
    if how == 3:
        return raw[:other] + raw[at:other] * chance.choice((1, 3, 40)) + raw[other:]
    token = chance.choice(TOKENS)
    if how == 4:
        return raw[:at] + token + raw[at + len(token) :]
    if how == 5:
        return raw[:at] + bytes(chance.randrange(256) for _ in range(chance.randrange(1, 9))) + raw[at:]
    return raw[:at] + token + raw[at:]


# JSON and TOML --------------------------------------------------------------------------------------------------------


def places(document: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a JSON document, as keys and indices."""
    names: Any = document if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    return [place, *(one for name in names for one in places(document[name], (*place, name)))]


def _at(document: Any, place: tuple[Any, ...]) -> Any:
    for name in place:
        document = document[name]
    return document


def neighbour(value: Any, chance: random.Random) -> Any:
    """A value of the same type that lies at an edge, or near."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        return chance.choice(
            (value + 1, value - 1, -value, value * 10, value * 10**6, 0, float(value), value + 0.5, 2**53 + 1)
        )
    if isinstance(value, float):
        edges = (-value, value * 1e300, value * 1e-300, math.nextafter(value, math.inf), 0.0, 1.0, value + 1, 1e-320)
        return chance.choice(edges)
    if isinstance(value, str):
        odd = chance.choice(
            ("\x1b[1m", "\u202e", "\ud800", "<b>", "|", "`", "\n", "'", '"', "]]>", "::", "%", ":", "/")
        )
        return chance.choice(
            (value + odd, odd + value, value[: len(value) // 2], value * 2, value.upper(), f" {value}")
        )
    if isinstance(value, list):
        return chance.choice((value[:-1], value * 2, value[::-1], [value], value + value[:1], []))
    kept = list(value.items())
    chance.shuffle(kept)
    return dict(kept[:-1])


def changed_value(document: Any, chance: random.Random) -> Any:
    """A document with one value replaced, moved, removed, doubled or nested; it may be changed in place."""
    every = places(document)
    place, how = chance.choice(every), chance.random()
    value = chance.choice(HOSTILE) if how < 0.3 else neighbour(_at(document, place), chance)
    if 0.6 <= how < 0.72:
        value = copy.deepcopy(_at(document, chance.choice(every)))
    if not place:
        return value if chance.random() < 0.05 else document
    inner, last = _at(document, place[:-1]), place[-1]
    if how < 0.72:
        inner[last] = copy.deepcopy(value)
    elif how < 0.85:
        del inner[last]
    elif how < 0.92:
        inner[last] = [inner[last]] * chance.choice((1, 2, 50))
    elif isinstance(inner, dict):
        inner[chance.choice(("", "x", "\x1b", f"{last} "))] = value
    else:
        inner.insert(last, value)
    return document


def _json(raw: bytes, chance: random.Random) -> bytes:
    return json.dumps(changed_value(json.loads(raw), chance)).encode("utf-8", "surrogatepass")


def _jsonl(raw: bytes, chance: random.Random) -> bytes:
    """One line, or the order of lines."""
    lines = raw.split(b"\n")
    at = chance.randrange(len(lines))
    how = chance.random()
    if how < 0.75:
        lines[at] = _json(lines[at], chance)
    elif how < 0.85:
        del lines[at]
    else:
        lines.insert(chance.randrange(len(lines) + 1), lines[at])
    return b"\n".join(lines)


def _toml(raw: bytes, chance: random.Random) -> bytes:
    return toml_text(changed_value(tomllib.loads(raw.decode()), chance)).encode("utf-8", "surrogatepass")


def toml_text(document: Any) -> str:
    """A document as TOML, every table inline but those of the first level."""
    lines, tables = [], []
    for name, value in document.items():
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            for one in value:
                tables += [f"[[{json.dumps(name)}]]", *(f"{json.dumps(k)} = {_inline(v)}" for k, v in one.items())]
        else:
            lines.append(f"{json.dumps(name)} = {_inline(value)}")
    return "\n".join([*lines, *tables, ""])


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(k))} = {_inline(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_inline(one) for one in value) + "]"
    if isinstance(value, float):
        return repr(value)  # inf and nan are TOML's words, too
    return '""' if value is None else json.dumps(value)


# tables ---------------------------------------------------------------------------------------------------------------


def _table(raw: bytes, chance: random.Random) -> bytes:
    """A cell replaced, removed or doubled; a line removed, doubled, emptied, or put first as a header."""
    lines = raw.split(b"\n")
    at, how = chance.randrange(len(lines)), chance.random()
    if how < 0.7:
        cells = re.split(rb"([, :])", lines[at])
        cell = 2 * chance.randrange((len(cells) + 1) // 2)
        if how < 0.5:
            cells[cell] = chance.choice(CELLS).encode()
        else:
            cells[cell : cell + 2] = cells[cell : cell + 2] * chance.choice((0, 2, 60))
        lines[at] = b"".join(cells)
    elif how < 0.8:
        lines[at : at + 1] = lines[at : at + 1] * chance.choice((0, 2, 200))
    else:
        lines.insert(chance.choice((0, at)), chance.choice((b"", b"a,b", b"score,coin", b"#", b",,,", b"\x00", b'"')))
    return b"\n".join(lines)


# headers --------------------------------------------------------------------------------------------------------------


def _npy(raw: bytes, chance: random.Random) -> bytes:
    """A field of the header, its version, its length, or the data."""
    size = struct.unpack("<H", raw[8:10])[0]
    fields, body = ast.literal_eval(raw[10 : 10 + size].decode()), raw[10 + size :]
    how = chance.random()
    if how < 0.3:
        body = bytes(chance.choice((0, 255, 127, 240, chance.randrange(256))) for _ in range(8)) * (len(body) // 8)
    texts = {name: repr(value) for name, value in fields.items()}
    if 0.3 <= how < 0.55:
        texts["descr"] = chance.choice((repr(chance.choice(DTYPES)), "[('a', '<f8')]", "None", "{}", "('<f8', (2,))"))
    elif how < 0.8:
        texts["shape"] = chance.choice(SHAPES)
    elif how < 0.85:
        texts["fortran_order"] = chance.choice(("True", "1", "None"))
    elif how < 0.9:
        texts.pop(chance.choice(list(texts)))
    elif how < 0.95:
        texts[chance.choice(("x", "shape "))] = "0"
    header = "{" + ", ".join(f"{name!r}: {text}" for name, text in texts.items()) + "}\n"
    version = chance.choice((b"\x01\x00",) * 8 + (b"\x02\x00", b"\x03\x00", b"\x09\x00"))
    width = "<H" if version == b"\x01\x00" else "<I"
    length = chance.choice((len(header),) * 8 + (len(header) - 3, 65535, 0))
    return b"\x93NUMPY" + version + struct.pack(width, length) + header.encode() + body


def _idx(raw: bytes, chance: random.Random) -> bytes:
    """A number of the header, with or without the bytes that it asks for."""
    at = chance.choice((2, 3, 4, 8, 12))
    if at < 4:
        return raw[:at] + bytes([chance.choice((0, 1, 2, 3, 8, 9, 13, 14, 65, 255))]) + raw[at + 1 :]
    number = struct.pack(">I", chance.choice((0, 1, 2, 4, 5, 20, 100, 2**16, 2**31, 2**32 - 1)))
    return raw[:at] + number + raw[at + 4 :] + bytes(100) * chance.choice((0, 0, 1, 4))


def _compressed(raw: bytes, chance: random.Random) -> bytes:
    """What is inside, compressed again; two files in one; something behind it; very much of nothing."""
    how = chance.random()
    if how < 0.8:
        return gzip.compress(changed_bytes(gzip.decompress(raw), chance), 1, mtime=0)
    if how < 0.9:
        return raw + raw
    return raw + b"\x00" * chance.choice((1, 512)) if how < 0.9995 else bomb()


@lru_cache(maxsize=1)
def bomb() -> bytes:
    """256 MiB of zeros in a quarter of one."""
    return gzip.compress(bytes(2**28), 9, mtime=0)


def _words(raw: bytes, chance: random.Random) -> bytes:
    """One word of several, in the parts that its marks separate."""
    parts = re.split(rb"([:/@., ])", raw)
    at = chance.randrange(len(parts))
    odd = (
        b"",
        b"os",
        b"..",
        b"/",
        b"\x1b[2J",
        b":",
        b"nan",
        b"1e-320",
        b"9" * 30,
        b"\xff",
        b"*",
        b"'",
        b"__class__",
        b"0",
    )
    parts[at] = chance.choice((*odd, parts[chance.randrange(len(parts))]))
    return b"".join(parts)


FORMS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "json": _json, "jsonl": _jsonl, "toml": _toml, "csv": _table, "txt": _table, "data": _table, "npy": _npy,
    "idx": _idx, "gz": _compressed, "words": _words,
}  # fmt: skip
