"""How `fuzz.py` damages a valid file: by what the file is made of, so that many inputs come past the first check.

JSON and TOML: see `fuzz_documents.py`. Tables: cells and lines. `.npy` and IDX: the fields of the header. Stores:
pages, and rows with digests that fit. Compressed files: what is inside. All of them sometimes, and all others always:
bytes flipped, cut, doubled, moved, overwritten; the text in another encoding.
"""

from __future__ import annotations

import ast
import gzip
import random
import re
import struct
import zlib
from collections.abc import Callable
from functools import lru_cache

from fuzz_documents import changed_json, changed_lines, changed_toml

LARGEST = 2**20  # bytes of an input
UNFIT = (ValueError, RecursionError, SyntaxError, LookupError, TypeError, AttributeError, OverflowError, OSError,
         EOFError, MemoryError, struct.error, zlib.error)  # fmt: skip
TOKENS = (
    b"\x00", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\r\n", b"\x1b[2J", b"nan", b"inf", b"1e999", b"-", b"9" * 400,
    b"9" * 5000, b",", b'"', b"[" * 2000, b"{'a':" * 1500,
    b"{", b"#", b"\xe2\x80\xa8", b"\xed\xa0\x80", b"PK\x03\x04", b"'", b'"""', b"1_0", b"07:32:00", b"9999-99-99",
    b"= ", b"[[claim]]\n", b":", b"\xef\xbb\xbf", b"0x1", b"True", b"../", b"\x1f\x8b\x08", b"MODULE:NAME",
)  # fmt: skip
CELLS = (
    "", "nan", "inf", "-inf", "1e999", "-0", "1e-400", "0x1", "x", "1 2", "1,2", '"1"', "9" * 400, "\x1b", "٣", "1_0",
    "1,5",
)  # fmt: skip
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
    how = chance.randrange(8)
    if how == 0 and raw:
        at = min(at, len(raw) - 1)
        return raw[:at] + bytes([raw[at] ^ (1 << chance.randrange(8))]) + raw[at + 1 :]
    if how == 1:
        return raw[:at]
    if how == 2:
        return raw[:at] + raw[other:]
    if how == 3:
        return raw[:other] + raw[at:other] * chance.choice((1, 3, 40)) + raw[other:]
    if how == 7:
        return encoded(raw, chance)
    token = chance.choice(TOKENS)
    if how == 4:
        return raw[:at] + token + raw[at + len(token) :]
    if how == 5:
        return raw[:at] + bytes(chance.randrange(256) for _ in range(chance.randrange(1, 9))) + raw[at:]
    return raw[:at] + token + raw[at:]


def encoded(raw: bytes, chance: random.Random) -> bytes:
    """The same text in another encoding, with a mark of byte order, or with a letter that is none."""
    at, how = chance.randrange(len(raw) + 1), chance.randrange(5)
    if how == 0:
        return b"\xef\xbb\xbf" + raw
    if how == 1:
        return raw[:at] + chance.choice((b"\xe9", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf8\x88", b"\xe2\x80")) + raw[at:]
    name = ("utf-16", "utf-32", "utf-7")[how - 2]
    return raw.decode("utf-8", "replace").encode(name)


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
    if len(raw) > 2**16:  # the one of zeros
        return raw
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
    "json": changed_json, "jsonl": changed_lines, "toml": changed_toml, "csv": _table, "txt": _table, "data": _table,
    "npy": _npy,
    "idx": _idx, "gz": _compressed, "words": _words,
}  # fmt: skip
