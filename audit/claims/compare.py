"""A check held against the lock file: what is worse, with old and new value and the likely cause; what merely is new.

Nothing here draws anything: two checks are compared. The one comparison of statistics asks whether a lower bound lies
above the interval that the lock holds. The lower bound has the confidence of the file; the upper end of the interval is
an estimate by the normal law: at 95 % it lay below the truth in 8 % of 600 audits that stopped at 90 % of the bound
(`tests/audit/likelihood/test_likelihood.py`), so a red row that rests on it says so.
"""

import difflib
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dpassay.audit.plain import number, rounded
from dpassay.audit.row import Row
from dpassay.audit.verdict import Verdict
from dpassay.audit.version import installed_version

from .audited import resolve
from .lock import DIGITS, Block, Lock, Released, block_of, lock_text, of_another_version
from .model import ClaimsFile
from .reached import lines_of

ROUNDING = 1e-5  # relative: beyond the digits that a lock keeps
_EXACT = ("exact", "replay")  # what shows a bound without drawing anything
_LESS = 0.999  # an account that is smaller by more than this explains that less is realised
ESTIMATED = " (an estimate: at 95 % it was too low in 8 % of audits)"
_SPANS = {  # fields of a release that are numbers: in words, and what a larger and a smaller one mean
    "scale": ("noise scale", "more noise", "less noise"),
    "sensitivity": (
        "declared sensitivity",
        "the query is said to move further",
        "the query is said to move less: is the clip smaller?",
    ),
}
_NEVER = re.compile(r" \(never (true|false)\)$")
_WORDS = {"law": "law", "count": "number of releases", "participation": "participation"}


@dataclass(frozen=True)
class Change:
    """One thing that differs from the lock, in words."""

    claim: str
    what: str
    old: str
    new: str
    cause: str = ""  # the likely one
    fails: bool = True  # otherwise it is only said

    def __str__(self) -> str:
        return f"{self.claim}: {self.text}"

    @property
    def text(self) -> str:
        """Without the claim's name."""
        return f"{self.what}: {self.old} -> {self.new}" + (f" ({self.cause})" if self.cause else "")


# -- a whole file ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Compared:
    """What a check says beside the lock."""

    changes: tuple[Change, ...]  # in the order of the claims
    now: Lock  # as it would be written
    diff: tuple[str, ...]  # to that, as lines; empty if they are the same

    def failing(self, file: ClaimsFile) -> list[Change]:
        """The changes that make the check fail: not those of claims that are warnings."""
        mild = {one.name for one in file.claim if one.severity == "warning"}
        return [one for one in self.changes if one.fails and (one.claim not in mild or one.what == "severity")]


def against(path: Path, old: Lock | None, file: ClaimsFile, rows: Mapping[int, Row]) -> Compared:
    """The lock in this file, if there is one yet, and what was checked, by position; other claims' blocks stay."""
    known = dict(old.claims) if old else {}
    blocks: dict[str, Block] = {}
    changes: list[Change] = []
    for place, claim in enumerate(file.claim):
        name, before = claim.name, known.pop(claim.name, None)
        if place in rows:
            subject = resolve(claim)
            mechanism = f"{claim.program} ({subject.key})" if claim.program else subject.key
            blocks[name] = now = block_of(rows[place], mechanism, claim.space or "")
            if before is not None:
                fresh = not set(now.missed) <= set(before.missed)
                source = lines_of(subject) if fresh else frozenset[str]()
                found = compare(name, before, now, source)
                other = of_another_version(old.dpassay if old else "")
                changes += [replace(one, cause="; ".join(filter(None, (one.cause, other)))) for one in found]
            elif old is not None:
                new = ("not in the lock", "in the claims file", "a new claim: --update", False)
                changes.append(Change(name, "claim", *new))
        elif before is not None:
            blocks[name] = before
    gone = ("in the lock", "no longer in the claims file", "deleted or renamed")
    changes += [Change(name, "claim", *gone) for name in known]
    lock = Lock(dpassay=installed_version(), confidence=rounded(file.confidence, DIGITS), claims=blocks)
    known_text, new_text = (lock_text(one).splitlines() if one else [] for one in (old, lock))
    diff = difflib.unified_diff(known_text, new_text, f"a/{path.as_posix()}", f"b/{path.as_posix()}", lineterm="", n=1)
    return Compared(tuple(changes), lock, tuple(diff))


