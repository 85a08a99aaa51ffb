"""JUnit, SARIF, Markdown, workflow commands: what they say, that they are what they claim to be, and hostile names."""

import json
import re
import runpy
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from jsonschema import Draft202012Validator

from dpassay.audit.crosscheck.adapter import Result
from dpassay.audit.plain import json_text
from dpassay.audit.report import campaign
from dpassay.audit.report.explain import explain_lines
from dpassay.audit.report.junit import junit
from dpassay.audit.report.markdown import LONGEST, markdown, workflow_commands
from dpassay.audit.report.problems import Level, Unchecked, problems, summary_line
from dpassay.audit.report.sarif import RULES, sarif
from dpassay.audit.report.table import table_lines
from dpassay.audit.running.report_file import FORMAT, document
from dpassay.audit.verdict import UNDERACCOUNTED
from dpassay.reference.findings import Finding, Kind

ALL = (junit, sarif, markdown, workflow_commands)


@pytest.mark.parametrize("made", ALL)
def test_the_same_rows_give_the_same_text(made, rows):
    text = made(rows)
    assert text == made(rows) and text.endswith("\n" if text else "") and made([]) == made([])


MOVED = "sensitivity exceeded at 'mean': the pair moves the query by 6.7, claimed 0.67"
EXCEEDED = ("sensitivity exceeded", "error", MOVED)
VIOLATED = ("violated", "error", "epsilon >= 13.1 is realised at delta 1e-05 (likelihood, confidence 95%), claimed 1")
EARLY = ("early end", "note", "early end at 'v': one side stops")
BUDGET = ("over budget", "note", "the releases add up to epsilon inf, claimed 1 at delta 1e-05")
UNDECIDED = ("inconclusive", "warning", "nothing was decided: no power")
MISSING = "declared by this reading, but not shown: output"
SECRET = ("call", "warning", "call at 'x': differs (given the same secret choices)")
COVERED = Finding(Kind.CALL, "x", 0, "differs", given_secrets=True)
MORE = {"accounted": 0.5, "undeclared": [Kind.UNDERACCOUNTED.value], "findings": [], "verdict": "overshoots"}
TOO_LITTLE = (Kind.UNDERACCOUNTED.value, "error", f"epsilon >= 13.1 is realised, 0.5 accounted: {UNDERACCOUNTED}")
CHANGED = ("changed", "error", "power: 1 -> 0.5")


def of(problem, level="error", added=""):
    return problem[0], level, problem[2] + added


@pytest.mark.parametrize(("name", "change", "strict", "said"), [
    ("fine", {}, False, []),
    ("failed", {}, False, [EXCEEDED, VIOLATED]),
    ("failed", {"severity": "warning"}, True, [of(EXCEEDED, "warning"), of(VIOLATED, "warning")]),
    ("failed", {"as_read": "sums"}, False, [of(EXCEEDED, added=" (as read)"), of(VIOLATED, added=" (as read)")]),
    ("fine", {"as_read": "sums", "raised": ["Oh"]}, False, [("raised", "warning", "raised: Oh")]),
    ("declared", {}, False, [EARLY, BUDGET]),
    ("declared", {}, True, [of(EARLY), of(BUDGET)]),
    ("declared", {"missing": ["output"]}, False, [("not shown", "warning", MISSING), EARLY, BUDGET]),
    ("declared", {"missing": ["output"], "examples": 150}, False, [("not shown", "error", MISSING), EARLY, BUDGET]),
    ("undecided", {}, True, [UNDECIDED]),
    ("undecided", {"why": ""}, False, [(*UNDECIDED[:2], "nothing was decided: the audit had too little power")]),
    ("undecided", {"findings": [COVERED]}, True, [SECRET, UNDECIDED]),
    ("failed", MORE, False, [TOO_LITTLE]),
    ("fine", {"changes": [CHANGED[2]], "required": "tight"}, False, [CHANGED]),
])  # fmt: skip
def test_what_is_wrong_with_a_row_and_how_much_it_counts(row_of, name, change, strict, said):
    row = replace(row_of[name], **change)
    found = problems(row, strict)
    assert [(one.rule, one.level.value, one.message) for one in found] == said
    assert all(one.place == "mine.py:22" for one in found) == (bool(row.witnesses) or not found)
    commands, failed = workflow_commands([row], strict), any(level == "error" for _, level, _ in said)
    assert ("::error" in commands) == failed == (Xml.fromstring(junit([row], strict)).attrib["failures"] == "1")


