"""Commands with two workers: the same numbers as with one, and their errors come back whole.

All of them in one file: the two processes are started once, and what they import takes seconds. The quick variant has
none: this process unpickles what a worker would be sent, and hands back what can be pickled.
"""

import json
import pickle
import re
import sys

import pytest
from joblib import parallel_config
from joblib.externals.loky.backend.reduction import dumps

from .test_check import MINE, claim

GOOD = claim("good", "of_a_worker:mean", space="of_a_worker:space")
RAISES = claim("a", "of_a_worker:raises", space="of_a_worker:space")
HEAD = "version = 1\n"


@pytest.fixture(params=["pickled here", pytest.param("two processes", marks=pytest.mark.slow)], autouse=True)
def workers(request, monkeypatch):
    """Two processes, or this one with the path that it has now and without the claims' module, as a worker starts."""
    if request.param == "two processes":
        yield
        return
    path, sent = list(sys.path), []

    def answer(function, words):
        with monkeypatch.context() as there:
            there.setattr(sys, "path", list(path))
            there.delitem(sys.modules, "of_a_worker", raising=False)
            function, words = pickle.loads(dumps((function, words)))
            sent.append(function)
            return pickle.loads(dumps(function(*words)))

    monkeypatch.setattr("joblib.delayed", lambda function: lambda *words: (answer, (function, words), {}))
    monkeypatch.setattr("joblib.parallel_config", lambda **_: parallel_config(backend="sequential"))
    with parallel_config(backend="sequential"):
        yield
    assert sent


def test_one_worker_and_two_write_the_same_bytes(dpassay, tmp_path, monkeypatch):
    (tmp_path / "of_a_worker.py").write_text(MINE)
    (tmp_path / "claims.toml").write_text(HEAD + GOOD + GOOD.replace('"good"', '"again"'))
    monkeypatch.syspath_prepend(str(tmp_path))
    texts = []
    for jobs in (1, 2):
        words = ("--jobs", jobs, "--no-cache", "--output", "rows.json", "--baseline", f"{jobs}.json", "--update")
        assert dpassay("check", *words)[0] in (0, 3)
        text = (tmp_path / "rows.json").read_text() + (tmp_path / f"{jobs}.json").read_text()
        texts.append(re.sub(r'"seconds": [\d.e-]+', "", text))
    assert texts[0] == texts[1]


def test_a_claim_that_cannot_be_run_costs_no_other_its_row(dpassay, tmp_path, monkeypatch):
    """Its error comes back whole, and the row of the other one as well."""
    (tmp_path / "of_a_worker.py").write_text(MINE)
    (tmp_path / "claims.toml").write_text(HEAD + GOOD + RAISES)
    monkeypatch.syspath_prepend(str(tmp_path))
    code, out, err = dpassay("check", "--jobs", 2, "--json")
    lines = [line for line in err.splitlines() if line.startswith("dpassay: ")]
    assert code == 2 and "Traceback" not in err and len(lines) == 1
    assert "claim a.algorithm" in lines[0] and "never works" in lines[0]
    found = json.loads(out)
    assert [one["claim"] for one in found["unchecked"]] == ["a"] and len(found["rows"]) == 1
