"""Rows of the catalogue while their algorithm has a planted bug of tests/bugs."""

from contextlib import contextmanager

from source_bugs import read_patches

from dpassay.audit.certify.catalogue import certify_instance
from dpassay.audit.mutate import planted
from dpassay.audit.mutate.lent import lent, limited, source
from dpassay.audit.mutate.operators import Operator, Site
from dpassay.reference.accounting.cost import account
from dpassay.reference.catalogue import find

BUGS = {bug.name: bug for bug in read_patches()}
SECONDS = 120.0


@contextmanager
def in_place(bug, monkeypatch):
    """The living functions have the bug."""
    text = source(bug.file)
    first = text.index(bug.old)
    differ = (number for number, (a, b) in enumerate(zip(bug.old, bug.new, strict=False)) if a != b)
    same = next(differ, len(bug.old) - 1)  # what is only added follows the last character
    line = text[: first + same].count("\n") + 1
    total = planted._total
    monkeypatch.setattr(
        planted, "_total", lambda one, depth: one.sum() if hasattr(one, "assumed") else total(one, depth)
    )
    with (
        lent(bug.file, Site(Operator("planted", True, ""), line, first, first + len(bug.old), bug.new)),
        limited(SECONDS),
    ):
        yield


def certified(key):
    """A row's claim, its certificate, and what is accounted, as the code is now."""
    (case,) = find(key)
    instance = case.build()
    transcript = instance.longest_run()[0]
    found = certify_instance(instance, case.claim, transcript, case.unreached)
    return case, found, account(transcript, case.claim.relation).epsilon(case.claim.delta)