def test_a_problem_is_about_its_label_and_names_files_from_the_root_of_the_checkout(row_of, tmp_path, monkeypatch):
    names = [(one.label, one.name) for one in problems(row_of["failed"])]
    assert names == [("mean", "sensitivity exceeded (mean)"), ("", "violated")]
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "mine.py").touch()
    monkeypatch.chdir(tmp_path / "models")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert problems(row_of["failed"])[0].place == "models/mine.py:22"
    assert workflow_commands([row_of["failed"]]).startswith("::error file=models/mine.py,line=22,")
    monkeypatch.setenv("GITHUB_WORKSPACE", "/nowhere/else")
    assert problems(row_of["failed"])[0].place == "mine.py:22"


def test_a_row_without_the_required_verdict_fails_everywhere(row_of):
    kept = replace(row_of["fine"], required=row_of["fine"].verdict)
    lost = replace(kept, required="certified", certificate=["open: mine.py:9: private data decides"])
    (problem,) = [*problems(kept), *problems(lost)]
    assert problem.message == "the verdict is tight, certified is required: open: mine.py:9: private data decides"
    assert (kept.exit_code(), lost.exit_code(), problem.level) == (0, 1, Level.ERROR)
    assert "| open |" in markdown([lost]) and "| - |" in markdown([kept]) and "certified: open" in junit([lost])
    assert [any(" open " in line.plain for line in table_lines([one], 100)) for one in (lost, kept)] == [True, False]
    run = json.loads(sarif([lost]))["runs"][0]
    assert [one["ruleId"] for one in run["results"]] == ["not-as-required"] and run["invocations"][0]["exitCode"] == 1
    assert Xml.fromstring(junit([lost])).attrib["failures"] == "1" and summary_line([lost]).startswith("FAILED")


def test_places_of_a_row_come_first(row_of, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = {"finding": "sensitivity exceeded (mean)", "file": str(tmp_path / "src" / "train.py"), "line": 7}
    start = {"finding": "", "file": "src/train.py", "line": 3}
    row = replace(row_of["failed"], places=[place, {**place, "line": 9, "role": "the query"}, start])
    assert [one.places for one in problems(row)] == ["src/train.py:7, src/train.py:9 (the query)", "src/train.py:3"]
    row = replace(row_of["undecided"], places=[start])
    assert [one.place for one in problems(row)] == ["src/train.py:3"]


def test_junit_counts_and_names(rows):
    root = Xml.fromstring(junit(rows))
    counts = [root.attrib[name] for name in ("tests", "failures", "skipped", "errors")]
    assert root.tag == "testsuites" and counts == ["5", "2", "1", "0"]
    cases = list(root.iter("testcase"))
    assert len(cases) == 5 and len({(one.get("classname"), one.get("name")) for one in cases}) == 5
    for suite in root.iter("testsuite"):
        inside = suite.findall("testcase")
        assert suite.attrib["tests"] == str(len(inside))
        assert suite.attrib["failures"] == str(sum(one.find("failure") is not None for one in inside))
        assert suite.attrib["time"] == f"{sum(float(one.attrib['time']) for one in inside):.3f}"
    failed = next(one for one in cases if one.get("name").startswith("mine:run"))
    assert failed.get("file") == "mine.py" and failed.get("line") == "22"
    assert failed.find("failure").get("type") == "violated" and "moves the query by 6.7" in failed.find("failure").text


def test_sarif_keeps_the_rules_of_the_standard(rows):
    """OASIS SARIF 2.1.0: what is required, and what code scanning needs (sections in the comments)."""
    log = json.loads(sarif(rows))
    assert log["version"] == "2.1.0" and set(log) == {"$schema", "version", "runs"}  # 3.13
    (run,) = log["runs"]
    driver = run["tool"]["driver"]  # 3.18, 3.19
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"[a-z-]+", one) for one in ids)
    assert len({rule["name"] for rule in driver["rules"]}) == len(ids)
    assert all(rule["shortDescription"]["text"].endswith(".") for rule in driver["rules"])  # 3.49.9
    assert isinstance(run["invocations"][0]["executionSuccessful"], bool)  # 3.20.14
    assert run["results"] and run["invocations"][0]["exitCode"] == 1
    prints = set()
    for result in run["results"]:  # 3.27
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["kind"] in ("fail", "open") and result["message"]["text"]
        assert (result["level"] == "none") == (result["kind"] != "fail")  # 3.27.10
        assert result["level"] in ("none", "note", "warning", "error")
        prints.add(tuple(result["partialFingerprints"].values()))
        for place in result["locations"]:  # 3.28, 3.29, 3.30
            assert place["logicalLocations"][0]["fullyQualifiedName"]
            physical = place.get("physicalLocation")
            if physical:
                assert physical["region"]["startLine"] >= 1
                assert re.fullmatch(r"[\w./%-]+", physical["artifactLocation"]["uri"])
    assert len(prints) == len(run["results"])


