"""The published schema of a report: generated from the model, and what is written keeps it."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, ValidationError

from dpassay.audit.plain import json_text
from dpassay.audit.report.json_schema import published, report_schema
from dpassay.audit.running.report_file import FORMAT, document, load, save

SCHEMAS = Path(__file__).resolve().parents[3] / "docs" / "schemas"


def test_the_published_schemas_are_those_of_the_models():
    made = published()
    assert {path.name for path in SCHEMAS.iterdir()} == set(made)
    for name, text in made.items():
        assert (SCHEMAS / name).read_text(encoding="utf-8") == text, "run `make schemas`"
        Draft202012Validator.check_schema(json.loads(text))
    assert report_schema()["properties"]["format"] == {"const": FORMAT, "description": "The version of this schema."}


def test_reports_keep_the_schema(rows, tmp_path):
    validator = Draft202012Validator(report_schema())
    save(tmp_path / "report.json", rows[:4])
    validator.validate(json.loads((tmp_path / "report.json").read_text()))
    assert len(load(tmp_path / "report.json")) == 4


@pytest.mark.parametrize(
    ("field", "value"),
    [("verdict", "private"), ("claimed", "1"), ("runs", 1.5), ("findings", "none"), ("expected", 1), ("power", "big")],
)
def test_the_schema_rejects_what_is_no_report(rows, field, value):
    right = json.loads(json_text(document(rows[:1])))
    wrong = copy.deepcopy(right)
    wrong["rows"][0][field] = value
    with pytest.raises(ValidationError):
        Draft202012Validator(report_schema()).validate(wrong)
    del right["rows"][0][field]
    with pytest.raises(ValidationError):
        Draft202012Validator(report_schema()).validate(right)
