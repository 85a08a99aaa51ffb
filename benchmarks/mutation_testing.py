"""Mutation testing of our own code: does a changed line of the auditor or the accountant turn a test red?

    pip install cosmic-ray
    python benchmarks/mutation_testing.py [--quick] [--write] [--only WORD] [--again] [--keep FILE]

Cosmic-ray makes the mutants (operators, comparisons, numbers, booleans, breaks, loops that never run); this script
takes a sample with a fixed seed, at most one mutant for each place in the code, puts each into a copy of the
repository, and runs the module's own fast tests in a fork of a process that has loaded the libraries. What was run is
kept in FILE and not run again (`--again` runs survivors again), until the module's text changes: then its whole sample
is a new one. Annotations are not code, and are left out. A mutant that runs for half a minute of processor time counts
as killed, as one whose tests fail. On the page a module that was not run now (`--only`) keeps what stands there.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib.util
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mutation_page import RESULT, TOP, code_of, page

LIBRARIES = (
    "numpy",
    "scipy.stats",
    "scipy.optimize",
    "scipy.special",
    "hypothesis",
    "pytest",
    "dp_accounting.pld",
    "mpmath",
)
SEED, PLACES, SECONDS = 18, 24, 30
ACCOUNTING, SCORES, LOCKSTEP = "tests/reference/accounting", "tests/audit/scores", "tests/audit/lockstep"
PLAIN = "tests/audit/plain_numpy"
EDGES, OF_LAWS = "tests/reference/laws/test_edges_of_floats.py", "tests/reference/test_laws.py"
MODULES: dict[str, tuple[str, ...]] = {
    "audit/bounds.py": ("tests/audit/test_bounds.py",),
    "audit/scores/labels.py": tuple(f"{SCORES}/test_{name}.py" for name in ("level_shares", "labels", "reading")),
    "audit/scores/thresholds.py": (f"{SCORES}/test_scores.py", f"{SCORES}/test_exact_levels.py"),
    "audit/scores/one_run.py": tuple(f"{SCORES}/test_{name}.py" for name in ("level_shares", "one_run", "twins")),
    "audit/scores/events.py": (f"{SCORES}/test_events.py", f"{SCORES}/test_twins.py"),
    "audit/scores/fixed_guesses.py": (f"{SCORES}/test_fixed_guesses.py",),
    "audit/scores/weighted.py": tuple(f"{SCORES}/test_{name}.py" for name in ("weighted_exactly", "outward", "twins")),
    "audit/scores/outward.py": (f"{SCORES}/test_outward.py", f"{SCORES}/test_twins.py"),
    "audit/scores/reading.py": (f"{SCORES}/test_reading.py", f"{SCORES}/test_hostile_scores.py"),
    "audit/scores/found_out.py": tuple(
        f"{SCORES}/test_{name}.py" for name in ("found_out", "alike", "twins", "one_run")
    ),
    "audit/scores/steps.py": (f"{SCORES}/test_steps.py",),
    "audit/search/drawn.py": ("tests/audit/search/test_drawn.py",),
    "audit/plain_numpy/unlikely.py": (f"{PLAIN}/test_unlikely.py", f"{PLAIN}/test_reused_and_unlikely.py"),
    "audit/plain_numpy/reused.py": (f"{PLAIN}/test_reused_and_unlikely.py",),
    "audit/plain_numpy/met.py": (f"{PLAIN}/test_reused_and_unlikely.py",),
    "audit/plain_numpy/inside.py": (f"{PLAIN}/test_inside.py",),
    "audit/running/store.py": ("tests/audit/running/test_store.py",),
    "reference/tape.py": ("tests/reference/test_tape.py", f"{LOCKSTEP}/test_state.py"),
    "audit/lockstep/hub.py": (f"{LOCKSTEP}/test_hub.py", LOCKSTEP),
    "audit/lockstep/hidden.py": (f"{LOCKSTEP}/test_hidden_batches.py", LOCKSTEP),
    "reference/accounting/calibrate.py": (f"{ACCOUNTING}/test_calibrate.py", f"{ACCOUNTING}/test_edges.py"),
    "reference/accounting/cost.py": (f"{ACCOUNTING}/test_accounting.py", f"{ACCOUNTING}/test_edges.py"),
    "reference/accounting/gdp.py": (f"{ACCOUNTING}/test_safe_side.py", f"{ACCOUNTING}/test_curves_safely.py"),
    "reference/accounting/parts.py": tuple(
        f"{ACCOUNTING}/test_{name}.py"
        for name in ("parts", "compose", "edges", "above_threshold", "accounting", "safe_side")
    ),
    "reference/accounting/renyi.py": (f"{ACCOUNTING}/test_safe_side.py",),
    "reference/accounting/sampled.py": (f"{ACCOUNTING}/test_accounting.py", f"{ACCOUNTING}/test_curves_safely.py"),
    "reference/accounting/compose.py": (f"{ACCOUNTING}/test_compose.py", f"{ACCOUNTING}/test_safe_side.py"),
    "reference/accounting/curves.py": tuple(
        f"{ACCOUNTING}/test_{name}.py" for name in ("curves_safely", "parts", "compose")
    ),
    "reference/accounting/part.py": tuple(
        f"{ACCOUNTING}/test_{name}.py" for name in ("parts", "edges", "curves_safely")
    ),
    "reference/accounting/rounding.py": (f"{ACCOUNTING}/test_curves_safely.py",),
    "reference/accounting/above_threshold.py": (
        f"{ACCOUNTING}/test_worst_tests.py",
        f"{ACCOUNTING}/test_above_threshold.py",
    ),
    "reference/accounting/hidden_threshold.py": (f"{ACCOUNTING}/test_hidden_threshold.py",),
    "reference/laws/above_threshold.py": (OF_LAWS, EDGES),
    "reference/laws/laplace.py": (OF_LAWS, EDGES, f"{ACCOUNTING}/test_edges.py"),
    "reference/laws/between.py": (OF_LAWS, EDGES, "tests/reference/laws/test_library_laws.py"),
    "proofs_check/checkers/rates.py": ("tests/proofs_check/test_checkers.py",),
}  # fmt: skip


def mutants(path: Path, places: int) -> Iterator[tuple[int, str, str]]:
    """Line, what was done, and the whole mutated text: one for each of at most ``places`` places."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    source = path.read_text(encoding="utf-8")
    nodes = list(ast_nodes(get_ast(source)))
    by_place: dict[tuple[int, int], list[tuple[str, int]]] = {}
    for name in operator_names():
        if not get_operator(name).arguments() and not name.endswith(("NoOp", "RemoveDecorator")):
            operator = get_operator(name)()
            spots = (spot for node in nodes for spot in operator.mutation_positions(node))
            for occurrence, (start, _) in enumerate(spots):
                by_place.setdefault(start, []).append((name, occurrence))
    chance, plain = random.Random(SEED), meaning(source)
    order = sorted(by_place)
    chance.shuffle(order)
    found = 0
    for place in order:
        name, occurrence = chance.choice(by_place[place])
        text = mutate_code(source, get_operator(name)(), occurrence)
        if text is not None and found < places and (new := meaning(text)) is not None and new != plain:
            found += 1
            yield place[0], name.removeprefix("core/"), text