def test_sarif_names_line_suppresses_what_is_declared_and_has_a_result_for_each_change_against_the_lock(row_of):
    changed = replace(row_of["fine"], changes=["accounted: 0.9 before, 0.99 now", "the audit lost power: 1, now 0.5"])
    found = json.loads(sarif([changed]))["runs"][0]["results"]
    assert len({tuple(one["partialFingerprints"].values()) for one in found}) == 2
    results = json.loads(sarif([row_of["failed"], row_of["declared"]]))["runs"][0]["results"]
    place = results[0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "mine.py" and place["region"]["startLine"] == 22
    suppressed = [[said["kind"] for said in one.get("suppressions", ())] for one in results]
    assert suppressed == [[], [], ["external"], ["external"]]
    assert {kind.value for kind in Kind} < set(RULES)


def test_annotations_are_one_line_each_and_cannot_be_forged(rows, row_of):
    lines = workflow_commands(rows).splitlines()
    assert all(re.match(r"::(error|warning) ", line) for line in lines)
    assert lines[0].startswith("::error file=mine.py,line=22,title=dpassay%3A mine%3Arun@own violated::sensitivity")
    assert not workflow_commands([row_of["fine"], row_of["declared"]])
    many = workflow_commands([row_of["failed"]] * 30).splitlines()
    assert len(many) == 10 and "and 51 more" in many[-1]


def test_markdown_shows_the_worst_first_no_foreign_markup_and_is_never_too_long_for_a_comment(rows):
    long = markdown([replace(rows[1], why="why " * 2000)] * 200)
    assert len(long) <= LONGEST and "more |" in long and long.count("```") % 2 == 0
    text = markdown(rows)
    table = [line for line in text.splitlines() if line.startswith("| ") and "`" in line]
    assert len(table) == 5 and "mine:run@own" in table[0] and table[-1].startswith("| ✅")
    outside = re.sub(r"(`+)[^`].*?[^`]\1(?!`)", "", re.sub(r"(?s)\n(`{3,})text\n.*?\n\1\n", "\n", text))
    for mark in ("<script", "javascript:1)", "@team", "]]>"):
        assert mark not in outside, outside
    for line in table:  # a bar in a name does not make a column
        assert len(re.findall(r"(?<!\\)\|", line)) == 8


def test_the_summary_names_what_failed(rows, row_of):
    assert summary_line([row_of["fine"]]) == "PASSED: 1 row: 1 passed"
    line = summary_line(rows)
    assert line.startswith("FAILED: 5 rows: 2 failed (mine:run@own: sensitivity exceeded (mean) at mine.py:22; mine:")
    assert line.endswith("1 inconclusive, 2 passed") and "\n" not in line
    assert summary_line([row_of["undecided"], row_of["fine"]]) == "INCONCLUSIVE: 2 rows: 1 inconclusive, 1 passed"
    assert "3 failed" in summary_line(rows, strict=True) and "; and 1 more)" in summary_line([row_of["failed"]] * 4)
    missed = [Unchecked(name, "why") for name in "abcd"]
    assert summary_line([row_of["fine"]], unchecked=missed) == (
        "NOT CHECKED: 1 row: 1 passed, 4 could not be checked (a, b, c)"
    )
    assert summary_line([]) == "PASSED: 0 rows: nothing to do"


# The published schema of a report: generated from the model, and what is written keeps it.
SCHEMAS = Path(__file__).resolve().parents[3] / "docs" / "schemas"


def test_the_published_schemas_are_those_of_the_models():
    made = runpy.run_path(str(SCHEMAS.parent / "json_schemas.py"))["published"]()
    assert {path.name for path in SCHEMAS.iterdir()} == set(made)
    for name, text in made.items():
        assert (SCHEMAS / name).read_text(encoding="utf-8") == text, "run `make schemas`"
        Draft202012Validator.check_schema(json.loads(text))
    said = json.loads(made["report.schema.json"])["properties"]["format"]
    assert said == {"const": FORMAT, "description": "The version of this schema."}


def test_reports_keep_the_schema_and_what_is_none_does_not(rows):
    """Row by row it is what is read: `tests/audit/running/test_report_file.py`."""
    schema = json.loads((SCHEMAS / "report.schema.json").read_text(encoding="utf-8"))
    validator, right = Draft202012Validator(schema), json.loads(json_text(document(rows[:4])))
    validator.validate(right)
    assert not validator.is_valid({**right, "rows": [right["rows"][0] | {"verdict": "private"}]})


ODD = "\x1b[2J\x9b\x00</testcase>]]><b>&\n::error::x | `a` $\\frac{$ \ud800\ufffe\u202e\u2028%0A"


def plain(text: str) -> None:
    bad = {letter for letter in text if not letter.isprintable() and letter != "\n"}
    assert not bad, sorted(map(ascii, bad))
    text.encode()


def test_every_text_and_every_list_of_a_row_in_every_form(row_of):
    texts = ("algorithm", "variant", "reading", "data", "why", "realised_by", "relation", "owner", "cite", "accounting")
    more = {"places": [{"finding": ODD, "file": ODD, "line": 3}], "facts": {ODD: 1.0}, "shares": {ODD: 0.5}}
    more |= {"witnesses": row_of["hostile"].witnesses, "findings": [Finding(Kind.EARLY_END, ODD, 1, ODD)]}
    lists = ("changes", "missed", "raised", "missing", "undeclared", "unreached")
    odd = [row_of["hostile"], *(replace(row_of["failed"], **{field: ODD}) for field in texts)]
    said = [ODD, f"early end at {ODD!r}, step 1: {ODD}"]
    odd += [replace(row_of["failed"], **more, **{field: said}) for field in lists]
    for row in odd:
        for text in (junit([row]), sarif([row]), markdown([row]), workflow_commands([row]), summary_line([row])):
            plain(text)
        Xml.fromstring(junit([row]))
        json.loads(sarif([row]))
        assert all(line.startswith(("::error ", "::warning ")) for line in workflow_commands([row]).splitlines())
        for line in (*table_lines([row], 100), *explain_lines(row, []), *(one.message for one in problems(row))):
            plain(str(line))


def test_a_campaign_over_vectors_with_such_names():
    """The name of a suite came through as it was: XML that no reader takes."""
    results = [Result(ODD, ODD, outcome, ODD) for outcome in ("fail", "error", "unsupported", "pass")]
    judged = campaign.judge(results, [campaign.Expected("*", "fail", ODD)])
    text = campaign.junit(ODD, judged, {ODD: ODD})
    plain(text)
    assert len(Xml.fromstring(text).findall("testsuite/testcase")) == 4
    plain(campaign.table(judged))
    json.loads(campaign.report(ODD, judged, 4, {}))
