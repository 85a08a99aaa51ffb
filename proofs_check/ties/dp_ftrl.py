"""dp_ftrl: the noise of a node and the depth of the tree."""

from collections import Counter

from dpassay.proofs_check.ties import tied
from dpassay.reference.dp_ftrl.cases import build
from dpassay.reference.dp_ftrl.dp_ftrl import depth, printed_std

NOISE = ({"L": 1.5, "epsilon": 0.8, "delta": 1e-5, "T": 31}, {"L": 0.3, "epsilon": 4.0, "delta": 1e-6, "T": 64})

TIES = (
    *tied("dp_ftrl.dp_ftrl.printed_std", NOISE,
          ("Appendix D, conversion",
           "L*sqrt(ceil(log2(T + 1))/2)/(sqrt(epsilon + log(1/delta)) - sqrt(log(1/delta)))",
           lambda p: printed_std(p["L"], int(p["T"]), p["epsilon"], p["delta"]))),
    *tied("dp_ftrl.dp_ftrl.depth", ({"T": 3}, {"T": 7}, {"T": 8}, {"T": 1000}),
          ("Appendix D", "ceil(log2(T + 1))", lambda p: depth(int(p["T"])))),
)  # fmt: skip


def _dp_ftrl(T: int) -> Counter[str]:
    """Nodes that the fullest leaf enters, of all that a pass of T steps releases."""
    releases = build("printed", 1, n=T).longest_transcript().releases
    return Counter(node=max(Counter(draw for release in releases for draw in release.draws).values()))


COUNTS = {"dp_ftrl": _dp_ftrl}
