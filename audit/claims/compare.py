"""What is worse than in the lock, with old and new value and the likely cause; and what merely is new.

Nothing here draws anything: two checks are compared. The one comparison of statistics asks whether a lower bound lies
above the interval that the lock holds. The lower bound has the confidence of the file; the upper end of the interval is
an estimate by the normal law: at 95 % it lay below the truth in 8 % of 600 audits that stopped at 90 % of the bound
(`tests/audit/likelihood/test_stages.py`), so a red row that rests on it says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from dpassay.audit.plain import number
from dpassay.audit.verdict import Verdict

from .lock import Block, Released, size

ROUNDING = 1e-5  # relative: beyond the digits that a lock keeps
_EXACT = ("exact", "replay")  # what shows a bound without drawing anything
_LESS = 0.999  # an account that is smaller by more than this explains that less is realised
ESTIMATED = " (an estimate: at 95 % it was too low in 8 % of audits)"


@dataclass(frozen=True)
class Change:
    """One thing that differs from the lock.

    Args:
        claim: its name.
        what: in a few words.
        old, new: as text.
        cause: the likely one, or empty.
        fails: it makes the check fail; otherwise it is only said.
    """

    claim: str
    what: str
    old: str
    new: str
    cause: str = ""
    fails: bool = True

    def __str__(self) -> str:
        return f"{self.claim}: {self.text}"

    @property
    def text(self) -> str:
        """Without the claim's name."""
        return f"{self.what}: {self.old} -> {self.new}" + (f" ({self.cause})" if self.cause else "")


def compare(name: str, old: Block, new: Block, source: Collection[str]) -> list[Change]:
    """All that differs for one claim.

    Args:
        source: the lines of the algorithm's own files as they are now, stripped: a line of the lock that is not among
            them was edited.
    """
    found = [*_claim(name, old, new), *_verdict(name, old, new), *_account(name, old, new)]
    found += [*_realised(name, old, new), *_releases(name, old, new)]
    return [*found, *_missed(name, old, new, source), *_power(name, old, new)]


def vanished(name: str) -> Change:
    """A claim of the lock that the file no longer has."""
    return Change(name, "claim", "in the lock", "no longer in the claims file", "deleted or renamed")


def added(name: str) -> Change:
    """A claim that the lock does not know yet."""
    return Change(name, "claim", "not in the lock", "in the claims file", "a new claim: --update", fails=False)


def _claim(name: str, old: Block, new: Block) -> list[Change]:
    """What is claimed: anything that is less than before."""
    found = []
    for field in ("mechanism", "space", "relation"):
        before, now = getattr(old, field), getattr(new, field)
        if before != now:
            found.append(Change(name, field, before or "none", now or "none", "the claims file says something else"))
    weaker = any(not any(b[0] <= a[0] and b[1] <= a[1] for b in new.claimed) for a in old.claimed)
    if weaker:
        found.append(Change(name, "claimed", _pairs(old), _pairs(new), "less is claimed than before"))
    elif old.claimed != new.claimed:
        found.append(Change(name, "claimed", _pairs(old), _pairs(new), "more is claimed than before", fails=False))
    if (old.severity, new.severity) == ("error", "warning"):
        found.append(Change(name, "severity", "error", "warning", "its failure no longer counts"))
    return found


def _pairs(block: Block) -> str:
    return ", ".join(f"({epsilon:g}, {delta:g})" for epsilon, delta in block.claimed)


def _verdict(name: str, old: Block, new: Block) -> list[Change]:
    if old.verdict == new.verdict or not Verdict(new.verdict).failed:
        return []
    return [Change(name, "verdict", old.verdict, new.verdict)]


def _account(name: str, old: Block, new: Block) -> list[Change]:
    for before, now, at in _pairwise(old, new, "accounted"):
        if now > before * (1 + ROUNDING):
            what = f"accounted epsilon rises{at}"
            return [Change(name, what, number(before), number(now), of_account(old, new))]
    return []


