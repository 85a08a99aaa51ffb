"""Theorems 3.4, 3.7, 4.4, 4.8 and Corollary 4.9 over a grid: measured / bound, and from which n a bound says anything.

Run: python benchmarks/output_perturbation_utility.py [--quick] [--write]
"""

from __future__ import annotations

from itertools import product

import audit_figures as figures
import output_perturbation_measured as measured

from dpassay.reference.output_perturbation import bounds
from dpassay.reference.output_perturbation.bounds import Setting

SEED = 7


def grid(sizes):
    print(f"{'theorem':18s}{'n':>6s}{'d':>4s}{'eps':>6s}{'kappa':>7s}", end="")
    print(f"{'measured':>12s}{'bound':>12s}{'share':>9s}  vacuous")
    for n, d, epsilon in product(sizes, (2, 16), (0.1, 0.9)):
        budget = (epsilon, 1 / n**2)
        for kappa in (1.0, 10.0, 100.0):
            empirical, population = measured.strongly_convex(n, d, *budget, kappa, SEED)
            show("3.4 empirical", n, d, epsilon, kappa, empirical)
            show("3.4 population", n, d, epsilon, kappa, population)
        show("3.7", n, d, epsilon, 0, measured.convex(n, d, *budget, SEED))
        for mu in (1.0, 0.1):
            empirical, population = measured.saddle(n, d, *budget, mu, SEED)
            show("4.4 empirical", n, d, epsilon, 1 + 1 / mu, empirical)
            show("4.4 population", n, d, epsilon, 1 + 1 / mu, population)
        show("4.8", n, d, epsilon, 0, measured.convex_concave(n, d, *budget, SEED, runs=10))
        show("Cor. 4.9", n, d, epsilon, 0, measured.strongly_concave_side(n, d, *budget, 1.0, SEED, runs=10))


def show(name, n, d, epsilon, kappa, cell):
    assert cell.measured <= cell.bound, (name, n, d, epsilon, kappa, cell)
    print(
        f"{name:18s}{n:6d}{d:4d}{epsilon:6.2f}{kappa:7.0f}{cell.measured:12.4g}{cell.bound:12.4g}{cell.share:9.2e}"
        f"  {'yes' if cell.vacuous else ''}",
        flush=True,
    )


def first_meaningful():
    print("\nsmallest n with a bound below that of answering 0, L = D = mu = 1, delta = 1/n^2")
    for d, epsilon in product((2, 16, 128), (0.1, 0.9)):
        at = Setting(2, d, epsilon, 0.1, 1.0, 1.0, 1.0, 1.0, 1.0)
        found = {
            "3.4 population, kappa 1": bounds.first_meaningful_n(bounds.theorem_3_4_population, 0.5, at),
            "3.7": bounds.first_meaningful_n(bounds.theorem_3_7, 1.0, at),
            "4.4 population, kappa 1": bounds.first_meaningful_n(bounds.theorem_4_4_population, 1.0, at),
            "4.8": bounds.first_meaningful_n(bounds.theorem_4_8, 2.0, at),
            "Cor. 4.9, mu_y 1": bounds.first_meaningful_n(bounds.corollary_4_9, 1.0, at),
        }
        print(f"d = {d:4d}, epsilon = {epsilon}: " + ", ".join(f"{name}: {n}" for name, n in found.items()))


def corollary_gap():
    print("\nCorollary 4.9: last term by the proof's own recipe / as printed")
    for n in (10**3, 10**4, 10**6):
        s = Setting(n, 10, 0.5, n**-2.0, 1.0, 1.0, 1.0, 1.0, 1.0)
        head = bounds._corollary_head(s)
        print(f"n = {n}: {(bounds.corollary_4_9_as_proved(s) - head) / (bounds.corollary_4_9(s) - head):.2f}")


def measure(quick):
    first_meaningful()
    corollary_gap()
    print()
    grid((128,) if quick else (128, 1024))


if __name__ == "__main__":
    figures.keep_printed(__file__, __doc__, measure)