def with_changes(row: Row, changes: Sequence[Change]) -> Row:
    """The row with what is worse than in the lock."""
    return replace(row, changes=[one.text for one in changes if one.claim == row.claim])


# -- one claim: each rule gives what differs, old, new, the cause, and perhaps that it does not fail ---------------
Told = Iterator[tuple[str, str, str, str] | tuple[str, str, str, str, bool]]


def compare(name: str, old: Block, new: Block, source: Collection[str]) -> list[Change]:
    """All that differs for one claim; a line of the lock that is not in the algorithm's source any more was edited."""
    found = [one for rule in (_claim, _verdict_and_account, _realised, _releases) for one in rule(old, new)]
    return [Change(name, *one) for one in [*found, *_missed(old, new, source), *_power(old, new)]]


def _claim(old: Block, new: Block) -> Told:
    """What is claimed: anything that is less than before."""
    for field in ("mechanism", "space", "relation"):
        before, now = getattr(old, field) or "none", getattr(new, field) or "none"
        if before != now:
            yield field, before, now, "the claims file says something else"
    before, now = ("({:g}, {:g})".format(*block.claimed) for block in (old, new))
    if any(less > more for less, more in zip(new.claimed, old.claimed, strict=True)):
        yield "claimed", before, now, "less is claimed than before"
    elif old.claimed != new.claimed:
        yield "claimed", before, now, "more is claimed than before", False
    if (old.severity, new.severity) == ("error", "warning"):
        yield "severity", "error", "warning", "its failure no longer counts"


def _verdict_and_account(old: Block, new: Block) -> Told:
    if old.verdict != new.verdict and Verdict(new.verdict).failed:
        yield "verdict", old.verdict, new.verdict, ""

    before, now = _numbers(old, new, "accounted")
    if now > before * (1 + ROUNDING):
        yield "accounted epsilon rises", number(before, now), number(now, before), "; ".join(_spending(old, new))


def _realised(old: Block, new: Block) -> Told:
    """The new lower bound lies above the interval of the lock.

    On other neighbours the old code may have realised as much: then the interval ends where it was accounted. A lower
    bound without an upper end is only held to its claim, unless it is exact.
    """
    same = old.pair == new.pair
    before, now = _numbers(old, new, "realised")
    _, limit = _numbers(new, old, "limit" if same else "accounted")
    high = before if math.isnan(limit) else max(before, limit)
    if now > high * (1 + ROUNDING) and (not math.isnan(limit) or old.by in _EXACT):
        reasons = list(_spending(old, new))
        reasons += [f"shown by {new.by}, before by {old.by}"] if old.by != new.by else []
        reasons = reasons or ["the releases are the same: the data move the queries further than before"]
        interval = f"[{number(before)}, {number(high, now)}{ESTIMATED if same and not math.isnan(limit) else ''}]"
        yield "realised epsilon rises beyond its interval", interval, number(now, high), "; ".join(reasons)


def _numbers(old: Block, new: Block, field: str) -> tuple[float, float]:
    """Old and new; NaN, which is above nothing, where either has none, or the claim is another one."""
    one, other = getattr(old, field), getattr(new, field)
    if one is None or other is None or old.claimed != new.claimed:
        return math.nan, math.nan
    return float(one), float(other)


def _releases(old: Block, new: Block) -> Told:
    known, now = (_by_label(block) for block in (old, new))
    found = [one for label, release in known.items() if label in now for one in _release(release, now[label])]
    if old.sequence != new.sequence and (known or now):
        cause = "; ".join(_spending(old, new))
        if len(known) == len(now) and [_bare(one) for one in old.releases] == [_bare(one) for one in new.releases]:
            cause = "the same laws, scales and sensitivities under other labels: renamed?"
        for label in known.keys() ^ now.keys():
            before, after = ("released" if label in block else "not released" for block in (known, now))
            found.append((f"release {label!r}", before, after, cause))
        if not found:
            cause = "the same releases in another order, or one more or less often"
            found.append(("sequence of releases", old.sequence, new.sequence, cause))
        found.sort(key=lambda one: one[0])
    yield from found


