"""The committed vectors: made again they are the same, they keep their schema, and their formulas give their noise."""

import copy
import json
import math
import re
from collections import Counter
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator, ValidationError

from dpassay.audit.crosscheck import making, storage
from dpassay.audit.crosscheck.differences import compare, noise_of
from dpassay.audit.crosscheck.epsilon import epsilon_of
from dpassay.audit.crosscheck.making import every_vector
from dpassay.audit.crosscheck.model import vector_schema
from dpassay.audit.crosscheck.storage import FLAGS, FOLDER, canonical, load, manifest, read_vectors, texts
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput
from dpassay.reference.second_order_erm.line_search import gaussian_parameter


@lru_cache(maxsize=1)
def everything():
    """All committed vectors, read once."""
    return tuple(load())


def runs():
    return [vector for vector in everything() if vector["expect"] == "run"]


INPUTS = ("id", "case", "problem", "schedule", "sizes", "seed", "expect", "float32")  # what a person writes of a vector


@pytest.mark.parametrize(
    "algorithm",
    [
        pytest.param(one, marks=[] if one == "dro/single_sample" else pytest.mark.slow)
        for one in sorted({case.id for case in CASES})
    ],
)
def test_vectors_are_made_of_their_inputs_as_they_are(algorithm, monkeypatch, tmp_path):
    """Bytes are the same on the machine that made them; on another processor numbers may round otherwise."""
    committed = list(load(algorithm))
    rows = [{name: one[name] for name in INPUTS} for one in committed]
    (tmp_path / algorithm).parent.mkdir()
    (tmp_path / f"{algorithm}.json").write_text(json.dumps({"vectors": rows}), encoding="utf-8")
    monkeypatch.setattr(making, "FOLDER", tmp_path)
    found = list(every_vector(algorithm))
    assert [one["id"] for one in found] == [one["id"] for one in committed]
    for one, other in zip(found, committed, strict=True):
        if canonical(one) != canonical(other):
            assert (one["flags"], one["expect"], one["noise"]) == (other["flags"], other["expect"], other["noise"])
            assert compare(other, {"events": one["events"], "output": one["output"], "claim": one["claim"]}) == []


def test_a_reading_without_a_vector_gets_one_and_what_is_not_refused_is_no_input_to_refuse(monkeypatch, tmp_path):
    monkeypatch.setattr(making, "FOLDER", tmp_path)
    found = list(every_vector("dro/single_sample"))
    assert [one["flags"][0] for one in found] == ["catalogue"] * len({one["reading"] for one in found})
    (tmp_path / "dro").mkdir()
    rows = [found[0] | {"expect": "refused"}]
    (tmp_path / "dro/single_sample.json").write_text(json.dumps({"vectors": rows}), encoding="utf-8")
    with pytest.raises(BadInput, match="is not refused"):
        list(every_vector("dro/single_sample"))


@pytest.mark.parametrize(("moved", "kept"), [(1e-15, True), (1e-6, False)])
def test_another_machine_writes_no_file_anew_for_its_last_digits(moved, kept, monkeypatch, tmp_path):
    found = copy.deepcopy(list(load("dro/single_sample")))
    monkeypatch.setattr(storage, "FOLDER", tmp_path)
    before = texts(copy.deepcopy(found))
    (tmp_path / "dro").mkdir()
    (tmp_path / "dro/single_sample.json").write_text(before["dro/single_sample.json"], encoding="utf-8")
    release = next(one for vector in found for one in vector["events"] if one["event"] == "release")
    release["query"] = np.add(release["query"], moved).tolist()
    assert (texts(found) == before) == kept


