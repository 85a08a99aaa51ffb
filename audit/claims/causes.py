"""Causes of what differs from the lock: read off the releases, which say what was done; empty where they do not say."""

from __future__ import annotations

from collections.abc import Iterator

from .lock import Block, Released


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
