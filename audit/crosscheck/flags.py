"""What a vector is good for: which bug a red one points to, and what that bug does to epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Flag:
    """One property of a vector.

    Args:
        bug: what is likely wrong where vectors with this flag are red and others are not.
        effect: what that does to epsilon.
    """

    bug: str
    effect: str


FLAGS: dict[str, Flag] = {
    "ordinary": Flag(
        "anything: formula, sign, order of clipping and averaging, noise scale",
        "see the diagnosis of `dpassay crosscheck run`",
    ),
    "smallest": Flag(
        "a size of one is a special case: a mean over one record, one step, a vector that has become a number",
        "none where the run fails; a query that is not averaged keeps its sensitivity for n = 1 alone",
    ),
    "one-record": Flag(
        "n = 1 divided by n - 1, or an empty rest of the data", "a division by zero releases NaN: infinite"
    ),
    "one-step": Flag(
        "the first and the last step are taken twice, or not at all", "a release more costs what one release costs"
    ),
    "batch-of-one": Flag(
        "the sum over a batch is divided by n, or by the batch size where the algorithm says n",
        "noise is off by n / batch: epsilon grows or shrinks by that factor",
    ),
    "sampled": Flag(
        "records drawn anew where the batch is shared, or one batch used twice",
        "amplification by sampling is lost: up to a factor n / batch",
    ),
    "zero-gradient": Flag(
        "clipping divides by a norm of zero", "NaN is released whenever a gradient vanishes: infinite"
    ),
    "boundary": Flag(
        "a comparison with a bound is strict where it is not, or the norm is another one (infinity norm, 1-norm)",
        "the 2-norm may reach sqrt(d) times the bound: epsilon grows by sqrt(d)",
    ),
    "long-records": Flag(
        "clipping is missing, comes after averaging, or cuts by coordinates",
        "after averaging: n times the sensitivity; missing: infinite; by coordinates: sqrt(d)",
    ),
    "ties": Flag(
        "sorting, argmin or a comparison breaks ties otherwise", "none: a tie between releases has probability zero"
    ),
    "uneven-phases": Flag(
        "the refresh comes at the wrong step where T is no multiple of q",
        "noise of a difference on a whole gradient: epsilon of that release grows by C_refresh / C_difference",
    ),
    "one-phase": Flag(
        "the first refresh is forgotten, or a second one made, where q exceeds T", "as for uneven-phases"
    ),
    "unequal-constants": Flag(
        "a constant is forgotten that is one elsewhere, or taken for another of the same value",
        "noise or sensitivity is off by that constant",
    ),
    "rare-branch": Flag(
        "an escape, an early end, a projection or a cap is wrong: ordinary constants never lead there",
        "none if what is decided is a function of releases; else a record decides what is released",
    ),
    "sparse-vector": Flag(
        "threshold without noise of its own, scales swapped, or more queries evaluated than needed",
        "without noise on the threshold: infinite",
    ),
    "raw-noise": Flag("raw noise with the wrong scale, or used twice", "protects less by the square of the factor"),
    "printed": Flag(
        "the printed reading was mended silently; some printed readings do not keep their claim on purpose",
        "see the row's `known` in docs/results.md",
    ),
    "not-for-float32": Flag(
        "nothing: in single precision this run takes another path, or its decisions lie within rounding", "none"
    ),
    "catalogue": Flag("the worst pair of the catalogue: sizes and constants at their extremes", "as for ordinary"),
    "nan-record": Flag("NaN in the data goes through to a release", "NaN shows that this record is there: infinite"),
    "infinite-record": Flag("an infinite number goes through clipping (infinity / infinity)", "as for nan-record"),
    "record-outside": Flag(
        "a record longer than the public bound is taken as it is", "sensitivity grows with the record: infinite"
    ),
    "wrong-label": Flag(
        "a label other than -1 and 1 scales the gradient", "sensitivity grows with the label: infinite"
    ),
    "another-n": Flag(
        "noise made for other sizes is used", "noise for n + 1 records on n: epsilon grows by (n + 1) / n"
    ),
    "another-d": Flag("noise made for another dimension is used", "sensitivities that hold sqrt(d) are off"),
    "negative-noise": Flag("a negative noise scale is taken as it is, or as zero", "as zero: infinite"),
    "unknown-label": Flag("a release without a noise scale of its own gets none", "infinite"),
    "batch-above-n": Flag("a batch larger than the data repeats records", "a record enters twice: epsilon doubles"),
    "ragged-records": Flag(
        "records of different lengths are filled up in silence", "none by itself; the data are not those meant"
    ),
}
REFUSALS = (
    "nan-record", "infinite-record", "record-outside", "wrong-label", "another-n", "another-d", "negative-noise",
    "unknown-label", "batch-above-n", "ragged-records",
)  # fmt: skip


def flags_of(recipe: str, vector: Mapping[str, Any]) -> list[str]:
    """All flags that a vector deserves, from its recipe and its events."""
    events, schedule = vector["events"], vector["schedule"]
    facts = {
        "one-record": vector["sizes"].get("n") == 1,
        "one-step": vector["sizes"].get("steps") == 1,
        "batch-of-one": 1 in (vector["sizes"].get("batch"), vector["sizes"].get("step_batch")),
        "sampled": any(event["event"] == "draw" and event.get("order") != "index" for event in events),
        "sparse-vector": any(event.get("law") == "AboveThreshold" for event in events),
        "raw-noise": any(event["event"] == "noise" for event in events),
        "printed": vector["reading"] == "printed",
        "not-for-float32": not vector["float32"],
        recipe: True,
    }
    assert isinstance(schedule, Mapping) and set(facts) <= set(FLAGS)
    return sorted(name for name, holds in facts.items() if holds)
