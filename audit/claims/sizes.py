"""A name of the catalogue at sizes of one's own: its space with these alone, searched and audited like own code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

from dpassay.audit.assaying.scarce import Thrift
from dpassay.audit.row import Effort, Row
from dpassay.audit.subjects.own import row_of
from dpassay.reference.case import Case, PrivacyClaim
from dpassay.reference.errors import BadInput, require
from dpassay.reference.space import Space


def space_at(case: Case, sizes: Mapping[str, int]) -> Space:
    """The space of a case with these sizes; those that are not named keep the values that are tried.

    A case knows which of the sizes that it tries go together. Where all are named, its schedule is asked instead.

    Raises:
        BadInput: the case knows no such size, or has no schedule for them.
    """
    if case.space is None:
        raise BadInput("sizes", dict(sizes), f"{case.key} has one pair of neighbours and no other sizes")
    space = case.space()
    for name in sizes:
        require(name in space.sizes, f"sizes.{name}", sizes[name], f"{case.key} has the sizes {', '.join(space.sizes)}")
    at = replace(space, sizes={**space.sizes, **{name: (value,) for name, value in sizes.items()}})
    if len(sizes) == len(space.sizes):
        at = replace(at, fits=lambda _: True)
        try:
            if at.schedule:
                at.schedule(sizes)
        except Exception as error:  # of a schedule that was written for other sizes
            raise BadInput("sizes", dict(sizes), f"{case.key} has no schedule for them: {error}") from None
        return at
    every = (dict(zip(at.sizes, values, strict=True)) for values in product(*at.sizes.values()))
    why = f"go with none of the other sizes that {case.key} tries: name all of {', '.join(space.sizes)}"
    require(any(at.fits(one) for one in every), "sizes", dict(sizes), why)
    return at


def row_at(
    case: Case, sizes: Mapping[str, int], stated: PrivacyClaim, effort: Effort, thrift: Thrift | None = None
) -> Row:
    """The audit of a case at these sizes, on the worst neighbours that the search finds there.

    Raises:
        BadInput: as :func:`space_at`.
    """
    instance, where = case.build(), space_at(case, sizes)
    run = instance.mechanism if where.schedule is None else instance.run
    row, _ = row_of(case.key, run, where, "", stated, effort, thrift)
    told = ", ".join(f"{name} = {value}" for name, value in sizes.items())
    return replace(row, algorithm=case.id, variant=case.variant, reading=case.reading, data=told)