def meaning(source: str) -> str | None:
    """The code without its annotations; None if it does not parse."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign):
            node.annotation = None if isinstance(node, ast.arg) else ast.Constant(0)
        if isinstance(node, ast.FunctionDef):
            node.returns = None
    return ast.dump(tree)


def copied(folder: Path) -> Path:
    """The repository's files in ``folder``, importable as ``dpassay``."""
    files = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=TOP, check=True, capture_output=True, text=True
    )
    for name in files.stdout.splitlines():
        if (TOP / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(TOP / name, folder / name)
    package = folder / ".links" / "dpassay"
    package.mkdir(parents=True)
    for part in ("audit", "reference", "proofs_check"):
        (package / part).symlink_to(folder / part)
    return folder


def tests_pass(folder: Path, tests: tuple[str, ...]) -> tuple[bool, float]:
    """Run them in a fork; whether they are green, and the processor time.

    Byte code is not written: a mutant of the same second and size would be taken for the one before.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        os.chdir(folder)
        sys.path[:] = [str(folder / ".links"), *(one for one in sys.path if not one.endswith(".links"))]
        sys.dont_write_bytecode = True
        import pytest
        from hypothesis import Phase, settings

        settings.register_profile("found", settings(), phases=(Phase.explicit, Phase.generate))  # and not made smaller
        settings.load_profile("found")
        os._exit(int(pytest.main(["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist", *tests])))
    status = os.waitpid(child, 0)[1]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return status == 0, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def changed(source: str, text: str) -> list[str]:
    """The lines that went and came."""
    lines = difflib.unified_diff(source.splitlines(), text.splitlines(), n=0, lineterm="")
    return [line[0] + " " + line[1:].strip() for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def run(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Every mutant of the sample that was not run before; all that is known."""
    kept: Path = options.keep
    known: dict[str, dict[str, Any]] = {}
    if kept.exists():
        rows = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
        known = {str(row["mutant"]): row for row in rows}
    for name in LIBRARIES:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as scratch, kept.open("a", encoding="utf-8") as log:
        folder = copied(Path(scratch))
        for module, tests in MODULES.items():
            if options.only not in module:
                continue
            source, code, green = (TOP / module).read_text(encoding="utf-8"), code_of(module), False
            for line, what, text in mutants(TOP / module, 5 if options.quick else PLACES):
                difference = changed(source, text)
                key = f"{module} {code}, line {line}: {' '.join(difference)}"
                if key in known and not (options.again and not known[key]["killed"]):
                    continue
                if not green:
                    green, seconds = tests_pass(folder, tests)
                    print(
                        f"{module}: own tests {'pass' if green else 'FAIL'} in {seconds:.1f} s of processor time",
                        flush=True,
                    )
                    if not green:
                        break
                (folder / module).write_text(text, encoding="utf-8")
                passed, seconds = tests_pass(folder, tests)
                (folder / module).write_text(source, encoding="utf-8")
                row = {
                    "mutant": key,
                    "module": module,
                    "code": code,
                    "line": line,
                    "what": what,
                    "difference": difference,
                    "killed": not passed,
                }
                known[key] = row
                print(json.dumps(row), file=log, flush=True)
                if passed:
                    print(f"  survives, line {line}: {' '.join(difference)}", flush=True)
    return known


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="five mutants a module")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/mutation_testing.md")
    parser.add_argument("--only", default="", help="modules whose path contains this")
    parser.add_argument("--again", action="store_true", help="run survivors again")
    parser.add_argument("--keep", type=Path, default=TOP / "build" / "mutation_testing.jsonl", help="what was run")
    options = parser.parse_args()
    if importlib.util.find_spec("cosmic_ray") is None:
        print("skipped: pip install cosmic-ray")
        return
    options.keep.parent.mkdir(exist_ok=True)
    text = page(list(run(options).values()), list(MODULES), PLACES, SEED)
    print(text)
    if options.write:
        RESULT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
