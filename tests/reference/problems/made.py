"""Bilinear games on boxes, which several tests make."""

import numpy as np

from dpassay.reference.problems.domains import Box
from dpassay.reference.problems.saddle_games import BilinearLoss


def box_game(rng, n, d_x, d_y, coupling=1.0):
    """For the boxes [-1, 1]^d_x and [-1, 1]^d_y, ||B_xi|| <= coupling, ||(p, q)|| <= 1."""
    matrices = rng.normal(size=(n, d_x, d_y))
    matrices *= coupling / np.linalg.norm(matrices, ord=2, axis=(1, 2))[:, None, None]
    linear = rng.normal(size=(n, d_x + d_y))
    linear /= np.linalg.norm(linear, axis=1)[:, None]
    return BilinearLoss(matrices, linear, float(np.sqrt(d_x)), float(np.sqrt(d_y)), coupling, 1.0)


def boxes(loss):
    return Box(-1.0, 1.0, loss.d), Box(-1.0, 1.0, loss.d_y)
