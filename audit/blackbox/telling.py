"""What gave a claim away, for a person: an event of one column where one shows it, else of the deciding score.

All counts are those of the judged part of the outputs, so they are what the verdict rests on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.audit.evidence.events import Event, judge_event, shown
from dpassay.audit.plain import rounded
from dpassay.reference.arrays import Array
from dpassay.reference.errors import printable
from dpassay.reference.guarantee import LARGEST

from .columns import HUGE
from .learner import Candidate
from .repeats import row_hashes
from .table import Column, Origin, Tables

SIDES = ("on D", "on D'")
SHOWS = 1e-3  # p-value below which the event of a column is called what gave the claim away
LONGEST = 160  # characters of an output that is shown


@dataclass(frozen=True)
class Telling:
    """An event, how often it happened on D and on D', and how often the claim lets it happen where it did more."""

    words: str
    column: Column | None  # that the event is about; None: a learned score
    hits: tuple[int, int]
    of: tuple[int, int]
    against: tuple[float, float] | None = None  # the pair (epsilon, delta) of the claim that it was held to
    side: int = 1  # where it happens more often than the claim allows: 0 is D, 1 is D'

    @property
    def allowed(self) -> float | None:
        """Share that the claim allows on that side, given the share on the other; None for repeated outputs."""
        if self.against is None:
            return None
        epsilon, delta = self.against
        other = self.hits[1 - self.side] / self.of[1 - self.side]
        return float(min(1.0, np.exp(min(epsilon, LARGEST)) * other + delta))

    @property
    def evidence(self) -> dict[str, object]:
        """For a JSON report."""
        found: dict[str, object] = {"event": self.words, "hits": self.hits, "of": self.of}
        found["column"] = None if self.column is None else self.column.name
        if self.against is not None:
            found |= {"against_epsilon": self.against[0], "against_delta": self.against[1]}
            found |= {"allowed_share": self.allowed, "allowed_on": SIDES[self.side]}
        return found

    @property
    def statement(self) -> str:
        """For a terminal."""
        on = [f"{hits:,} of {of:,} {side}" for hits, of, side in zip(self.hits, self.of, SIDES, strict=True)]
        allowed = ""
        if self.allowed is not None:
            allowed = f"; the claim allows {self.allowed * self.of[self.side]:,.0f} {SIDES[self.side]}"
        return f"{self.words} ({', '.join(on)}{allowed})"


def of_event(one: Candidate, test: Sequence[Array], texts: Mapping[float, str]) -> Telling:
    """The event of a candidate on the judged part."""
    event, side = one.event.oriented
    hits, of = (event.hits(one.score(test[0])), event.hits(one.score(test[1]))), (len(test[0]), len(test[1]))
    return Telling(in_words(one, event, texts), one.column, hits, of, (event.epsilon, event.delta), side)


def in_words(one: Candidate, event: Event, texts: Mapping[float, str]) -> str:
    """What happens, as a person would say it."""
    if one.column is None:
        return f"{one.name} {event.words}"
    if one.value is None:
        if event.cut <= -HUGE:  # below all numbers
            return f"{one.column} is {'missing' if event.below else 'there'}"
        return f"{one.column} {event.words}"
    equal = "other than" if event.below else "equal to"
    if one.value <= -HUGE:
        return f"{one.column} is {'there' if event.below else 'missing'}"
    coded = one.column.origin.coded
    return f"{one.column} {equal} {texts.get(one.value, 'one text') if coded else shown(one.value)}"


def most_telling(winner: Candidate | None, candidates: Sequence[Candidate], test: Sequence[Array]) -> Candidate | None:
    """The column whose event shows most on the judged part; the deciding score where no column shows it by itself.

    An entry of the outputs comes before what is made of several of them, if it shows nearly as much. None: outputs that
    repeat decided, and no column shows it.
    """
    single = [(one, one.column) for one in candidates if one.column is not None]
    p_values = [judge_event(one.event, one.score(test[0]), one.score(test[1])) for one, _ in single]
    best = min(p_values, default=1.0)
    if best > SHOWS:
        return winner
    alike = [i for i, value in enumerate(p_values) if value <= best**0.5]
    origins = [column.origin for _, column in single]
    entries = [i for i in alike if origins[i] is Origin.VALUE]
    text = [origin is not Origin.TEXT for origin in origins]  # a word says more than its length
    return single[min(entries or alike, key=lambda i: (p_values[i], text[i], -single[i][0].event.promise))][0]


def most_repeated(tables: Tables) -> tuple[Telling, tuple[int, int]]:
    """The exact output whose counts differ most between the sides; and rows with the one that tells most of each side.

    A row is -1 where no output is more frequent on that side.
    """
    n_p, n_q = len(tables.p), len(tables.q)
    both = np.concatenate([row_hashes(tables.p), row_hashes(tables.q)])
    codes, group = np.unique(both, return_inverse=True)
    on_p, on_q = (np.bincount(part, minlength=codes.size) for part in (group[:n_p], group[n_p:]))
    errors = (on_q / n_q - on_p / n_p) / np.sqrt((on_p + on_q + 1.0) / (n_p + n_q))
    best = int(np.abs(errors).argmax())
    of_p = np.flatnonzero(group[:n_p] == errors.argmin()) if errors.min() < 0 else np.zeros(0, dtype=int)
    of_q = np.flatnonzero(group[n_p:] == errors.argmax()) if errors.max() > 0 else np.zeros(0, dtype=int)
    rows = (int(of_p[0]) if of_p.size else -1, int(of_q[0]) if of_q.size else -1)
    row = int(np.flatnonzero(group == best)[0])
    single = tables.p.shape[1] == 1
    value = tables.p[row, 0] if row < n_p else tables.q[row - n_p, 0]
    words = f"{tables.columns[0]} equal to {value:.6g}" if single else "one exact output"
    counts = (int(on_p[best]), int(on_q[best]))
    return Telling(words, tables.columns[0] if single else None, counts, (n_p, n_q)), rows


def shortened(output: Any, entry: str = "") -> str:
    """An output on one line; of one that is too long the beginning, after the entry that gave it away."""
    plain = output.tolist() if isinstance(output, np.ndarray | np.generic) else output
    text = printable(f'"{plain}"' if isinstance(plain, str) else repr(plain))
    if len(text) <= LONGEST:
        return text
    room = (LONGEST if not entry else LONGEST // 4) - 3
    if isinstance(plain, list):  # whole numbers with few digits say more than the many digits of one
        text = printable(repr(rounded(plain[:room], 4)))
        if len(text) <= room:
            return f"{entry}{text}"
        room = max(text.rfind(", ", 0, room) + 2, 1)
    return f"{entry}{text[:room]}..."
