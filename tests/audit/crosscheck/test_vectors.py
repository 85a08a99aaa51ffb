"""The committed vectors: made again they are the same, their formulas give their noise, and nothing is left unseen."""

import copy
import json
import math
import re
import runpy
from collections import Counter
from functools import lru_cache, partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import dpassay.reference
from dpassay.audit.crosscheck import storage
from dpassay.audit.crosscheck.differences import compare, noise_of
from dpassay.audit.crosscheck.encoding import encode
from dpassay.audit.crosscheck.epsilon import epsilon_of
from dpassay.audit.crosscheck.recording import Diverged, VectorTape, events_of, run_again
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput

ALGORITHMS = sorted({case.id for case in CASES})
SMALL = "dro/single_sample"
DOCS = Path(__file__).parents[3] / "docs"
SCHEMA = json.loads((DOCS / "schemas" / "vector.schema.json").read_text())
MAKING = runpy.run_path(str(DOCS / "vectors.py"))["main"].__globals__
texts = MAKING["texts"]


@lru_cache(maxsize=1)
def everything():
    return tuple(storage.load())


def runs():
    return [vector for vector in everything() if vector["expect"] == "run"]


# made again ----------------------------------------------------------------------------------------------------------
INPUTS = ("id", "case", "problem", "schedule", "sizes", "seed", "expect", "float32")  # what a person writes of a vector


@pytest.fixture
def made_of(monkeypatch, tmp_path):
    """The vectors of an algorithm that are made of these inputs."""
    monkeypatch.setitem(MAKING, "FOLDER", tmp_path)

    def make(algorithm, rows):
        if rows:
            (tmp_path / algorithm).parent.mkdir(exist_ok=True)
            (tmp_path / f"{algorithm}.json").write_text(json.dumps({"vectors": rows}), encoding="utf-8")
        return list(MAKING["every_vector"](algorithm))

    return make


@pytest.mark.parametrize(
    "algorithm", [pytest.param(one, marks=[] if one == SMALL else pytest.mark.slow) for one in ALGORITHMS]
)
def test_vectors_are_made_of_their_inputs_as_they_are(algorithm, made_of):
    """Bytes are the same on the machine that made them; on another processor numbers may round otherwise."""
    committed = list(storage.load(algorithm))
    found = made_of(algorithm, [{name: one[name] for name in INPUTS} for one in committed])
    assert [one["id"] for one in found] == [one["id"] for one in committed]
    for one, other in zip(found, committed, strict=True):
        if storage.canonical(one) != storage.canonical(other):
            assert (one["flags"], one["expect"], one["noise"]) == (other["flags"], other["expect"], other["noise"])
            assert compare(other, {"events": one["events"], "output": one["output"], "claim": one["claim"]}) == []


def test_a_reading_without_a_vector_gets_one_and_what_is_not_refused_is_no_input_to_refuse(made_of, monkeypatch):
    found = made_of(SMALL, [])
    assert [one["flags"][0] for one in found] == ["catalogue"] * len({one["reading"] for one in found})

    def late(run, data, tape):
        tape.gaussian("x", 0.0, std=1.0, sensitivity=1.0)
        raise BadInput("n", 1, "is refused once something is released")

    for again in (run_again, late):
        monkeypatch.setitem(MAKING, "run_again", again)
        with pytest.raises(BadInput, match="is not refused before something is released"):
            made_of(SMALL, [found[0] | {"expect": "refused"}])
    with pytest.raises(BadInput, match=r"flags.toml"):
        texts([found[0] | {"flags": ["of nobody"]}])


