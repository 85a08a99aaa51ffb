"""Damage to documents (JSON, lines of JSON, TOML): by their values, and by how they are written.

A value becomes a hostile one, or a neighbour of itself; subtrees go, come twice, change places. In the text keys come
twice, numbers are written as no writer of ours does, and brackets nest. One input in three is no chance: `hostile` puts
each hostile value at each place of a document, in order.
"""

from __future__ import annotations

import copy
import json
import math
import random
import re
import tomllib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400,
    1e308, -1e308, 5e-324, -0.0, 1e999, "", "nan", "infinity",
    "-infinity", "x" * 5000, "\x1b[2J", "\u202e", "\ud800", "\x00", "../../../etc/passwd", "/etc/passwd",
    "/dev/zero", "<script>alert(1)</script>", "]]>", "::error::x", "| a `b` |", "os:system", "%s%n{0}", "\u2028",
    "=1+1", "a\nb", [], [1], [[1], [1, 2]], [[]], {}, {"": 0}, {"class": "os.system"}, [None] * 300, [[[[1.0]]]],
    [[0.5]] * 40, {"a": {"a": {"a": {}}}}, "linked.csv", "loop.csv", "~/x.csv", "n" * 300, "\\\\host\\x",
    "x/../../y.csv",
)  # fmt: skip
LITERALS = (
    "1e999", "-1E+400", "NaN", "Infinity", "-Infinity", "nan", "01", "1.", ".5", "+1", "0x10", "1_000", "'a'", "-",
    "--1", "9" * 4301, "9" * 400 + "e-400", "0." + "3" * 5000, "1e-999", "true1", "nul", "\\u0000", "1979-05-27",
    "\x00",
)  # fmt: skip
_KEY, _NUMBER = re.compile(r'\{\s*("(?:[^"\\]|\\.)*")\s*:'), re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


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


def hostile(raw: bytes, form: str, number: int) -> bytes | None:
    """The document with the next hostile value at the next place; ``None`` when every place has had every value."""
    every, read, write = _walked(raw, form)
    place, value = divmod(number, len(HOSTILE))
    if place >= len(every):
        return None
    document = read()
    _at(document, every[place][:-1])[every[place][-1]] = HOSTILE[value]
    return write(document).encode("utf-8", "surrogatepass")


@lru_cache(maxsize=8)
def _walked(raw: bytes, form: str) -> tuple[list[Any], Callable[[], Any], Callable[[Any], str]]:
    """Places below the top; how the document is read, and written. Of lines of JSON the first that is a container."""
    if form == "toml":
        text = raw.decode()
        return places(tomllib.loads(text))[1:], lambda: tomllib.loads(text), toml_text
    if form == "jsonl":
        lines = raw.decode().split("\n")
        at = next((k for k, line in enumerate(lines) if line[:1] in ("{", "[")), 0)
        head, tail = "".join(f"{line}\n" for line in lines[:at]), "".join(f"\n{line}" for line in lines[at + 1 :])
        return (
            places(json.loads(lines[at]))[1:],
            lambda: json.loads(lines[at]),
            lambda one: head + json.dumps(one) + tail,
        )
    return (places(json.loads(raw))[1:], lambda: json.loads(raw), json.dumps) if form == "json" else ([], dict, str)


def changed_json(raw: bytes, chance: random.Random) -> bytes:
    """By a value, or one time in eight by how it is written."""
    document = json.loads(raw)
    if chance.random() < 0.875:
        document = changed_value(document, chance)
        return json.dumps(document).encode("utf-8", "surrogatepass")
    return written_oddly(json.dumps(document), chance).encode("utf-8", "surrogatepass")


def written_oddly(text: str, chance: random.Random) -> str:
    """A key twice, a number that no writer writes, brackets without end, a comma too many, single quotes."""
    how, start = chance.randrange(6), chance.randrange(len(text) + 1)
    key = _KEY.search(text, start) or _KEY.search(text)
    if how < 2 and key is not None:
        value = json.dumps(chance.choice(HOSTILE))
        return f"{text[: key.start()]}{{{key[1]}: {value}, {text[key.start() + 1 :]}"
    number = _NUMBER.search(text, start) or _NUMBER.search(text)
    if how < 4 and number is not None:
        return text[: number.start()] + chance.choice(LITERALS) + text[number.end() :]
    if how == 4 and number is not None:
        deep, (left, right) = chance.choice((1, 40, 990, 5000, 100_000)), chance.choice((("[", "]"), ('{"a":', "}")))
        return text[: number.start()] + left * deep + "1" + right * chance.choice((deep, 0)) + text[number.end() :]
    return chance.choice((text.replace("}", ",}", 1), text.replace('"', "'"), text + text, f"[{text}]", f"/**/{text}"))


def changed_lines(raw: bytes, chance: random.Random) -> bytes:
    """One line, or the order of lines."""
    lines = raw.split(b"\n")
    at = chance.randrange(len(lines))
    how = chance.random()
    if how < 0.75:
        lines[at] = changed_json(lines[at], chance)
    elif how < 0.85:
        del lines[at]
    else:
        lines.insert(chance.randrange(len(lines) + 1), lines[at])
    return b"\n".join(lines)


def changed_toml(raw: bytes, chance: random.Random) -> bytes:
    """By a value, or one time in eight by a line that comes twice or is written oddly."""
    if chance.random() < 0.125:
        lines = raw.decode().split("\n")
        at = chance.randrange(len(lines))
        lines.insert(at, chance.choice((lines[at], _NUMBER.sub(lambda _: chance.choice(LITERALS), lines[at]))))
        return "\n".join(lines).encode()
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
