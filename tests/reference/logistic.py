"""How far two records can push a logistic model apart, by scans: what several rows say that their queries can reach."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

ANGLES, SIZES = np.linspace(0, np.pi / 2, 100_001), np.linspace(0, 1, 100_001)


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