def _release(old: Released, new: Released) -> Told:
    for field, (what, more, less) in _SPANS.items():
        before, now = _span(old, field), _span(new, field)
        texts = ["none" if not one else f"{one[0]:.6g}" if one[0] == one[1] else f"{one[0]:.6g} to {one[1]:.6g}"
                 for one in (before, now)]  # fmt: skip
        if not (before and now):
            if before != now:
                yield f"{what} of {new.label!r}", texts[0], texts[1], "declared on one side only"
        elif any(abs(a - b) > ROUNDING * max(abs(a), abs(b)) for a, b in zip(before, now, strict=True)):
            yield f"{what} of {new.label!r}", texts[0], texts[1], less if now[0] < before[0] else more
    for field, what in _WORDS.items():
        if getattr(old, field) != getattr(new, field):
            yield f"{what} of {new.label!r}", str(getattr(old, field)), str(getattr(new, field)), ""


def _missed(old: Block, new: Block, source: Collection[str]) -> Told:
    """Lines that are reached no more. An edited line may have been missed before, under its old text."""
    fresh = [text for text in new.missed if text not in old.missed]
    gone = (text for text in old.missed if text not in new.missed)
    edited = [text for text in gone if _NEVER.sub("", text.partition(": ")[2]) not in source]
    before = f"{len(old.missed)} of them unreached" if old.missed else "all reached"
    cause = "another space" if old.space != new.space else ""
    cause = "fewer examples than before" if _fewer(old, new, "examples") else cause
    for one in fresh if len(fresh) > len(edited) else ():
        yield "a line with a release or a decision is not reached", before, one, cause


def _power(old: Block, new: Block) -> Told:
    for part in ("runs", "pilot", "examples"):
        if _fewer(old, new, part):
            asked, asks = (str(block.effort.get(part, 0)) for block in (old, new))
            yield f"effort ({part})", asked, asks, "the claims file asks for less"
    if Verdict(new.verdict).failed:  # no statistics were made, or they have succeeded
        return
    more = [one.label for one, other in _both(old, new) if _span(other, "scale")[0] > _span(one, "scale")[0]]
    cause = f"more noise at {', '.join(map(repr, more))}" if more else ""
    cause = new.by if new.by and new.realised is None else cause
    cause = "fewer runs than before" if _fewer(old, new, "runs") else cause
    decided = old.verdict in (Verdict.TIGHT.value, Verdict.CONSISTENT.value)
    if decided and new.verdict == Verdict.INCONCLUSIVE.value:
        yield "the audit lost power: verdict", old.verdict, new.verdict, cause
        return
    accounted, now = _numbers(old, new, "accounted")
    seen, _ = _numbers(old, new, "realised")
    high, _ = _numbers(new, new, "limit")
    if old.pair == new.pair and high < seen and not now < accounted * _LESS:
        what = "the audit lost power: it shows less, though no less is accounted"
        yield what, f">= {number(seen, high)}", f"<= {number(high, seen)}", cause


def _spending(old: Block, new: Block) -> Iterator[str]:
    """What costs more than before."""
    for one, other in _both(old, new):
        if _span(other, "scale")[0] < _span(one, "scale")[0] * (1 - 1e-6):
            yield f"less noise at {one.label!r}"
        if (_span(other, "sensitivity") or (0.0,))[-1] > (_span(one, "sensitivity") or (0.0,))[-1] * (1 + 1e-6):
            yield f"a larger sensitivity at {one.label!r}"
        if other.count > one.count:
            yield f"{one.label!r} is released {other.count} times, before {one.count}"
        if one.participation != other.participation:
            yield f"{one.label!r}: {other.participation}, before {one.participation}"
    known = _by_label(old)
    fresh = [one.label for one in new.releases if one.label not in known]
    if fresh:
        yield f"new release{'s' * (len(fresh) > 1)} {', '.join(map(repr, fresh))}"


def _fewer(old: Block, new: Block, part: str) -> bool:
    return new.effort.get(part, 0) < old.effort.get(part, 0)


def _by_label(block: Block) -> dict[str, Released]:
    return {one.label: one for one in block.releases}


def _both(old: Block, new: Block) -> list[tuple[Released, Released]]:
    now = _by_label(new)
    return [(one, now[one.label]) for one in old.releases if one.label in now]


def _span(one: Released, field: str) -> tuple[float, ...]:
    """The least and the largest value of a field; empty where there is none."""
    value = getattr(one, field)
    return () if value is None else (value[0], value[-1]) if isinstance(value, list) else (value, value)


def _bare(one: Released) -> Released:
    return one.model_copy(update={"label": ""})