def _realised(name: str, old: Block, new: Block) -> list[Change]:
    """The new lower bound lies above the interval of the lock.

    On other neighbours the old code may have realised as much: then the interval ends where it was accounted. A lower
    bound from outputs or scores alone has no interval, unless it is exact: such a claim is only held to its claim.
    """
    limits = {at: limit for _, limit, at in _pairwise(new, old, "limit")}
    if old.pair != new.pair:
        limits = {at: accounted for _, accounted, at in _pairwise(new, old, "accounted")}
    exact = old.by in _EXACT
    for before, now, at in _pairwise(old, new, "realised"):
        if at not in limits and not exact:
            continue
        high = max(before, limits.get(at, before))
        if now > high * (1 + ROUNDING):
            estimated = ESTIMATED if old.pair == new.pair and at in limits else ""
            interval = f"[{number(before)}, {number(high)}{estimated}]"
            what = f"realised epsilon rises beyond its interval{at}"
            return [Change(name, what, interval, number(now), of_realised(old, new))]
    return []


def _pairwise(old: Block, new: Block, field: str) -> list[tuple[float, float, str]]:
    """Old and new at the same claimed pairs, and where that is; nothing where the claim is another one."""
    if old.claimed != new.claimed:
        return []
    found = []
    several = len(old.claimed) > 1
    for pair, before, now in zip(old.claimed, getattr(old, field), getattr(new, field), strict=False):
        one, other = size(before), size(now)
        if one is not None and other is not None:
            found.append((one, other, f" (delta {pair[1]:g})" if several else ""))
    return found


def _releases(name: str, old: Block, new: Block) -> list[Change]:
    known, now = ({one.label: one for one in block.releases} for block in (old, new))
    found = []
    for label in [one.label for one in old.releases if one.label in now]:
        found += _release(name, known[label], now[label])
    if not (old.releases or new.releases) or old.sequence == new.sequence:
        return found
    for label in known.keys() - now.keys() | now.keys() - known.keys():
        before, after = ("released" if label in block else "not released" for block in (known, now))
        found.append(Change(name, f"release {label!r}", before, after, of_releases(old, new)))
    if not found:
        cause = "the same releases in another order, or one more or less often"
        found.append(Change(name, "sequence of releases", old.sequence, new.sequence, cause))
    return sorted(found, key=lambda one: one.what)


def _release(name: str, old: Released, new: Released) -> list[Change]:
    found = []
    for field, what in (("scale", "noise scale"), ("sensitivity", "declared sensitivity")):
        before, now = getattr(old, field), getattr(new, field)
        if not _alike(before, now):
            cause = _direction(field, before, now)
            found.append(Change(name, f"{what} of {new.label!r}", _text(before), _text(now), cause))
    for field, what in (("law", "law"), ("count", "number of releases"), ("participation", "participation")):
        before, now = getattr(old, field), getattr(new, field)
        if before != now:
            found.append(Change(name, f"{what} of {new.label!r}", str(before), str(now)))
    return found


def _alike(before: float | list[float] | None, now: float | list[float] | None) -> bool:
    one, other = _ends(before), _ends(now)
    if one is None or other is None:
        return one is other
    return all(abs(a - b) <= ROUNDING * max(abs(a), abs(b)) for a, b in zip(one, other, strict=True))


def _direction(field: str, before: float | list[float] | None, now: float | list[float] | None) -> str:
    one, other = _ends(before), _ends(now)
    if one is None or other is None:
        return "declared on one side only"
    less = other[0] < one[0]
    if field == "scale":
        return "less noise" if less else "more noise"
    return "the query is said to move less: is the clip smaller?" if less else "the query is said to move further"


def _ends(value: float | list[float] | None) -> tuple[float, float] | None:
    if value is None:
        return None
    return (value[0], value[-1]) if isinstance(value, list) else (value, value)


def _text(value: float | list[float] | None) -> str:
    ends = _ends(value)
    if ends is None:
        return "none"
    return f"{ends[0]:.6g}" if ends[0] == ends[1] else f"{ends[0]:.6g} to {ends[1]:.6g}"


def _missed(name: str, old: Block, new: Block, source: Collection[str]) -> list[Change]:
    """Lines that are reached no more. An edited line may have been missed before, under its old text."""
    fresh = [text for text in new.missed if text not in old.missed]
    edited = [text for text in old.missed if text not in new.missed and _line(text) not in source]
    if len(fresh) <= len(edited):
        return []
    return [
        Change(name, "a line with a release or a decision is not reached", _lines(old.missed), one, of_missed(old, new))
        for one in fresh
    ]


