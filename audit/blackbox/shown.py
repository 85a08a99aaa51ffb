"""What a person sees of a finding: the outputs that gave most away, and a picture of both sides with the claim."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.reference.errors import BadInput, printable, require
from dpassay.reference.guarantee import Guarantee
from dpassay.reference.types import Array

from .detect import Detail

EACH = 3  # outputs a side
LONGEST = 160  # characters of one
BINS = 60
FORMATS = (".png", ".svg", ".pdf")


def telling_outputs(detail: Detail, outputs_p: Sequence[Any], outputs_q: Sequence[Any]) -> dict[str, list[str]]:
    """The outputs of the test part with the most extreme scores: on D, and on D', in the direction of each."""
    sign = -1.0 if detail.candidate.event.below else 1.0
    found = {}
    for name, outputs, side, towards in (("on D", outputs_p, 0, -1.0), ("on D'", outputs_q, 1, 1.0)):
        order = np.argsort(-sign * towards * detail.scores[side], kind="stable")[:EACH]
        found[name] = [_short(outputs[int(detail.rows[side][i])]) for i in order]
    return found


def _short(output: Any) -> str:
    plain = output.tolist() if isinstance(output, np.ndarray | np.generic) else output
    text = printable(plain if isinstance(plain, str) else repr(plain))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _finite(values: Array) -> Array:
    low, high = np.quantile(values, [0.001, 0.999], method="nearest")
    return np.asarray(np.clip(np.nan_to_num(values), low, high))


def draw_detail(path: Path, detail: Detail, claim: Guarantee) -> None:
    """Both distributions of the score with the chosen cut; and its errors against those that the claim allows.

    Raises:
        BadInput: the file's ending, or it cannot be written.
    """
    from matplotlib.figure import Figure  # slow to import, and rarely asked for

    require(path.suffix in FORMATS, "--plot", str(path), f"must end in {', '.join(FORMATS)}")
    p, q = detail.scores
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    pooled = np.concatenate([_finite(p), _finite(q)])
    edges = np.linspace(float(pooled.min()), float(pooled.max()), BINS + 1)
    for side, name in ((p, "on D"), (q, "on D'")):
        left.hist(_finite(side), edges if edges[-1] > edges[0] else 3, alpha=0.5, label=name, density=False)
    event = detail.candidate.event
    left.axvline(float(np.clip(event.cut, edges[0], edges[-1])), color="black", linestyle="--", label=f"{event.words}")
    left.set_xlabel(f"score: {detail.candidate.name}".replace("$", ""))
    left.set_ylabel("outputs")
    left.legend()
    alpha = np.linspace(0, 1, 501)
    right.fill_between(alpha, claim.trade_off(alpha), 1, color="0.9", label=f"allowed: {claim.name}".replace("$", ""))
    cuts = np.unique(np.quantile(np.concatenate([p, q]), np.linspace(0, 1, 401), method="nearest"))
    for sign, name in ((1.0, "high scores guessed D'"), (-1.0, "low scores guessed D'")):
        false = [float((sign * p >= sign * cut).mean()) for cut in cuts]
        missed = [float((sign * q < sign * cut).mean()) for cut in cuts]
        right.plot(false, missed, label=name)
    right.set_xlabel("share on D in the event")
    right.set_ylabel("share on D' outside")
    right.legend()
    try:
        figure.savefig(path)
    except OSError as error:
        raise BadInput("--plot", str(path), error.strerror or str(error)) from None