@pytest.mark.parametrize(("moved", "kept"), [(1e-15, True), (1e-6, False)])
def test_another_machine_writes_no_file_anew_for_its_last_digits(moved, kept, monkeypatch, tmp_path):
    found = copy.deepcopy(list(storage.load(SMALL)))
    monkeypatch.setitem(MAKING, "FOLDER", tmp_path)
    before = texts(copy.deepcopy(found))
    (tmp_path / "dro").mkdir()
    (tmp_path / f"{SMALL}.json").write_text(before[f"{SMALL}.json"], encoding="utf-8")
    release = next(one for vector in found for one in vector["events"] if one["event"] == "release")
    release["query"] = np.add(release["query"], moved).tolist()
    assert (texts(found) == before) == kept


def test_a_file_that_was_changed_is_not_read(tmp_path, monkeypatch):
    text = (storage.FOLDER / f"{SMALL}.json").read_text().replace('"momentum": 0.5', '"momentum": 0.25', 1)
    (tmp_path / "dro").mkdir()
    (tmp_path / f"{SMALL}.json").write_text(text)
    (tmp_path / "manifest.json").write_bytes((storage.FOLDER / "manifest.json").read_bytes())
    monkeypatch.setattr(storage, "FOLDER", tmp_path)
    with pytest.raises(BadInput, match="manifest"):
        list(storage.load(SMALL))
    with pytest.raises(BadInput, match="known"):
        list(storage.load("dro/nothing"))


# what there is -------------------------------------------------------------------------------------------------------
def test_every_algorithm_reading_and_flag_has_vectors_and_the_manifest_counts_them():
    """Several runs of each reading, and inputs to refuse for each algorithm."""
    listed, vectors = storage.manifest(), everything()
    assert listed["vectors"] == len(vectors) == len({vector["id"] for vector in vectors})
    flags = Counter(flag for vector in vectors for flag in vector["flags"])
    assert {name: entry["vectors"] for name, entry in listed["flags"].items()} == flags
    assert set(storage.FLAGS) == set(flags) and all(flag["bug"] and flag["effect"] for flag in storage.FLAGS.values())
    files = {str(path.relative_to(storage.FOLDER)): path.stat().st_size for path in storage.FOLDER.rglob("*.json")}
    assert set(files) == {*listed["files"], "manifest.json"} and sum(files.values()) < 3_400_000
    counted = Counter((vector["algorithm"], vector["reading"]) for vector in runs())
    assert set(counted) == {(case.id, case.reading) for case in CASES} and min(counted.values()) >= 3
    assert {vector["algorithm"] for vector in vectors if vector["expect"] == "refused"} == set(ALGORITHMS)


def test_vectors_keep_the_published_schema():
    validator = Draft202012Validator(SCHEMA)
    firsts = {vector["algorithm"]: vector for vector in reversed(everything())}
    for vector in (*firsts.values(), *(one for one in everything() if one["flags"] == ["sparse-vector"])):
        validator.validate(vector)


@pytest.mark.parametrize(
    ("field", "value"),
    [("format", 2), ("expect", "maybe"), ("claim", {"epsilon": "one"}), ("events", [{"event": "sale"}]), ("flags", 3)],
)
def test_what_is_no_vector_is_rejected(field, value, tmp_path):
    vector = {**runs()[0], field: value}
    assert not Draft202012Validator(SCHEMA).is_valid(vector)
    (tmp_path / "vector.json").write_text(json.dumps(vector))
    with pytest.raises(BadInput, match=field):
        storage.read_vectors(tmp_path / "vector.json")


# noise ---------------------------------------------------------------------------------------------------------------
FUNCTIONS = {"sqrt": math.sqrt, "log": math.log, "log2": math.log2, "max": max, "min": min, "ceil": math.ceil}


def evaluate(text, names):
    """The value of a formula of a vector's ``noise``: paths into the vector, arithmetic, and six functions."""
    return eval(text, {"__builtins__": {}, **FUNCTIONS, **names})