def _line(text: str) -> str:
    bare = text.partition(": ")[2]
    for way in (" (never true)", " (never false)"):
        bare = bare.removesuffix(way)
    return bare


def _lines(missed: Sequence[str]) -> str:
    return f"{len(missed)} of them unreached" if missed else "all reached"


def _power(name: str, old: Block, new: Block) -> list[Change]:
    failed = Verdict(new.verdict).failed  # no statistics were made, or they have succeeded
    found = []
    for part in ("runs", "pilot", "examples"):
        asked, asks = old.effort.get(part, 0), new.effort.get(part, 0)
        if asks < asked:
            found.append(Change(name, f"effort ({part})", str(asked), str(asks), "the claims file asks for less"))
    if failed:
        return found
    decided = old.verdict in (Verdict.TIGHT.value, Verdict.CONSISTENT.value)
    if decided and new.verdict == Verdict.INCONCLUSIVE.value:
        found.append(Change(name, "the audit lost power: verdict", old.verdict, new.verdict, of_power(old, new)))
    else:
        less = {at for before, now, at in _pairwise(old, new, "accounted") if now < before * _LESS}
        seen = {at: before for before, _, at in _pairwise(old, new, "realised")}
        for _, high, at in _pairwise(new, new, "limit"):
            if old.pair == new.pair and at in seen and high < seen[at] and at not in less:
                what = f"the audit lost power: it shows less, though no less is accounted{at}"
                found.append(Change(name, what, f">= {number(seen[at])}", f"<= {number(high)}", of_power(old, new)))
    return found


def of_account(old: Block, new: Block) -> str:
    """Why more is accounted."""
    return "; ".join(_spending(old, new))


def of_realised(old: Block, new: Block) -> str:
    """Why more is realised."""
    reasons = list(_spending(old, new))
    if old.by != new.by:
        reasons.append(f"shown by {new.by}, before by {old.by}")
    return "; ".join(reasons) or "the releases are the same: the data move the queries further than before"


def of_releases(old: Block, new: Block) -> str:
    """Why the sequence of releases is another."""
    before, now = ({one.label for one in block.releases} for block in (old, new))
    if len(before) == len(now) and [_bare(one) for one in old.releases] == [_bare(one) for one in new.releases]:
        return "the same laws, scales and sensitivities under other labels: renamed?"
    return "; ".join(_spending(old, new))


def of_missed(old: Block, new: Block) -> str:
    """Why a line is not reached."""
    if new.effort.get("examples", 0) < old.effort.get("examples", 0):
        return "fewer examples than before"
    return "another space" if old.space != new.space else ""


def of_power(old: Block, new: Block) -> str:
    """Why the audit sees less."""
    if new.effort.get("runs", 0) < old.effort.get("runs", 0):
        return "fewer runs than before"
    if all(one is None for one in new.realised) and new.by:
        return new.by
    more = [one.label for one, other in _both(old, new) if _least(other) > _least(one)]
    return f"more noise at {', '.join(map(repr, more))}" if more else ""


def _spending(old: Block, new: Block) -> Iterator[str]:
    """What costs more than before."""
    for one, other in _both(old, new):
        if _least(other) < _least(one) * (1 - 1e-6):
            yield f"less noise at {one.label!r}"
        if _most(other) > _most(one) * (1 + 1e-6):
            yield f"a larger sensitivity at {one.label!r}"
        if other.count > one.count:
            yield f"{one.label!r} is released {other.count} times, before {one.count}"
        if one.participation != other.participation:
            yield f"{one.label!r}: {other.participation}, before {one.participation}"
    known = {one.label for one in old.releases}
    fresh = [one.label for one in new.releases if one.label not in known]
    if fresh:
        yield f"new release{'s' * (len(fresh) > 1)} {', '.join(map(repr, fresh))}"


def _both(old: Block, new: Block) -> list[tuple[Released, Released]]:
    now = {one.label: one for one in new.releases}
    return [(one, now[one.label]) for one in old.releases if one.label in now]


def _least(one: Released) -> float:
    return one.scale[0] if isinstance(one.scale, list) else one.scale


def _most(one: Released) -> float:
    value = one.sensitivity
    return value[-1] if isinstance(value, list) else value or 0.0


def _bare(one: Released) -> Released:
    return one.model_copy(update={"label": ""})
