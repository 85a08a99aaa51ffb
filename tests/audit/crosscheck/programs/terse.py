"""Short and mathematical, one letter a symbol, as on a blackboard.

Knows second_order_erm/dp_gd, second_order_erm/dp_tr, output_perturbation/algorithm2.
"""

from math import inf

import numpy as np
from numpy.linalg import eigh, norm


def std(N, a, s):
    """Noise scale of label a at sensitivity s: Printed as it stands, Multipliers times s."""
    m = N["by_label"][a]
    if m < 0:
        raise ValueError(a)
    return m if N["class"] == "noise.Printed" else m * s


# f(w) = (1/n) sum_i log(1 + exp(-y_i <x_i, w>)) + r sum_j w_j^2 / (1 + w_j^2)
def erm(p):
    X, y = np.array(p["features"], float), np.array(p["labels"], float)
    R, r = p["feature_bound"], p["loss"]["regulariser"]["weight"]
    if not np.isfinite(X).all() or (norm(X, axis=1) > R * (1 + 1e-9)).any() or (abs(y) != 1).any():
        raise ValueError("|x_i| <= R and y_i = -1, 1")
    n = len(y)

    def g(w):
        s = 1 / (1 + np.exp(y * (X @ w)))
        return -(X.T @ (y * s)) / n + r * 2 * w / (1 + w * w) ** 2

    def H(w):
        s = 1 / (1 + np.exp(y * (X @ w)))
        return (X.T * (s * (1 - s))) @ X / n + r * np.diag(2 * (1 - 3 * w * w) / (1 + w * w) ** 3)

    return g, H


# l(w; s) = c(w) + top + s u(w), in the first two coordinates
def wave(p):
    m = sum(p["signs"]) / len(p["signs"])
    A, a, B, b = p["slope"], p["slope_frequency"], p["curvature"], p["curvature_frequency"]
    C, e = p["well"], p["well_frequency"]

    def g(w):
        v = np.zeros(p["d"])
        v[:2] = C * np.sin(e * w[:2]) / e + m * np.array([A * np.cos(a * w[0]), B * np.sin(b * w[1]) / b])
        return v

    def H(w):
        v = np.zeros(p["d"])
        v[:2] = C * np.cos(e * w[:2]) + m * np.array([-A * a * np.sin(a * w[0]), B * np.cos(b * w[1])])
        return np.diag(v)

    return g, H


def risk(p):
    return (wave if "signs" in p else erm)(p)


def gauss(t, N, a, q, s):
    return np.array(t.gaussian(a, q, std=std(N, a, s), sensitivity=s))


def gauss2(t, N, H, s):
    """Release a symmetric matrix by its upper triangle."""
    i, j = np.triu_indices(len(H))
    v = gauss(t, N, "hessian", H[i, j], s)
    S = np.empty_like(H)
    S[i, j] = v
    S[j, i] = v
    return S


def out(w, c, T, k):
    return {"w": w, "certified": c, "gradient_steps": T, "curvature_steps": 0, "hessian_evaluations": k}


def dp_gd(p, c, t):
    """w_{k+1} = w_k - g_k / M for k < T; then test the w_k with |g_k| <= alpha, flattest first."""
    g, H = risk(p)
    T, M, N, D, e = c["steps"], c["smoothness"], c["noise"], c["sensitivity"], c["accuracy"]
    std(N, "hessian", 1.0)
    w, W, G = np.array(c["start"], float), [], []
    for _ in range(T):
        v = gauss(t, N, "gradient", g(w), D["gradient"])
        W.append(w)
        G.append(norm(v))
        w = w - v / M
    o = sorted(range(T), key=lambda k: G[k])
    n = 0
    for k in o:
        if G[k] > e["gradient"]:
            break
        S = gauss2(t, N, H(W[k]), D["hessian"])
        n += 1
        if eigh(S)[0][0] >= -e["curvature"]:
            return out(W[k], True, T, n)
    return out(W[o[0]], False, T, n)


def argmin_ball(g, S, r):
    """argmin <g, h> + <h, S h> / 2 over |h| <= r."""
    u, V = eigh(S)
    q = V.T @ g

    def h(z):
        return -q / (u + z)

    if u[0] > 0 and norm(h(0.0)) <= r:
        return V @ h(0.0)
    a = max(0.0, -u[0])
    b = a + norm(q) / r + 1e-300
    while (z := (a + b) / 2) not in (a, b):
        a, b = (z, b) if norm(h(z)) > r else (a, z)
    return V @ h(b)


def dp_tr(p, c, t):
    """w_{k+1} = w_k + argmin over |h| <= r of the noisy model; stop where the noisy test passes."""
    g, H = risk(p)
    T, r, N, D, e = c["steps"], c["radius"], c["noise"], c["sensitivity"], c["accuracy"]
    std(N, "hessian", 1.0)
    w = np.array(c["start"], float)
    for k in range(T):
        v = gauss(t, N, "gradient", g(w), D["gradient"])
        S = gauss2(t, N, H(w), D["hessian"])
        if norm(v) <= e["gradient"] and eigh(S)[0][0] >= -e["curvature"]:
            return out(w, True, k, k + 1)
        w = w + argmin_ball(v, S, r)
    return out(w, False, T, T)


def ball(v, R):
    return v * min(1.0, R / norm(v)) if norm(v) > 0 else v


def algorithm2(p, c, t):
    """x_k = argmin over X of (1/m) sum_i f(x; i) + mu_k |x - x_{k-1}|^2 / 2 on batch k, plus noise."""
    A, b = np.array(p["loss"]["records"], float), p["loss"]["slope"]
    if A.shape != (c["n"], c["d"]) or not (norm(A, axis=1) <= 1 + 1e-9).all():
        raise ValueError("n records of length at most 1")
    K, m, mu, N = c["plan"]["count"], c["plan"]["length"], c["plan"]["regularisers"], c["noise"]
    R = float(p["domain_x"].get("radius", inf))
    for k in range(1, K + 1):
        std(N, f"x/{k}", 1.0)
    B = [t.fresh(f"phase/{k}", len(A), m, order="index") for k in range(1, K + 1)]
    x = np.zeros(c["d"])
    for k in range(1, K + 1):
        t.secret(f"solver/{k}/seed")
        a = A[list(B[k - 1].indices)].sum(axis=0) / m
        q = ball(x + b * a / mu[k - 1], R)
        s = c["sensitivities"][k - 1]
        x = np.array(t.gaussian(f"x/{k}", q, std=std(N, f"x/{k}", s), sensitivity=s, batch=B[k - 1]))
        if c["project"]:
            x = ball(x, R)
    return x


F = {"second_order_erm/dp_gd": dp_gd, "second_order_erm/dp_tr": dp_tr, "output_perturbation/algorithm2": algorithm2}


def run(case, tape):
    return F[case["algorithm"]](case["problem"], case["schedule"], tape)
