"""The guard: what every case of the catalogue claims, spends and releases, held against a committed snapshot.

And on its own pair every case shows what it declares, and spends no more than is claimed unless it says so; every
algorithm runs its committed vectors as it did.

Printed readings and baselines keep their noise to 11 digits (bit for bit on one machine: some scales follow iterates,
and the last bits of a matrix product depend on the linear algebra library); repaired ones may move by 5e-4, because
their noise comes out of a root-finding. What the noise costs is held to 10 digits: it is rounded to its safe side.
With another SciPy than the one that the snapshot was written with (its convolutions and special functions round
otherwise) the bounds are wider: costs moved by 1e-8, noise by 3e-11, and noise that follows a step of 1e-8 by 9e-4.
``python tests/reference/test_snapshot.py`` writes the snapshot again: look at its difference before you commit it, and
write each exception into the changelog.
"""

import json
import math
import pickle
from collections import defaultdict
from dataclasses import fields
from functools import cache, partial
from pathlib import Path

import pytest
import scipy
from joblib.externals.loky.backend.reduction import dumps

from dpassay.audit.crosscheck.adapter import answer, judged
from dpassay.audit.crosscheck.making import head
from dpassay.audit.crosscheck.recording import run_again
from dpassay.audit.crosscheck.storage import load
from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Declared, Kind, compare

SNAPSHOT = Path(__file__).with_name("snapshot.json")
SCALES = ("std", "scale", "threshold_scale", "query_scale")
BY_KEY = {case.key: case for case in CASES}
SCIPY = scipy.__version__.rpartition(".")[0]


def spread(values):
    """First, smallest and largest: noise scales may follow the iterates."""
    return [values[0], min(values), max(values)]


@cache
def built(key):
    """Of a copy as a worker gets one: nothing in it may be told by identity."""
    return pickle.loads(dumps(BY_KEY[key])).build()


def scales(law):
    return [getattr(law, name) for name in SCALES if name in {field.name for field in fields(law)}]


@cache
def described(key):
    """What the case is."""
    case, instance = BY_KEY[key], built(key)
    transcript, releases = instance.longest_transcript(), defaultdict(list)
    for release in transcript.releases:
        releases[release.label].append(release)
    return {
        "claimed": [case.claim.epsilon, case.claim.delta, case.claim.relation],
        "accounted": instance.accounted(case.claim.relation).epsilon(case.claim.delta),
        "releases": {
            label: {
                "law": type(every[0].law).__name__,
                "count": len(every),
                "participation": transcript.participation(every[-1]),
                "scale": [spread(column) for column in zip(*(scales(one.law) for one in every), strict=True)],
                "sensitivity": spread([math.inf if one.sensitivity is None else one.sensitivity for one in every]),
            }
            for label, every in releases.items()
        },
    }


def plain(value):
    """JSON has no infinity: it is a word there."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else "infinity"
    return value


def numbers(value):
    """The leaves: numbers, and what is not a number, in order."""
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in [key, *numbers(value[key])]]
    if isinstance(value, list):
        return [leaf for one in value for leaf in numbers(one)]
    return [value]


WRITTEN = json.loads(SNAPSHOT.read_text()) if SNAPSHOT.exists() else {"scipy": "", "cases": {}}
KEPT = WRITTEN["cases"]
# of the repaired noise: calibrations end within 1e-3 of the budget's noise
ACCOUNTED, PRINTED, REPAIRED = (1e-10, 1e-11, 5e-4) if WRITTEN["scipy"] == SCIPY else (1e-7, 1e-9, 2e-3)


def test_the_snapshot_holds_every_case():
    assert sorted(KEPT) == sorted(case.key for case in CASES)


@pytest.mark.parametrize(
    "case", [pytest.param(one, id=one.key, marks=[pytest.mark.more] * (":experiment" in one.key)) for one in CASES]
)
def test_claim_account_and_releases_are_as_they_were(case):
    now, then = plain(described(case.key)), dict(KEPT[case.key])
    cost = (now.pop("accounted"), then.pop("accounted"))
    repaired = case.reading == "repaired"
    assert _alike(*cost, REPAIRED if repaired else ACCOUNTED), f"{case.key}: accounted {cost} (now, then)"
    differing = [
        (one, other)
        for one, other in zip(numbers(now), numbers(then), strict=True)
        if not _alike(one, other, REPAIRED if repaired else PRINTED)
    ]
    assert not differing, f"{case.key}: {differing[:5]} (now, then)"


@pytest.mark.parametrize("case", [case for case in CASES if ":experiment" not in case.key], ids=lambda case: case.key)
def test_a_case_shows_what_it_declares_and_spends_what_it_claims(case):
    """In one run, in two where something is known; a release without noise in one of eight, as a refresh may have
    dropped the record before."""
    instance, spent = built(case.key), described(case.key)["accounted"]
    count = 8 if spent == math.inf else 1 + bool(case.known)
    runs = [lockstep(instance.mechanism, instance.pair, [seed]) for seed in range(count)]
    shown = {Declared(one.kind, one.label) for run in runs for one in run.findings}
    news, missing = compare(shown, set(case.declared))
    assert not news and not [one for one in missing if one.kind is Kind.BARE_RELEASE]
    assert all(run.complete for run in runs if not run.findings)
    assert {run.loss == math.inf for run in runs for one in run.findings if one.kind is Kind.BARE_RELEASE} <= {True}
    if case.known:
        assert spent > case.claim.epsilon or shown or instance.exact is not None
    else:
        assert spent <= case.claim.epsilon * (1 + 1e-9) and not shown and not any(run.inexact for run in runs)
    assert case.completions or case.reading != "printed"
    assert bool(case.repairs) == (case.reading == "repaired")


@pytest.mark.parametrize("algorithm", sorted({case.id for case in CASES}))
def test_every_vector_of_an_algorithm_is_run_as_it_was(algorithm):
    """On the values of the committed run it asks for the same and returns the same; bad input is refused in time.

    And the row says of itself what it did: claim, citation, formulas of its noise, what was completed or mended for it.
    """
    for vector in load(algorithm):
        run = built(vector["case"]).run
        assert head(BY_KEY[vector["case"]], run).items() <= vector.items(), vector["id"]
        said = answer(partial(run_again, run, vector), vector, (BadInput,))
        assert judged(vector, said, False).outcome == "pass", judged(vector, said, False)


def _alike(one, other, tolerance):
    return one == other or (_number(one) and _number(other) and math.isclose(one, other, rel_tol=tolerance))


def _number(value):
    return isinstance(value, int | float)


if __name__ == "__main__":
    document = {"scipy": SCIPY, "cases": {case.key: plain(described(case.key)) for case in CASES}}
    SNAPSHOT.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
