"""Problems that several tests make: bilinear games on boxes; and how far two records push a logistic model apart."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from dpassay.reference.problems.domains import Box
from dpassay.reference.problems.saddle_games import BilinearLoss

ANGLES, SIZES = np.linspace(0, np.pi / 2, 100_001), np.linspace(0, 1, 100_001)


def box_game(rng, n, d_x, d_y, coupling=1.0):
    """For the boxes [-1, 1]^d_x and [-1, 1]^d_y, ||B_xi|| <= coupling, ||(p, q)|| <= 1."""
    matrices = rng.normal(size=(n, d_x, d_y))
    matrices *= coupling / np.linalg.norm(matrices, ord=2, axis=(1, 2))[:, None, None]
    linear = rng.normal(size=(n, d_x + d_y))
    linear /= np.linalg.norm(linear, axis=1)[:, None]
    return BilinearLoss(matrices, linear, float(np.sqrt(d_x)), float(np.sqrt(d_y)), coupling, 1.0)


def boxes(loss):
    return Box(-1.0, 1.0, loss.d), Box(-1.0, 1.0, loss.d_y)


def opposed(length):
    """Half of the largest |g - g'| of two gradients at a w of this length, for records of norm 1 at most.

    With u = -y x and u' = -y' x' they are sigmoid(<u, w>) u and sigmoid(<u', w>) u': two unit vectors at one angle to
    w, on both sides of it, differ the most. It grows with the length, from 1/2 to 1.
    """
    return float((np.sin(ANGLES) * expit(length * np.cos(ANGLES))).max())


def longest_solution(mu):
    """No regularised regression has a longer one: mu |w| is at most how hard one record can push w outwards.

    At the solution mu |w| is the mean over the records of sigmoid(-m_i) y_i <x_i, w> / |w|, m_i = y_i <x_i, w>.
    """
    return brentq(lambda length: mu * length - (SIZES * expit(-length * SIZES)).max(), 1e-9, 1 / mu)
