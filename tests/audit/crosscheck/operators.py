"""Differences planted by rule: each operator changes one place of a program in ``outsider``, and its kind is known.

Nothing of the diagnosis is used: what an operator does is said by the program's own names. Of all places a seed draws
some; those that change nothing on any vector, or only make the program stop, are left out by whoever runs them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OUTSIDER = Path(__file__).parent / "outsider"
PROGRAMS = {
    "baselines/dp_sgd": ("dp_sgd",),
    "dp_ftrl/dp_ftrl": ("dp_ftrl",),
    "second_order_erm/opt": ("opt", "risks"),
    "second_order_erm/opt_ls": ("opt_ls", "risks"),
    "minimax_sosp/dp_rgda": ("dp_rgda", "games"),
    "minimax_sosp/dp_spider": ("dp_spider",),
    "dro/recursive_spider": ("recursive_spider", "losses"),
    "dro/double_spider": ("double_spider", "losses"),
    "dro/sgda": ("sgda", "losses"),
    "output_perturbation/algorithm2": ("phased",),
    "adaptive_batch/stochastic_spider": ("stochastic_spider",),
}
CLIP, SHIFT, NOISE, BARE = "clip order, clip norm", "index shift", "noise scale", "un-noised"
NOISY = ("std", "sigma", "sens", "scale", "bound", "clip", "size", "claim", "spread", "per_", "raise", "trials")
NEWER = {"x_old": "x", "y_old": "y", "eta_old": "eta", "before": "now", "x": "x_old", "y": "y_old", "now": "before"}


@dataclass(frozen=True)
class Planted:
    """One difference.

    Args:
        edits: file of ``outsider`` and its whole text afterwards.
    """

    name: str
    algorithm: str
    kind: str
    edits: tuple[tuple[str, str], ...]


Place = tuple[ast.AST, str, str, ast.AST]  # what is replaced, the operator, the kind, by what


def planted() -> list[Planted]:
    """Every place of every program, in a fixed order."""
    found = []
    for algorithm, files in PROGRAMS.items():
        for file in files:
            text = (OUTSIDER / f"{file}.py").read_text(encoding="utf-8")
            for number in range(len(list(_places(ast.parse(text))))):
                tree = ast.parse(text)
                node, operator, kind, new = list(_places(tree))[number]
                name = f"{operator}, {file} line {node.lineno}: {ast.unparse(node)[:50]}"  # type: ignore[attr-defined]
                made = ast.unparse(ast.fix_missing_locations(_Replaced(node, new).visit(tree)))
                found.append(Planted(name, algorithm, kind, ((f"{file}.py", made + "\n"),)))
    return found


class _Replaced(ast.NodeTransformer):
    def __init__(self, node: ast.AST, new: ast.AST):
        self.node, self.new = node, new

    def visit(self, node: ast.AST) -> ast.AST:
        """The node itself is exchanged, all others are kept."""
        return self.new if node is self.node else self.generic_visit(node)


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _places(tree: ast.Module) -> Iterator[Place]:
    for statement in ast.walk(tree):
        if isinstance(statement, ast.For) and "range(" in ast.unparse(statement.iter):
            yield from _loop(statement)
        if isinstance(statement, ast.Assign | ast.Return | ast.AugAssign | ast.If):
            yield from _statement(statement)


def _loop(loop: ast.For) -> Iterator[Place]:
    code = ast.unparse(loop.iter)
    yield loop.iter, "one round less", SHIFT, _expression(f"list({code})[:-1]")
    yield loop.iter, "begins one later", SHIFT, _expression(f"list({code})[1:]")


def _statement(statement: ast.Assign | ast.Return | ast.AugAssign | ast.If) -> Iterator[Place]:
    whole = ast.unparse(statement.test if isinstance(statement, ast.If) else statement)
    if isinstance(statement, ast.If):
        if "isinstance" in whole or "class" in whole or "len(" in whole or "min(" in whole or " n " in whole:
            return
        for node in ast.walk(statement.test):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
                new = f"({ast.unparse(node.left)} + 1) % {ast.unparse(node.right)}"
                yield node, "counted from the other end", SHIFT, _expression(new)
        return
    target = ast.unparse(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
    about_noise = any(word in f"{target} {whole[:12]}" for word in NOISY)
    for node in ast.walk(statement):
        if isinstance(node, ast.BinOp) and not about_noise:
            yield from _arithmetic(node)
        elif isinstance(node, ast.Call):
            yield from _call(node)
        elif isinstance(node, ast.Subscript) and ast.unparse(node.slice) == "k":
            base = ast.unparse(node.value)
            kind = "wrong batch" if base == "parts" else SHIFT
            yield node.slice, "that of the one before", kind, _expression("max(k - 1, 0)")
    if isinstance(statement, ast.Assign):
        yield from _assigned(statement, target, about_noise)


def _arithmetic(node: ast.BinOp) -> Iterator[Place]:
    left, right = ast.unparse(node.left), ast.unparse(node.right)
    plain = not isinstance(node.right, ast.Constant | ast.List) and not isinstance(node.left, ast.List)
    if isinstance(node.op, ast.Add | ast.Sub) and plain and "len(" not in left:
        other = "-" if isinstance(node.op, ast.Add) else "+"
        yield node, "other sign", "sign", _expression(f"({left}) {other} ({right})")
        yield node, "term left out", "missing term", _expression(left)
    if isinstance(node.op, ast.Div):
        yield node, "divisor left out", "factor", _expression(left)
        yield node, "divided twice", "factor", _expression(f"({left}) / ({right}) / ({right})")
    if isinstance(node.op, ast.Mult) and plain:
        yield node, "factor left out", "factor", _expression(right)
    if isinstance(node.op, ast.Pow) and right == "2":
        yield node, "not squared", "factor", _expression(left)


def _call(node: ast.Call) -> Iterator[Place]:
    name, code = ast.unparse(node.func), ast.unparse(node)
    args = [ast.unparse(one) for one in node.args]
    if name == "clip_rows":
        rows, bound = args
        shape = f"({rows}).shape"
        yield node, "not clipped", f"{CLIP}, clipping is missing, missing term", _expression(f"({rows})")
        yield node, "each coordinate clipped", CLIP, _expression(f"np.clip({rows}, -({bound}), {bound})")
        mean = f"np.broadcast_to(clip_rows(({rows}).mean(axis=0)[None], {bound}), {shape})"
        yield node, "mean clipped", CLIP, _expression(mean)
        order = f"np.array([row * min(1.0, {bound} / max(np.abs(row).sum(), 1e-300)) for row in {rows}])"
        yield node, "1-norm", CLIP, _expression(order)
    if name.endswith("tape.gaussian"):
        for keyword in node.keywords:
            if keyword.arg == "std":
                std = ast.unparse(keyword.value)
                yield keyword.value, "variance", NOISE, _expression(f"({std}) ** 2")
                yield keyword.value, "half the noise", NOISE, _expression(f"({std}) / 2")
                yield keyword.value, "root of two left out", NOISE, _expression(f"({std}) / math.sqrt(2)")
                yield keyword.value, "no noise", BARE, _expression(f"0.0 * ({std})")
        kept = f"(lambda bare: ({code.replace(args[1], 'bare', 1)}, bare)[1])({args[1]})"
        yield node, "released value not used", BARE, _expression(kept)
        half = f"(lambda bare: 0.5 * ({code.replace(args[1], 'bare', 1)} + bare))({args[1]})"
        yield node, "half of it is exact", BARE, _expression(half)
    if name in ("into_ball", "onto_simplex", "self.f.project") and args:
        yield node, "not projected", "missing term", _expression(args[0])
    if name in ("min", "max", "np.minimum", "np.maximum") and len(args) == 2 and "1" not in args:
        yield node, "limit left out", "missing term, clipping is missing, clip bound", _expression(args[0])
    if name.endswith(".mean") and "axis=0" in code:
        yield node, "sum for mean", "factor", _expression(code.replace(".mean(", ".sum("))
    for place, one in enumerate(args):
        if one == "chosen" and "rows" not in name:
            for operator, other in (
                ("first records", "np.arange(len(chosen))"),
                ("half of the records", "chosen[: max(1, len(chosen) // 2)]"),
            ):
                yield node.args[place], operator, "wrong batch", _expression(other)
        if one in NEWER and not name.startswith("np."):
            yield node.args[place], "another time", SHIFT, _expression(NEWER[one])


def _assigned(statement: ast.Assign, target: str, about_noise: bool) -> Iterator[Place]:
    value = ast.unparse(statement.value)
    if target in ("std", "sigma", "std_g", "std_H", "std_tree", "std_escape", "std_f"):
        yield statement.value, "twice the noise", NOISE, _expression(f"2 * ({value})")
        yield statement.value, "root of the noise", NOISE, _expression(f"({value}) ** 0.5")
    whole = ("(", "[", "{", "None")
    if not about_noise and isinstance(statement.value, ast.BinOp) and not target.startswith(whole):
        yield statement.value, "twice", "factor", _expression(f"2 * ({value})")
        yield statement.value, "half", "factor", _expression(f"({value}) / 2")
