"""What a person sees of a finding: the outputs that gave most away, and a picture of both sides with the claim."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from warnings import catch_warnings, filterwarnings

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import BadInput, printable, require
from dpassay.reference.guarantee import Guarantee

from .detect import Detail
from .learner import Candidate

EACH = 3  # outputs a side
LONGEST = 160  # characters of one
BINS, WIDEST = 60, 60  # WIDEST: letters of a label
FORMATS = (".png", ".svg", ".pdf")


def telling_outputs(detail: Detail, outputs_p: Sequence[Any], outputs_q: Sequence[Any]) -> dict[str, list[str]]:
    """The outputs of the test part with the most extreme scores: on D, and on D', in the direction of each."""
    if detail.repeated is not None:
        one_a_side = zip(("on D", "on D'"), (outputs_p, outputs_q), detail.repeated, strict=True)
        return {name: [_short(outputs[row])] for name, outputs, row in one_a_side if row >= 0}
    sign, scores, found = -1.0 if detail.candidate.event.below else 1.0, detail.scores(detail.candidate), {}
    for name, outputs, side, towards in (("on D", outputs_p, 0, -1.0), ("on D'", outputs_q, 1, 1.0)):
        order = np.argsort(-sign * towards * scores[side], kind="stable")[:EACH]
        rows = detail.parts.rows[side]
        found[name] = [_short(outputs[int(rows[i])], _telling_entry(detail, side, int(i))) for i in order]
    return found


def _telling_entry(detail: Detail, side: int, row: int) -> str:
    """The entry that gave it away, for an output that is too long to be shown."""
    column = detail.telling.column if detail.telling is not None else None
    if column not in detail.parts.columns:
        return ""
    value = detail.parts.test[side][row, detail.parts.columns.index(column)]
    return f"{column} {'is missing' if np.isnan(value) else f'= {value:.6g}'} in "


def _short(output: Any, entry: str = "") -> str:
    plain = output.tolist() if isinstance(output, np.ndarray | np.generic) else output
    text = printable(f'"{plain}"' if isinstance(plain, str) else repr(plain))
    if len(text) <= LONGEST:
        return text
    room = (LONGEST if not entry else LONGEST // 4) - 3
    if isinstance(plain, list):  # whole numbers with few digits say more than the many digits of one
        text = printable(repr(_brief(plain[:room])))
        if len(text) <= room:
            return f"{entry}{text}"
        room = max(text.rfind(", ", 0, room) + 2, 1)
    return f"{entry}{text[:room]}..."


def _brief(value: Any) -> Any:
    """The same with numbers of four digits."""
    if isinstance(value, list):
        return [_brief(one) for one in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _finite(values: Array) -> Array:
    low, high = np.quantile(values, [0.001, 0.999], method="nearest")
    return np.asarray(np.clip(np.nan_to_num(values), low, high))


def draw_detail(path: Path, detail: Detail, claim: Guarantee) -> None:
    """Both distributions of the telling column and of the score, with the event; the errors, and those allowed.

    Raises:
        BadInput: the file's ending, or it cannot be written.
    """
    from matplotlib.figure import Figure  # slow to import, and rarely asked for

    require(path.suffix in FORMATS, "--plot", str(path), f"must end in {', '.join(FORMATS)}")
    shown = [detail.candidate]
    if detail.plainest is not None and detail.plainest is not detail.candidate:
        shown.insert(0, detail.plainest)
    figure = Figure(figsize=(5.5 * len(shown) + 5.5, 4.2), layout="constrained")
    *sides, right = figure.subplots(1, len(shown) + 1)
    for axes, one in zip(sides, shown, strict=True):
        _draw_sides(axes, detail.scores(one), one)
    _draw_errors(right, detail.scores(detail.candidate), claim)
    right.set_title(f"by {drawn(detail.candidate.name)}", fontsize="medium")
    try:
        with catch_warnings():
            filterwarnings("ignore", message="Glyph ")  # a letter that the font lacks becomes a box
            figure.savefig(path)
    except OSError as error:
        raise BadInput("--plot", str(path), error.strerror or str(error)) from None


def drawn(text: str) -> str:
    """A name of others as a label: no control characters, no formulas, no longer than a plot is wide."""
    plain = printable(text).replace("$", "")
    return plain if len(plain) <= WIDEST else f"{plain[: WIDEST - 3]}..."


def _draw_sides(axes: Any, scores: tuple[Array, Array], one: Candidate) -> None:
    """Histograms of both sides; the event is shaded."""
    p, q = (_finite(side) for side in scores)
    pooled = np.concatenate([p, q])
    edges = np.linspace(float(pooled.min()), float(pooled.max()), BINS + 1)
    for side, name in ((p, "on D"), (q, "on D'")):
        axes.hist(side, edges if edges[-1] > edges[0] else 3, alpha=0.5, label=name)
    event, _ = one.event.oriented  # as it is told in words
    cut, words = float(np.clip(event.cut, edges[0], edges[-1])), drawn(event.words)
    if one.value is not None:
        words = "no" if event.below else "yes"
        axes.set_xticks([0, 1], ["no", "yes"])
    axes.axvline(cut, color="black", linestyle="--", linewidth=1)
    axes.axvspan(*((edges[0], cut) if event.below else (cut, edges[-1])), color="0.92", zorder=0, label=words)
    axes.set_xlabel(drawn(one.name))
    axes.set_ylabel("outputs")
    axes.legend()


def _draw_errors(axes: Any, scores: tuple[Array, Array], claim: Guarantee) -> None:
    """What each cut of the scores gives as errors of a guess at the side, and the region that the claim allows."""
    p, q = scores
    alpha = np.linspace(0, 1, 501)
    axes.fill_between(alpha, claim.trade_off(alpha), 1, color="0.9", label=f"allowed: {drawn(claim.name)}")
    cuts = np.unique(np.quantile(np.concatenate([p, q]), np.linspace(0, 1, 401), method="nearest"))
    for sign, name in ((1.0, "high scores guessed D'"), (-1.0, "low scores guessed D'")):
        false = [0.0, *(float((sign * p >= sign * cut).mean()) for cut in cuts[:: int(-sign)])]
        missed = [1.0, *(float((sign * q < sign * cut).mean()) for cut in cuts[:: int(-sign)])]
        axes.plot(false, missed, label=name, marker="." if cuts.size < 20 else "")
    axes.set_xlabel("share on D in the event")
    axes.set_ylabel("share on D' outside")
    axes.legend()
