"""``dpassay check --baseline``: every regression goes red for the right reason, harmless changes stay green."""

import importlib
import linecache
import shutil
import sys

import pytest

# noise multiplier 8 a step, three steps: accounted epsilon 1.8 at delta 1e-5
DESCENT = '''
import numpy as np
from dpassay.reference import Space

space = Space.matrix(n=(2, 3), d=(1, 2), radius=5.0)
STEPS, NOISE = 3, 4.0

def clip(rows, longest=1.0):
    return rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True) / longest)

def descend(rows, tape):
    """Follows noisy means of clipped rows; stops early where the last one is long."""
    n = len(rows)
    x = np.zeros(rows.shape[1])
    for step in range(STEPS):
        gradient = clip(rows - x).mean(axis=0)
        noisy = tape.gaussian("gradient", gradient, std=NOISE * 2.0 / n, sensitivity=2.0 / n)
        x = x + 0.1 * noisy
        if np.linalg.norm(noisy) > 50.0:
            break
    return x
'''
CLAIMS = """version = 1
[[claim]]
name = "descent"
algorithm = "locked:descend"
space = "locked:space"
epsilon = 2.5
delta = 1e-5
runs = 60
examples = 25
effort = "quick"
"""
LOCK = ("--baseline", "privacy.lock.json")


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    """Where the lock and the cache of the unchanged project are kept, once they are made."""
    return tmp_path_factory.mktemp("locked")


@pytest.fixture
def project(dpassay, tmp_path, monkeypatch, locked):
    """A project with a lock; returns a function that edits it and checks it again."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def check(*edits, code=DESCENT, claims=CLAIMS, words=LOCK):
        for old, new in edits:
            assert old in code, old
            code = code.replace(old, new)
        (tmp_path / "locked.py").write_text(code)
        (tmp_path / "claims.toml").write_text(claims)
        for name in ("locked", "locked_helper"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        linecache.clearcache()
        code, out, err = dpassay("check", "--jobs", 1, *words)
        return code, " ".join(out.split()), err

    if not (locked / "privacy.lock.json").exists():
        code, out, err = check(words=(*LOCK, "--update"))
        assert code == 0, out + err
        shutil.copytree(tmp_path, locked, dirs_exist_ok=True)
    shutil.copytree(locked, tmp_path, dirs_exist_ok=True)
    check.folder = tmp_path
    return check


REGRESSIONS = {  # others: tests/examples/test_private_training.py, and change by change tests/audit/claims
    "less noise": (("std=NOISE", "std=0.9 * NOISE"), "accounted epsilon rises", "noise scale of 'gradient'"),
    "a branch that nothing reaches": (
        ("            break\n", "            break\n        if n > 1000:\n            x = 2 * x\n"),
        "a line with a release or a decision is not reached: all reached",
        "locked.py: if n > 1000: (never true)",
    ),
}


@pytest.mark.some(1)
@pytest.mark.parametrize("name", REGRESSIONS)
def test_a_regression_goes_red_for_the_right_reason(project, name):
    edit, *words = REGRESSIONS[name]
    lock = project.folder / "privacy.lock.json"
    lock.write_text(lock.read_text().replace('"dpassay": "', '"dpassay": "0.'))
    code, out, _ = project(edit)
    always = ("CHANGED: descent: ", "the lock is of dpassay 0.", "this is what to commit: --- a/privacy.lock.json")
    assert code == 1 and all(word in out for word in (*words, *always)), out


def test_a_harmless_change_stays_green(project):
    renamed = ("noisy", "answer"), ("gradient = ", "pull = "), ('", gradient,', '", pull,')
    code, out, err = project(*renamed, ("    n = len(rows)\n", "    # how many\n\n    n = len(rows)\n"))
    assert code == 0 and "nothing is worse than it was" in out and "from the cache" not in err, out


def test_a_clip_within_the_declared_sensitivity(project):
    """The releases and what they add up to stay the same: only what is realised says that the data move further."""
    small = ("longest=1.0", "longest=0.5")
    project(small, words=(*LOCK, "--update"))
    code, out, _ = project()
    assert code == 1 and "realised epsilon rises beyond its interval" in out
    assert "the data move the queries further than before" in out and "accounted epsilon rises" not in out
    project(words=(*LOCK, "--update"))
    code, out, _ = project(small)
    assert code == 1 and "the audit lost power" in out and "accounted" not in out.partition("CHANGED")[2][:60]


def test_the_lock_is_the_same_every_time_and_the_cache_says_so(project):
    before = (project.folder / "privacy.lock.json").read_text()
    code, out, err = project()
    assert code == 0 and "1 of 1  descent: " in err and "from the cache" in err and "1 of 1 from the cache." in out
    assert "from the cache" in project(claims=CLAIMS + 'owner = "b"\n')[2]
    assert "from the cache" not in project(claims=CLAIMS + "seed = 1\n")[2]
    assert "unchanged, 1 claim" in project(words=(*LOCK, "--update"))[1]
    code, out, err = project(words=(*LOCK, "--update", "--no-cache"))
    assert code == 0 and "from the cache" not in err and "unchanged, 1 claim" in out
    assert (project.folder / "privacy.lock.json").read_text() == before


def test_a_change_of_what_a_claim_reaches_is_a_change(project):
    code = DESCENT.replace("import numpy as np\n", "import numpy as np\nfrom locked_helper import STEP\n", 1)
    code, claims = code.replace("0.1 * noisy", "STEP * noisy"), CLAIMS + 'files = ["radius.txt"]\n'
    helper, radius = project.folder / "locked_helper.py", project.folder / "radius.txt"
    helper.write_text("STEP = 0.1\n")
    radius.write_text("5")
    project(code=code, claims=claims)
    assert "from the cache" in project(code=code, claims=claims)[2]
    for file, text in ((helper, "STEP = 0.2\n"), (radius, "6")):
        file.write_text(text)
        assert "from the cache" not in project(code=code, claims=claims)[2]
    radius.unlink()
    code, _, err = project(code=code, claims=claims)
    assert code == 2 and "claim descent.files[0] = 'radius.txt'" in err


def test_a_claim_that_is_gone_fails_a_new_or_stronger_one_is_only_noted(project):
    code, out, _ = project(claims=CLAIMS.replace('"descent"', '"other"'))
    assert code == 1 and "descent: claim: in the lock -> no longer in the claims file" in out, out
    code, out, _ = project(claims=CLAIMS.replace("epsilon = 2.5", "epsilon = 2.4"))
    assert code == 0 and "noted: descent: claimed" in out
    more = CLAIMS + CLAIMS.replace("version = 1\n", "").replace('"descent"', '"again"')
    code, out, _ = project(claims=more, words=(*LOCK, "--only", "again"))
    assert code == 0 and "noted: again: claim: not in the lock" in out
