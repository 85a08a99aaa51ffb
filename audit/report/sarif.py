"""Rows as SARIF 2.1.0 (OASIS Standard, 2020): findings at their source lines, for code scanning.

What a printed reading declares is suppressed with that justification. ``inconclusive`` has kind ``open``: there was too
little information to decide (section 3.27.9), and then the level is ``none`` (3.27.10).
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from dpassay.audit.plain import json_text
from dpassay.audit.row import Row
from dpassay.audit.verdict import joint_exit_code
from dpassay.audit.version import installed_version
from dpassay.reference.errors import printable
from dpassay.reference.findings import Kind

from .problems import CHANGED, REQUIRED, SENTENCES, Level, Problem, Spot, Unchecked, problems, row_title

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
RULES: Mapping[str, str] = SENTENCES["rules"]
_IDS = {rule: rule.replace(" ", "-") for rule in RULES}
_PLACES = {rule: place for place, rule in enumerate(RULES)}


def sarif(rows: Sequence[Row], strict: bool = False, unchecked: Sequence[Unchecked] = ()) -> str:
    """The rows as a SARIF log with one run; what has no row is a notification of the run."""
    results = [_result(row, one) for row in rows for one in problems(row, strict)]
    invocation: dict[str, Any] = {"executionSuccessful": not unchecked}
    if unchecked:
        told = [{"level": "error", "message": {"text": printable(one.why)}} for one in unchecked]
        invocation["toolExecutionNotifications"] = told
    else:
        invocation["exitCode"] = joint_exit_code(row.exit_code(strict) for row in rows)
    rules = [_rule(rule, text) for rule, text in RULES.items()]
    driver = {"name": "dpassay", "version": printable(installed_version()), "rules": rules}
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": "dpassay/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": results,
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _rule(rule: str, text: str) -> dict[str, Any]:
    kind = next((kind for kind in Kind if kind.value == rule), None)
    sure = rule in ("not shown", CHANGED, REQUIRED) or (kind is not None and not kind.bookkeeping)
    return {
        "id": _IDS[rule],
        "name": "".join(word.capitalize() for word in rule.split()),
        "shortDescription": {"text": text},
        "defaultConfiguration": {"level": "error" if sure else "warning"},
        "properties": {"tags": ["privacy", "differential-privacy"]},
    }


def _result(row: Row, problem: Problem) -> dict[str, Any]:
    undecided = problem.rule == "inconclusive"
    location: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": printable(row.key), "kind": "function"}]}
    if problem.spots:
        location["physicalLocation"] = _physical(problem.spots[0])
    # numbers in messages may change from run to run: a change is told by its first words
    about = problem.label or (problem.message.partition(":")[0] if problem.rule == CHANGED else "")
    about = problem.message if problem.rule == "raised" else about
    identity = hashlib.sha256("\0".join((row.key, problem.rule, about)).encode("utf-8", "replace"))
    result: dict[str, Any] = {
        "ruleId": _IDS[problem.rule],
        "ruleIndex": _PLACES[problem.rule],
        "kind": "open" if undecided else "fail",
        "level": "none" if undecided else problem.level.value,
        "message": {"text": f"{row_title(row)}: {problem.message}"},
        "locations": [location],
        "partialFingerprints": {"dpassay/v1": identity.hexdigest()},
    }
    if problem.spots[1:]:
        result["relatedLocations"] = [
            {"physicalLocation": _physical(one), **({"message": {"text": one.role}} if one.role else {})}
            for one in problem.spots[1:]
        ]
    if problem.level is Level.NOTE:
        why = "declared by this printed reading of the paper"
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": why}]
    return result


def _physical(spot: Spot) -> dict[str, Any]:
    file = {"uri": quote(spot.file), "uriBaseId": "%SRCROOT%"}
    return {"artifactLocation": file, "region": {"startLine": spot.line}}
