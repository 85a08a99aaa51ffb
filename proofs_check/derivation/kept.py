"""Derivations that were decided before, by the same code, of the same files (:mod:`dpassay.reference.kept`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dpassay.proofs_check.claim import Finding, Verdict
from dpassay.reference.kept import code_of, keep, kept

from .derive import Chain, Checked, Derivation, Looked, derive
from .model import Part, Remark, Statement, parts_of
from .solver import Answer, Decision


def derived(statement: Statement, sources: Mapping[str, Statement], anew: bool = False) -> Derivation:
    """As :func:`derive`, or what it said last time. A file that has a problem is decided anew each time."""
    files = json.dumps([asdict(one) for one in (statement, *sources.values())], default=sorted)  # symbols are sets
    code, name = code_of(("reference", "proofs_check"), files), f"statements/{Path(statement.file).with_suffix('')}"
    answer = None if anew else kept(name, code)
    if answer is None:
        found = derive(statement, sources)
        if not found.problems:
            keep(name, code, _data(found))
        return found
    return _derivation(statement, answer)


def _data(found: Derivation) -> dict[str, Any]:
    remarks = {kind: [one.finding and asdict(one.finding) for one in getattr(found, kind)]
               for kind in ("slips", "edges", "notes")}  # fmt: skip
    return {"chain": _chain_data(found.chain), "repaired": found.repaired and _chain_data(found.repaired),
            "false": found.false and asdict(found.false), **remarks}  # fmt: skip


def _chain_data(chain: Chain) -> dict[str, Any]:
    steps = [[asdict(one.decision), one.without and asdict(one.without)] for one in chain.steps]
    return {"steps": steps, "restated": dict(chain.restated)}


def _derivation(statement: Statement, answer: Mapping[str, Any]) -> Derivation:
    printed, *mended = parts_of(statement)
    return Derivation(
        statement, _chain(printed, answer["chain"]), _chain(mended[0], answer["repaired"]) if mended else None,
        answer["false"] and _decision(answer["false"]), _looked(statement.slip, answer["slips"]),
        _looked(statement.edge, answer["edges"]), _looked(statement.note, answer["notes"]),
    )  # fmt: skip


def _chain(part: Part, answer: Mapping[str, Any]) -> Chain:
    steps = tuple(Checked(step, _decision(one), without and _decision(without))
                  for step, (one, without) in zip(part.steps, answer["steps"], strict=True))  # fmt: skip
    return Chain(steps, {one.id: one for one in part.given}, part.reached, answer["restated"])


def _decision(answer: Mapping[str, Any]) -> Decision:
    return Decision(**{**answer, "answer": Answer(answer["answer"])})


def _looked(remarks: tuple[Remark, ...], answers: list[Any]) -> tuple[Looked, ...]:
    findings = [one and Finding(**{**one, "verdict": Verdict(one["verdict"])}) for one in answers]
    return tuple(Looked(remark, finding, True) for remark, finding in zip(remarks, findings, strict=True))
