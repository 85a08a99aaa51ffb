"""The numbered statements of the papers, in their order (of dp_ftrl: those that are implemented)."""

from __future__ import annotations


def _numbered(kind: str, numbers: str) -> tuple[str, ...]:
    return tuple(f"{kind} {number}" for number in numbers.split())


def _equations(*ranges: tuple[int, int]) -> tuple[str, ...]:
    return tuple(f"eq. ({n})" for first, last in ranges for n in range(first, last + 1))


STATEMENTS: dict[str, tuple[str, ...]] = {
    "minimax_sosp": (
        *_numbered("Definition", "1 2 3 4 5"),
        *_numbered("Assumption", "1 2 3 4 5"),
        *_numbered("Algorithm", "1 2 3"),
        *_numbered("Theorem", "1 2 3"),
        *_numbered("Lemma", "1 2 3 4 5 6 7 8 9 10 11 12"),
        *_numbered("Remark", "1 2 3"),
        *_numbered("Table", "1 2"),
        "Figure 1",
        *_equations((1, 63)),
    ),
    "adaptive_batch": (
        *_numbered("Definition", "1.1 1.2 2.1 2.3 3.3"),
        *_numbered("Theorem", "2.2 2.5 3.4 3.17 C.1"),
        "Assumption 3.1",
        *_numbered("Lemma", "2.4 3.2 3.5 3.8 3.9 3.11 3.12 3.13 3.14 3.15 3.16"),
        *_numbered("Claim", "3.6 3.7"),
        "Proposition 3.10",
        "Remark 3.18",
        *_numbered("Algorithm", "1 2 3 4"),
        *_equations((1, 10)),
    ),
    "second_order_erm": (
        *_numbered("Definition", "1 2 A.1 A.2 A.3 A.4 B.1"),
        *_numbered("Assumption", "1 2"),
        *_numbered("Algorithm", "1 2 3"),
        *_numbered("Theorem", "1 4 5 8 B.3 B.4 B.5 B.6 B.7 B.8 B.9 D.5"),
        *_numbered("Lemma", "2 6 7 B.1 B.2 C.1 D.1 D.2 D.3 D.6 D.7"),
        *_numbered("Corollary", "3 D.4"),
        *_numbered("Proposition", "A.1 A.2 A.3 A.4 A.5 A.6 A.7 B.1"),
        *_numbered("Table", "1 2 3 4 5 6 7 8 9 10 11 12"),
        *_equations((1, 41)),
    ),
    "dro": (
        *_numbered("Definition", "1 2 3 4 5 6 7 8"),
        *_numbered("Assumption", "1 2 3 4"),
        *_numbered("Algorithm", "1 2 3"),
        *_numbered("Theorem", "1 2 3 4 5 6 7 8"),
        *_numbered("Lemma", "1 2 3 4 5 6 7 8 9"),
        "Proposition 1",
        *_numbered("Remark", "1 2"),
        *_numbered("Table", "1 2 3"),
        *_numbered("Figure", "1 2 3"),
        *_equations((1, 43)),
    ),
    "output_perturbation": (
        *_numbered("Definition", "1 2"),
        *_numbered("Assumption", "3.1 3.2 4.1 4.2"),
        *_numbered("Algorithm", "1 2 3 4 5"),
        *_numbered("Lemma", "2.1 3.3 3.5 3.6 4.3 4.5 4.7 A.1 B.1 B.2"),
        *_numbered("Theorem", "3.4 3.7 4.4 4.8"),
        *_numbered("Corollary", "4.6 4.9"),
        *_numbered("Remark", "1 2 3 4"),
        *_numbered("Table", "1 2"),
        *_equations((1, 33)),
    ),
    "dp_ftrl": ("Algorithm 1",),
}