def expected_noise(vector):
    """Every number that a printed vector's formulas give, beside the number in its schedule."""
    noise, place = vector["noise"], vector
    told = json.loads(json.dumps({**vector, "events": []}), object_hook=lambda part: SimpleNamespace(**part))
    for part in noise["of"].split("."):
        place = place[part]
    phases = vector["schedule"].get("x_half", vector["schedule"]).get("plan", {"count": 1})["count"]
    for label, formula in noise["values"].items():
        for k in range(1, (phases if "{k}" in label else 1) + 1):
            names = {"problem": told.problem, "schedule": told.schedule, "claim": told.claim, "k": k}
            for name, text in noise["names"].items():
                names[name] = evaluate(text, names)
            yield label.format(k=k), evaluate(formula, names), place[label.format(k=k)]


def test_the_formulas_of_printed_readings_give_the_noise_of_their_schedules():
    """By formula, or as the root of an equation; only repaired and baseline readings are calibrated."""
    checked = set()
    for vector in runs():
        if vector["noise"]["rule"] == "printed" and "catalogue" not in vector["flags"]:
            for label, computed, held in expected_noise(vector):
                assert math.isclose(computed, held, rel_tol=1e-12), (vector["id"], label, computed, held)
                checked.add(vector["algorithm"])
    assert len(checked) >= 15
    rules = {(vector["reading"], vector["noise"]["rule"]) for vector in everything()}
    assert ("printed", "calibrated") not in rules and ("repaired", "calibrated") in rules
    wrong = copy.deepcopy(next(one for one in runs() if one["case"] == "output_perturbation/algorithm1@printed"))
    wrong["noise"]["values"]["output"] = wrong["noise"]["values"]["output"].replace("2.5", "1.25")
    ((_, computed, held),) = expected_noise(wrong)
    assert not math.isclose(computed, held, rel_tol=1e-3)


def test_the_equation_of_advanced_composition_gives_the_multiplier():
    """For a whole number of releases, at least as many as the vector has."""
    seen = 0
    for vector in runs():
        if vector["noise"]["rule"] == "solved" and "exp(e)" in vector["noise"]["how"]:
            epsilon, delta = vector["claim"]["epsilon"], vector["claim"]["delta"]
            (multiplier,) = set(vector["schedule"]["noise"]["by_label"].values())
            releases = sum(event["event"] == "release" for event in vector["events"])
            count = np.arange(releases, 10 * releases + 1)
            each = np.sqrt(2 * np.log(2.5 * count / delta)) / multiplier
            total = each * np.sqrt(2 * count * math.log(2 / delta)) + count * each * np.expm1(each)
            assert np.isclose(total, epsilon, rtol=1e-6).sum() == 1, vector["id"]
            seen += 1
    assert seen >= 6


@pytest.mark.more
def test_calibrated_noise_meets_the_claim_and_not_a_hundredth_less_would():
    """The committed runs are accounted at their own claim; a run may be shorter than the longest one."""
    tight = 0
    for vector in runs():
        if vector["noise"]["rule"] == "calibrated":
            found = epsilon_of(vector, vector["events"])
            assert found is None or found <= vector["claim"]["epsilon"] * (1 + 1e-3), vector["id"]
            tight += found is not None and found > 0.99 * vector["claim"]["epsilon"]
    assert tight >= 50


def test_rounding_is_far_below_the_noise():
    """So that a query that is off by a millionth of the noise is red; differences of exponentials lose more."""
    releases = [event for vector in runs() for event in vector["events"] if event["event"] == "release"]
    shares = [event["rounding"].get("query", 0.0) / noise_of(event) for event in releases if noise_of(event)]
    assert max(shares) < 1e-3
    assert sum(share > 1e-6 for share in shares) < 0.01 * len(shares)


# what no vector may lose: every constant matters somewhere, and every line of an algorithm is run --------------------
HOME = Path(dpassay.reference.__file__).resolve().parent
RUN = {case.key: case for case in CASES}


def other(by, number):
    """A number times a factor; nothing becomes something, and a size the next or the last one."""
    if isinstance(number, int):
        return number + 1 if by > 1 else max(number - 1, 1)
    return number * by if number else 0.3 * by


