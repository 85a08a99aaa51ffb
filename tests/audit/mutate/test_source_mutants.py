"""Bugs in the source: places are found, the planted file is valid and does what its name says, the exit code judges."""

import ast
import re
from contextlib import suppress

import numpy as np
import pytest
from source_bugs import BUGS, Patch, generated, judge, plant, read_patches, run

from dpassay.audit.mutate import planted
from dpassay.audit.mutate.lent import lent, source
from dpassay.audit.mutate.operators import OPERATORS, sites
from dpassay.audit.mutate.slips import slips
from dpassay.reference import BadInput, find, record
from dpassay.reference.blocks.clipping import clip_rows
from dpassay.reference.limits import TooLong, limited

PATCHES = read_patches()
OUTSIDERS = [patch for patch in PATCHES if patch.set == "outsider"]

TEXT = """from __future__ import annotations


def run(problem, schedule, tape):
    x = schedule.start
    for step in range(schedule.steps):
        batch = tape.batch("batch", problem.n, schedule.batch)
        mean = clip_rows(problem.rows[batch.indices], 1.0).mean(axis=0)
        x = x - tape.gaussian("mean", mean, std=2.0, sensitivity=0.5, batch=batch)
        if x[0] < 0:
            return x
    return x
"""


def test_every_operator_finds_its_place_and_leaves_valid_source():
    found = {site.operator.name for site in sites(TEXT)}
    assert found == set(OPERATORS) - {"public_value_of_the_data", "threshold_bare"} and len(OPERATORS) >= 20
    for site in sites(TEXT):
        changed = plant(TEXT, site)
        ast.parse(changed)
        assert changed != TEXT and "_planted" in changed


def released(bug):
    def run(tape):
        thing = planted.through(tape, bug)
        first = thing.gaussian("a", np.array([3.0, 4.0]), std=2.0, sensitivity=1.0)
        second = thing.gaussian("b", np.array([0.0, 0.0]), std=0.5, sensitivity=1.0)
        return first, second

    return record(run, 1)


@pytest.mark.parametrize(
    ("bug", "stds"),
    [
        ("noise_dropped", [0, 0]),
        ("noise_halved", [1, 0.25]),
        ("noise_a_variance", [2**0.5, 0.25]),
        ("noise_of_the_release_before", [2, 2]),
        ("noise_over_root_d", [2 / 2**0.5, 0.5 / 2**0.5]),
        ("released_twice", [2, 2, 0.5, 0.5]),
    ],
)
def test_noise_bugs_do_what_they_say(bug, stds):
    assert [release.law.std for release in released(bug).releases] == pytest.approx(stds)


def test_value_bugs_do_what_they_say():
    first, second = released("query_in_its_place").output
    assert np.array_equal(first, [3, 4]) and np.array_equal(second, [0, 0])
    first, second = released("noise_used_again").output
    assert np.allclose(first - [3, 4], second)
    assert released("sensitivity_halved").releases[0].sensitivity == 0.5
    assert np.array_equal(released("moves_half_as_far_again").releases[0].law.query, [4.5, 6])


def test_bugs_fit_the_source_and_those_of_people_cite_where_they_were_made():
    made = list(generated())
    assert len(made) > 500 and len({bug.name for bug in made}) == len(made)
    with pytest.raises(BadInput, match="exactly once"):
        Patch("x", "baselines/dp_sgd.py", "no such text", "", "").bug()
    bugs = [patch.bug() for patch in PATCHES]
    assert len([patch.bug() for patch in read_patches(BUGS / "apparatus")]) >= 57
    assert len(bugs) >= 226 and len({bug.file.split("/")[0] for bug in bugs}) >= 6
    threads = {patch.thread for patch in PATCHES if patch.thread}
    assert len(threads) >= 15 and all(re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", thread) for thread in threads)
    assert len(OUTSIDERS) >= 71 and sum(not patch.must for patch in OUTSIDERS) >= 10
    assert all(len(find(patch.row)) == 1 for patch in OUTSIDERS)


# Each bug runs the command in a process of its own, ten seconds and more.
@pytest.mark.slow
def test_the_command_catches_a_missing_noise_and_passes_more_noise():
    kinds = {"noise_dropped": "caught", "noise_tenth_more": "not accused"}
    bugs = [one for one in generated() if one.file == "baselines/dp_sgd.py" and one.name.split(":")[2] in kinds]
    assert {one.bug.split(":")[2]: one.answer for one in run(bugs, 2, 0)} == kinds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "code"),
    [("gaussian noise on the first coordinate", 1), ("sto_spider drift from the true mean", 1), ("sgd removes", 0)],
)
def test_the_command_on_what_an_outsider_planted(name, code):
    (one,) = [one for one in OUTSIDERS if name in one.name]
    assert judge(one.bug(), find(one.row)).exit_code == code


# Slips: what they write is Python, at lines that ran; a lent change does what it says and goes away again.
FILE = "blocks/clipping.py"
CODE = '''
def mean(rows, clip, size):
    """Text."""
    total = rows.sum(axis=0)
    if size > 1 and clip:
        total -= clip[size - 1]
    return max(total, 2.0) / size
'''


def written(alike=lambda function, name: ()):
    """Every slip of `CODE`, as the whole text."""
    return [CODE[: one.first] + one.text + CODE[one.last :] for one in slips(CODE, lambda line: True, alike)]


PARTS = (
    "rows.mean(axis=0)", "(size) >= (1)", "(size > 1) or (clip)", "clip[-1]", "total = clip[size - 1]",
    "min(total, 2.0)", "return (max(total, 2.0))", "clip[size - (2)]", "if True:",
)  # fmt: skip


def test_every_slip_is_python_and_another_text_and_what_people_get_wrong_is_among_them():
    assert [part for part in PARTS if not any(part in text for text in written())] == []
    every = written(lambda function, name: ["clip"] if name == "size" else [])
    assert len(every) == len(set(every)) > 40 and CODE not in every and '"""Text."""' in every[0]
    for text in every:
        ast.parse(text)
    assert {one.line for one in slips(CODE, lambda line: line == 4, lambda function, name: ())} == {4}, "lines that ran"


def test_a_lent_change_is_made_and_goes_away_again():
    """Twice the bound, wherever clip_rows has one."""
    rows = np.array([[3.0, 4.0]])
    before, results = clip_rows(rows, 1.0), []
    for site in slips(source(FILE), lambda line: True, lambda function, name: ()):
        with suppress(Exception, TooLong), lent(FILE, site), limited(1.0), np.errstate(all="ignore"):
            results.append(clip_rows(rows, 1.0))
    assert any(np.allclose(one, 2 * before) or np.allclose(one, before / 2) for one in results)
    assert np.array_equal(clip_rows(rows, 1.0), before)
    with pytest.raises(TooLong), limited(0.05):
        while True:
            pass
