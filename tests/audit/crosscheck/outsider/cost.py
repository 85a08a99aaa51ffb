"""mu(lambda) of a line search, and lambda for a mu: docs/vectors.md, "What a line search costs"."""

import functools
import math

import numpy as np
from scipy.special import ndtr, ndtri

PER = 32


def laplace(x, z):
    if x >= z:
        return 0.0
    return -math.expm1(x if x <= -z else (x - z) / 2)


def hull(at, values):
    kept = [0]
    for k in range(1, len(at)):
        while len(kept) > 1:
            i, j = kept[-2:]
            if (values[j] - values[i]) * (at[k] - at[i]) < (values[k] - values[i]) * (at[j] - at[i]):
                break
            kept.pop()
        kept.append(k)
    return np.interp(at, at[kept], values[kept])


@functools.cache
def mu(lam, trials, beta):
    p = 1 / lam
    s = p / 4
    h = s / PER
    high = -2 * float(ndtri(1 / (1 + math.exp(p)))) if p < 700 else math.inf
    if s < 1e-7 or s > 5 or p > 100:
        return high
    K = 4 * PER
    logs = h * np.arange(K + 1)
    at = np.expm1(logs)
    a = np.exp(logs)
    V = np.zeros(K + 1)
    for i in reversed(range(trials)):
        M = max(1, math.ceil(PER * beta**i))

        def old(k):
            return V[k] if k >= 0 else -math.expm1(k * h) + math.exp(k * h) * V[-k]

        best = V.copy()
        for k in range(K + 1):
            for o in range(-M - 1, M + 1):
                if k + o >= K:
                    break
                m = (old(k + o) - old(k + o + 1)) / math.expm1(h)
                t = max(0.0, old(k + o) + m)
                f = m * math.exp(-o * h)
                if t > 0 and f > 0:
                    best[k] = max(best[k], t * laplace(math.log(f / t), M * h))
                elif t > 0:
                    best[k] = max(best[k], t)
                if k <= M and a[k] > f:
                    rest = 1 - min(t, 1.0)
                    ratio = math.log(rest / (a[k] - f)) if rest > 0 else -math.inf
                    best[k] = max(best[k], 1 - a[k] + (a[k] - f) * laplace(ratio, M * h))
        V = np.maximum(V, hull(at, best))
    u = 1e-12 + 1e-15 / s
    D = np.minimum(V * (1 + 200000 * u), np.maximum(0, -np.expm1(logs - p) / (1 + math.exp(-p))))
    D[-1] = 0
    D = hull(at, D)
    gap = np.diff(a)

    def holds(m):
        Q = ndtr(-logs / m - m / 2)
        G = ndtr(m / 2 - logs / m) - a * Q
        left = (D[:-1] <= G[:-1]) & (D[1:] <= G[:-1] - gap * Q[:-1])
        right = (D[1:] <= G[1:]) & (D[:-1] <= G[1:] + gap * Q[1:])
        return bool((left | right).all())

    low = 0.0
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


@functools.cache
def lambda_for(target, trials, beta):
    power = round(math.log(0.31 / target) / math.log(1.01))
    while mu(1.01**power, trials, beta) > target:
        power += 1
    while mu(1.01 ** (power - 1), trials, beta) <= target:
        power -= 1
    return 1.01**power
