"""All vectors through one adapter: what was expected to fail, what the exit code says, and the report."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path
from typing import Any

from dpassay.audit.crosscheck.adapter import Result
from dpassay.audit.exit_codes import FAILED, INCONCLUSIVE
from dpassay.audit.plain import json_text
from dpassay.audit.verdict import joint_exit_code
from dpassay.reference.errors import printable, require
from dpassay.reference.files import parse_toml, read_text

from .junit import Case, junit_xml

OUTCOMES = ("pass", "fail", "unsupported", "error")
FORMAT = 2


@dataclass(frozen=True)
class Expected:
    """Vectors (a pattern of ids) that the consumer knows not to pass, and how."""

    pattern: str
    outcome: str
    why: str


@dataclass(frozen=True)
class Judged:
    """A result beside what was expected of it."""

    result: Result
    expected: Expected | None

    @property
    def unexpected(self) -> bool:
        """Red though nobody said so, red otherwise than was said, or green though it was said to be red."""
        return self.result.outcome != ("pass" if self.expected is None else self.expected.outcome)

    @property
    def unexpected_pass(self) -> bool:
        """What was said to fail passes: the file of expected failures is out of date."""
        return self.expected is not None and self.result.outcome == "pass"


def read_expected(path: Path) -> list[Expected]:
    """A TOML file: ``["PATTERN OF IDS"]`` with ``outcome`` (fail, unsupported, error) and ``why``."""
    document = parse_toml(read_text(path, "--expected"), str(path))
    found = []
    for pattern, entry in document.items():
        place = f'{path}: ["{pattern}"]'
        require(isinstance(entry, dict), place, entry, "must be a table with outcome and why")
        outcome, why = entry.get("outcome"), entry.get("why")
        require(outcome in OUTCOMES[1:], f"{place}.outcome", outcome, f"must be one of {', '.join(OUTCOMES[1:])}")
        said = isinstance(why, str) and bool(why.strip())
        require(said, f"{place}.why", why, "must say why, for whoever reads it next")
        found.append(Expected(pattern, str(outcome), str(why)))
    return found


def judge(results: Sequence[Result], expected: Sequence[Expected]) -> list[Judged]:
    """Every result with the first expectation that names it."""
    return [Judged(one, next((e for e in expected if fnmatchcase(one.id, e.pattern)), None)) for one in results]


def exit_code(judged: Sequence[Judged]) -> int:
    """1: something is red that was not said to be (or green that was said to be red); 3: something was not run."""
    wrong = [one.result.outcome for one in judged if one.unexpected]
    return joint_exit_code(INCONCLUSIVE if outcome == "unsupported" else FAILED for outcome in wrong)


def table(judged: Sequence[Judged]) -> str:
    """One line an algorithm, and the sum."""
    rows: list[tuple[str, ...]] = [("algorithm", "vectors", *OUTCOMES, "expected")]
    for algorithm, group in groupby(judged, key=lambda one: one.result.algorithm):
        rows.append((printable(algorithm), *_counts(list(group))))
    rows.append(("all", *_counts(judged)))
    width = max(len(name) for name, *_ in rows)
    cells = ("  ".join(cell.rjust(len(head)) for cell, head in zip(row[1:], rows[0][1:], strict=True)) for row in rows)
    return "\n".join(f"{row[0]:<{width}}  {numbers}" for row, numbers in zip(rows, cells, strict=True))


def _counts(judged: Sequence[Judged]) -> tuple[str, ...]:
    known = [sum(one.result.outcome == outcome for one in judged) for outcome in OUTCOMES]
    as_said = sum(one.expected is not None and not one.unexpected for one in judged)
    return (str(len(judged)), *map(str, known), str(as_said))


def report(adapter: str, judged: Sequence[Judged], total: int, evidence: Mapping[str, Any]) -> str:
    """The campaign as JSON."""
    rows = [
        {
            **{name: getattr(one.result, name) for name in ("id", "algorithm", "outcome", "message", "flags")},
            "expected": None if one.expected is None else asdict(one.expected),
            "unexpected": one.unexpected,
            "differences": [{**asdict(each), "text": str(each)} for each in one.result.differences],
            "sensitivities_not_stated": one.result.unstated,
            "evidence": evidence.get(one.result.id),
            "seconds": round(one.result.seconds, 3),
        }
        for one in judged
    ]
    summary = {outcome: sum(one.result.outcome == outcome for one in judged) for outcome in OUTCOMES}
    head = {"format": FORMAT, "adapter": adapter, "vectors": total, "run": len(judged), "summary": summary}
    return json_text({**head, "exit_code": exit_code(judged), "results": rows})


def junit(adapter: str, judged: Sequence[Judged], evidence: Mapping[str, Any]) -> str:
    """The campaign as JUnit XML: one suite an algorithm; what was expected to be red is skipped."""
    cases = []
    for one in judged:
        result, known = one.result, "" if one.expected is None else f" ({one.expected.why})"
        kind = "error" if result.outcome == "error" else "failure"
        if not one.unexpected_pass and (result.outcome == "unsupported" or not one.unexpected):
            kind = "" if result.outcome == "pass" else "skipped"
        message = "passes, but was expected not to" if one.unexpected_pass else result.message or result.outcome
        told = evidence.get(result.id)
        lines = [*map(str, result.differences[:20]), *([str(told)] if told else [])]
        names = result.algorithm, result.algorithm.replace("/", "."), result.id
        cases.append(Case(*names, result.seconds, kind, {"message": message + known}, lines))
    return junit_xml(adapter, cases)
