import numpy as np

from outsider.tools import clip_rows, into_ball, scale, table


class Tree:
    """Noisy sums of dyadic intervals; the t-th leaf is the clipped gradient sum of step t."""

    def __init__(self, tape, std, sensitivity):
        self.tape, self.std, self.sensitivity = tape, std, sensitivity
        self.leaves, self.batches, self.known = [], [], {}

    def push(self, value, batch):
        self.leaves.append(value)
        self.batches.append(batch)

    def node(self, first, last):
        if (first, last) not in self.known:
            total = np.sum(self.leaves[first - 1 : last], axis=0)
            self.known[first, last] = self.tape.gaussian(
                f"tree/({first},{last})",
                total,
                std=self.std,
                sensitivity=self.sensitivity,
                batch=tuple(self.batches[first - 1 : last]),
            )
        return self.known[first, last]

    def prefix(self):
        t, start, total = len(self.leaves), 0, 0.0
        width = 1 << (t.bit_length() - 1)
        while width:
            if t & width:
                total = total + self.node(start + 1, start + width)
                start += width
            width >>= 1
        return total


def run(case, tape):
    s = case["schedule"]
    rows = table(case["problem"]["rows"])
    n, d = rows.shape
    if n != s["n"] or d != s["d"] or s["batch"] > n:
        raise ValueError("made for other sizes")
    clip = s["clip"]
    sensitivity = 2 * clip
    tree = Tree(tape, scale(s, "tree", sensitivity), sensitivity)
    theta = np.zeros(d)
    seen = 0
    while seen < n:
        size = min(s["batch"], n - seen)
        batch = tape.fresh("records", n, size, order="index")
        seen += size
        gradients = rows[np.array(batch.indices, dtype=int)]
        leaf = clip_rows(gradients, clip).sum(axis=0)
        tree.push(leaf, batch)
        theta = -tree.prefix() / s["regularisation"]
        theta = into_ball(theta, s["radius"])
    return theta
