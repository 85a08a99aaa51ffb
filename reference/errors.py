"""The one error for bad input: it names the field and the value and says why, on one line."""

from __future__ import annotations

from pathlib import PurePath


class BadInput(ValueError):
    """A parameter, a record or a file that cannot be used; a ``ValueError`` whose text is one line.

    Args:
        field: what is wrong, as the user wrote it (``epsilon``, ``claims.json: claims[2].delta``).
        value: the offending value.
        why: what would have been right.

    Raises:
        Nothing itself; every function of the project raises it for bad input, and the command line exits 2.

    Example:
        >>> from dpassay.reference import BadInput
        >>> print(BadInput("delta", 2, "must lie in (0, 1)"))
        delta = 2: must lie in (0, 1)

    Source: the project's own.
    """

    def __init__(self, field: str, value: object, why: str):
        self.field, self.value, self.why = field, value, why
        super().__init__(f"{printable(field)} = {_short(value)}: {printable(why)}")

    def __reduce__(self) -> tuple[type[BadInput], tuple[str, object, str]]:
        """Errors of workers come back whole; a value that is not plain comes back as its text."""
        plain = isinstance(self.value, str | int | float | bool | None)
        return BadInput, (self.field, self.value if plain else repr(self.value), self.why)


class Broken(RuntimeError):
    """An entry of the catalogue, or an audited algorithm, that raises an error: not the user's input, but code."""

    @classmethod
    def at(cls, name: str, error: BaseException) -> Broken:
        """In one line: which entry, what it raised, and the innermost line of source."""
        place = ""
        trace = error.__traceback__
        while trace is not None:
            place = f" ({PurePath(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})"
            trace = trace.tb_next
        return cls(printable(f"{name}: {type(error).__name__}: {error}{place}"))


def printable(text: str) -> str:
    """The text on one line, with control characters of foreign names spelled out: they could command a terminal."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in " ".join(text.split()))


def _short(value: object) -> str:
    if isinstance(value, list):  # of paths: their class is of no use
        value = [str(one) if isinstance(one, PurePath) else one for one in value]
    text = " ".join(repr(str(value) if isinstance(value, PurePath) else value).split())
    longest = 300 if isinstance(value, str) else 80  # a path is only of use whole
    return text if len(text) <= longest else text[: longest - 3] + "..."


def require(condition: bool, field: str, value: object, why: str) -> None:
    """Raise :class:`BadInput` unless ``condition`` holds."""
    if not condition:
        raise BadInput(field, value, why)


def require_at_least(least: int, record: object, *fields: str) -> None:
    """Each of these fields of ``record`` is ``least`` or more."""
    for field in fields:
        value = getattr(record, field)
        require(value >= least, field, value, "must not be negative" if least == 0 else f"must be at least {least}")


def require_positive(record: object, *fields: str, finite: bool = False) -> None:
    """Each of these fields of ``record`` is above zero, and perhaps finite."""
    for field in fields:
        value = getattr(record, field)
        good = 0 < value < float("inf") if finite else value > 0
        require(good, field, value, "must be positive and finite" if finite else "must be positive")


PURE = "must be above 0: hold a pure claim to a delta next to it, say 1e-12"


def require_budget(epsilon: float, delta: float, *, pure: bool = False) -> None:
    """A privacy budget that means something: ``0 < epsilon < inf`` and ``0 < delta < 1`` (``0 <=`` if ``pure``)."""
    require(0 < epsilon < float("inf"), "epsilon", epsilon, "must be positive and finite")
    require((delta >= 0 if pure else delta > 0) and delta < 1, "delta", delta, "must lie in (0, 1)")