def test_the_manifest_counts_what_is_there():
    listed = manifest()
    assert listed["vectors"] == len(everything()) == len({vector["id"] for vector in everything()})
    counted = Counter(flag for vector in everything() for flag in vector["flags"])
    assert {name: entry["vectors"] for name, entry in listed["flags"].items()} == {n: counted[n] for n in FLAGS}
    assert sum(path.stat().st_size for path in FOLDER.rglob("*.json")) < 3_400_000
    assert {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.json")} == {*listed["files"], "manifest.json"}


def test_every_algorithm_and_reading_has_several_vectors():
    """Runs of each, and inputs to refuse for each algorithm."""
    known = {(case.id, case.reading) for case in CASES}
    counted = Counter((vector["algorithm"], vector["reading"]) for vector in runs())
    assert known == set(counted) and min(counted.values()) >= 3
    refused = {vector["algorithm"] for vector in everything() if vector["expect"] == "refused"}
    assert refused == {case.id for case in CASES}


def test_every_flag_is_used_and_says_what_it_is_for():
    used = {flag for vector in everything() for flag in vector["flags"]}
    assert set(FLAGS) == used
    assert all(flag["bug"] and flag["effect"] for flag in FLAGS.values())


def test_vectors_keep_the_published_schema():
    validator = Draft202012Validator(vector_schema())
    seen = set()
    for vector in everything():
        if vector["algorithm"] not in seen or vector["flags"] == ["sparse-vector"]:
            seen.add(vector["algorithm"])
            validator.validate(vector)


@pytest.mark.parametrize(
    ("field", "value"),
    [("format", 2), ("expect", "maybe"), ("claim", {"epsilon": "one"}), ("events", [{"event": "sale"}]), ("flags", 3)],
)
def test_what_is_no_vector_is_rejected(field, value, tmp_path):
    vector = copy.deepcopy(runs()[0])
    vector[field] = value
    with pytest.raises(ValidationError):
        Draft202012Validator(vector_schema()).validate(vector)
    (tmp_path / "vector.json").write_text(json.dumps(vector))
    with pytest.raises(BadInput, match=field):
        read_vectors(tmp_path / "vector.json")


FUNCTIONS = {"sqrt": math.sqrt, "log": math.log, "log2": math.log2, "max": max, "min": min, "ceil": math.ceil}


class Told(dict):
    """A part of a vector, whose fields are attributes in formulas."""

    __getattr__ = dict.__getitem__


def evaluate(text, names):
    """The value of a formula of a vector's ``noise``: paths into the vector, arithmetic, and six functions."""
    return eval(text, {"__builtins__": {}, **FUNCTIONS, **names})


def expected_noise(vector):
    """Every number that a printed vector's formulas give, beside the number in its schedule."""
    noise, place = vector["noise"], vector
    told = json.loads(json.dumps({**vector, "events": []}), object_hook=Told)
    for part in noise["of"].split("."):
        place = place[part]
    phases = vector["schedule"].get("x_half", vector["schedule"]).get("plan", {"count": 1})["count"]
    for label, formula in noise["values"].items():
        for k in range(1, (phases if "{k}" in label else 1) + 1):
            names = {name: told[name] for name in ("problem", "schedule", "claim")} | {"k": k}
            for name, text in noise["names"].items():
                names[name] = evaluate(text, names)
            yield label.format(k=k), evaluate(formula, names), place[label.format(k=k)]


def test_the_formulas_of_printed_readings_give_the_noise_of_their_schedules():
    checked = Counter()
    for vector in runs():
        if vector["noise"]["rule"] == "printed" and "catalogue" not in vector["flags"]:
            for label, computed, held in expected_noise(vector):
                assert math.isclose(computed, held, rel_tol=1e-12), (vector["id"], label, computed, held)
                checked[vector["algorithm"]] += 1
    assert len(checked) >= 15


def test_every_printed_reading_says_where_its_noise_comes_from():
    """By formula, or as the root of an equation; only repaired and baseline readings are calibrated."""
    rules = {(vector["reading"], vector["noise"]["rule"]) for vector in everything()}
    assert ("printed", "calibrated") not in rules and ("repaired", "calibrated") in rules


def test_the_equation_of_advanced_composition_gives_the_multiplier():
    """For a whole number of releases, at least as many as the vector has."""
    seen = 0
    for vector in runs():
        if vector["noise"]["rule"] == "solved" and "exp(e)" in vector["noise"]["how"]:
            epsilon, delta = vector["claim"]["epsilon"], vector["claim"]["delta"]
            (multiplier,) = set(vector["schedule"]["noise"]["by_label"].values())
            releases = sum(event["event"] == "release" for event in vector["events"])
            found = []
            for count in range(releases, 10 * releases + 1):
                each = math.sqrt(2 * math.log(2.5 * count / delta)) / multiplier
                total = each * math.sqrt(2 * count * math.log(2 / delta)) + count * each * math.expm1(each)
                found.append(math.isclose(total, epsilon, rel_tol=1e-6))
            assert sum(found) == 1, vector["id"]
            seen += 1
    assert seen >= 6


def test_calibrated_noise_meets_the_claim_and_not_a_hundredth_less_would():
    """The committed runs are accounted at their own claim; a run may be shorter than the longest one."""
    tight = 0
    for vector in runs():
        if vector["noise"]["rule"] == "calibrated":
            found = epsilon_of(vector, vector["events"])
            assert found is None or found <= vector["claim"]["epsilon"] * (1 + 1e-3), vector["id"]
            tight += found is not None and found > 0.99 * vector["claim"]["epsilon"]
    assert tight >= 50


def test_a_wrong_formula_would_be_seen():
    vector = next(one for one in runs() if one["case"] == "output_perturbation/algorithm1@printed")
    wrong = copy.deepcopy(vector)
    wrong["noise"]["values"]["output"] = wrong["noise"]["values"]["output"].replace("2.5", "1.25")
    ((_, computed, held),) = expected_noise(wrong)
    assert not math.isclose(computed, held, rel_tol=1e-3)


def test_rounding_is_far_below_the_noise():
    """So that a query that is off by a millionth of the noise is red; differences of exponentials lose more."""
    shares = []
    for vector in runs():
        for event in vector["events"]:
            noise = noise_of(event)
            if event["event"] == "release" and noise:
                shares.append(event["rounding"].get("query", 0.0) / noise)
    assert max(shares) < 1e-3
    assert sum(share > 1e-6 for share in shares) < 0.01 * len(shares)


def test_a_file_that_was_changed_is_not_read(tmp_path, monkeypatch):
    for path in FOLDER.rglob("*.json"):
        target = tmp_path / path.relative_to(FOLDER)
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(path.read_bytes())
    file = tmp_path / "dro" / "single_sample.json"
    file.write_text(file.read_text().replace('"momentum": 0.5', '"momentum": 0.25', 1))
    monkeypatch.setattr(storage, "FOLDER", tmp_path)
    with pytest.raises(BadInput, match="manifest"):
        list(load("dro/single_sample"))
    with pytest.raises(BadInput, match="known"):
        list(load("dro/nothing"))


# The page about vectors names every field of their schema, and every field that a committed vector's event has.
DOCS = Path(__file__).resolve().parents[3] / "docs"


def fields(part):
    """Names of all properties of a schema."""
    if isinstance(part, list):
        return set().union(*map(fields, part))
    if not isinstance(part, dict):
        return set()
    return set(part.get("properties", {})) | set().union(set(), *map(fields, part.values()))


def unnamed(names, text):
    return sorted(name for name in names if f"`{name}`" not in text)


def test_the_page_names_every_field():
    text = (DOCS / "vectors.md").read_text(encoding="utf-8")
    schema = json.loads((DOCS / "schemas" / "vector.schema.json").read_text(encoding="utf-8"))
    of_events = {
        name
        for algorithm in ("second_order_erm/opt_ls", "baselines/dp_sgd", "dp_ftrl/dp_ftrl")
        for vector in load(algorithm)
        for event in vector["events"]
        for name in event
    }
    assert {"count", "falls", "queries", "rate"} <= of_events and len(fields(schema)) > 20
    assert unnamed(fields(schema) | of_events, text) == []
    assert unnamed({"falls"}, text.replace("`falls`", "falls")) == ["falls"]


def test_the_page_prints_right_numbers():
    rows = re.findall(
        r"^\| ([\d.]+) \| (\d) \| ([\d.]+) \| ([\d.]+) \|$",
        (DOCS / "vectors.md").read_text(encoding="utf-8").partition("## What a line search costs")[2],
        re.MULTILINE,
    )
    assert len(rows) == 3
    for lam, trials, beta, mu in rows:
        assert float(mu) == pytest.approx(gaussian_parameter(float(lam), int(trials), float(beta)), rel=1e-6)
