"""Which handwritten digits are odd? Logistic regression, trained by DP-SGD on the digits of scikit-learn."""

import sys

import numpy as np

from dpassay.reference.space import Rows, Space
from dpassay.reference.tape import LiveTape

STEPS = 20  # batches, and each record is in one of them: a single pass over the data
CLIP = 1.0  # no record has a longer gradient than this
NOISE = 2.8  # standard deviation of the noise on the sum of a batch's gradients, over CLIP
LEARNING_RATE = 2.0

# The claim covers any number of records with any finite features and a label of -1 or 1: gradients are clipped.
space = Space(Rows("d", None, labels=(-1.0, 1.0)), {"n": (2, 3, 8), "d": (1, 2)})


def gradients(w, features, labels):
    """Of the logistic loss, one for each record: shape (records, d)."""
    margins = np.clip(labels * (features @ w), -50, 50)
    return features * (-labels / (1 + np.exp(margins)))[:, None]


def clipped(rows):
    """Rows of length CLIP at most."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows * np.minimum(1, CLIP / np.maximum(lengths, 1e-300))


def train(data, tape):
    """Weights, shape (d,); data of shape (n, d + 1) with the label last."""
    features, labels = data[:, :-1], data[:, -1]
    n, d = features.shape
    steps = min(STEPS, n)
    size = n // steps
    w = np.zeros(d)
    for _ in range(steps):
        batch = tape.fresh("batch", n, size, order="index")
        rows = gradients(w, features[batch.indices], labels[batch.indices])
        mean = clipped(rows).sum(axis=0) / size
        noisy = tape.gaussian("gradient", mean, std=NOISE * CLIP / size, sensitivity=2 * CLIP / size, batch=batch)
        w = w - LEARNING_RATE * noisy
    return w


def digits():
    """1,797 images of 8 by 8 pixels, scaled by their public range, and 1 for an odd digit, else -1."""
    from sklearn.datasets import load_digits

    images, digit = load_digits(return_X_y=True)
    return np.column_stack([images / 16, np.where(digit % 2, 1.0, -1.0)])


def main():
    """Train on most of the digits and count on the others."""
    data = digits()[np.random.default_rng(0).permutation(1797)]
    training, unseen = data[:1400], data[1400:]
    w = train(training, LiveTape(0))
    right = np.mean(np.sign(unseen[:, :-1] @ w) == unseen[:, -1])
    print(f"{right:.0%} of {len(unseen)} unseen digits are recognised as odd or even")


if __name__ == "__main__":
    sys.exit(main())