CHANGES = [partial(other, by) for by in (1.37, 0.73, 1e3, 1e-3)]
UNUSED = {  # of "algorithm field"
    "facts of a function that its name says": r"loss\.link\.",
    "what bounds the records: it decides what is refused, and what is derived": r"(_bound|_radius)$",
    "how exact a solver must be, and its chance: the vectors' solver is exact": r"\.targets?(\.\d+)?$|eigen\.failure$",
    "sizes that the reference checks against the data": r"\.(n|d|d_y|plan\.count|plan\.length)$",
    "accuracies that the schedule was made with": r"(dp_gd|dp_tr|tr_b) .*accuracy\.(c|c1|c2)$",
    "of a value that is not released": r"(dp_gd|dp_tr|tr_b) .*sensitivity\.value$",
    "noise of releases that another baseline makes": (
        r"(dp_spider|private_diff|sto_spider) .*by_label\.[xy]$|dp_sgda .*by_label\.(refresh|difference)$"
    ),
    "noise that another replaces": r"algorithms4and5 .*_half\.noise\.by_label|two_opt_b .*base\.noise\.by_label",
    "of a public value, which is given": r"\.perturbation(_radius)?$",
    "of y, which these baselines do not move": r"(ada_dp_|/dp_|sto_)spider problem\.problem\.(concavity|radius)$",
    "constants of the wave, flat where these runs begin": (
        r"(dp_gd|dp_tr|tr_b) problem\.((curvature|slope)(_frequency)?|offset)$"
    ),
}


LISTS = {"start", "start_x", "sensitivities", "targets", "regularisers"}


def numbers_in(told, path=()):
    """Paths of all numbers but those of records."""
    if isinstance(told, dict):
        for name, entry in told.items():
            if name not in ("derived", "formulas"):
                yield from numbers_in(entry, (*path, name))
    elif isinstance(told, int | float) and not isinstance(told, bool):
        yield path
    elif isinstance(told, list) and len(told) <= 4 and LISTS & set(path[-2:]):
        for place, one in enumerate(told):
            yield from numbers_in(one, (*path, place))


def changed(told, path, change):
    if not path:
        return change(told)
    found = copy.copy(told)
    found[path[0]] = changed(told[path[0]], path[1:], change)
    return found


def shows(vector, told):
    """Does a program with these data fail the vector; None where the reference refuses them."""
    tape, output = VectorTape(vector["events"]), None
    try:
        with np.errstate(all="ignore"):
            output = encode(run_again(RUN[vector["case"]].build().run, told, tape))
    except BadInput:
        return None
    except (Diverged, ValueError, IndexError, ArithmeticError, np.linalg.LinAlgError):
        return True
    return bool(compare(vector, {"events": events_of(tape), "output": output, "claim": vector["claim"]}))


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_constant_that_a_run_uses_is_seen_by_a_vector(algorithm):
    """A thousandth, a thousand times, and a little more or less: where that decides, some vector lies near."""
    waiting = {}  # paths: may the number be another one in every vector so far, and none is red?
    vectors = [one for one in storage.load(algorithm) if one["expect"] == "run"]
    for vector in sorted(vectors, key=lambda one: not {"unequal-constants", "rare-branch"} & set(one["flags"])):
        told = {name: vector[name] for name in ("problem", "schedule")}
        told = json.loads(re.sub(r'("name": "\w+)\([^"]*"', r'\1"', json.dumps(told)))  # it would say the old constant
        for path in numbers_in(told):
            if waiting.setdefault(path, True):
                waiting[path] = not any(shows(vector, changed(told, path, change)) for change in CHANGES)
    left = {".".join(map(str, path)) for path, unseen in waiting.items() if unseen}
    assert {one for one in left if not any(re.search(why, f"{algorithm} {one}") for why in UNUSED.values())} == set()
