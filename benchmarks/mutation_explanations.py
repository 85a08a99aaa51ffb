"""Why a mutant of `mutation_testing.py` survives: by a part of its name (module and difference) that no other has."""

EXPLAINED: dict[str, str] = {
    "np.where(k != 0, betaincinv": "equivalent: a count is never negative",
    "min(0.1 / np.sqrt(n), 1.1)": "equivalent: for n >= 1 the first is the smaller one anyway",
    "(null > 0) * (null <= 1)": "equivalent: the product of two truth values",
    "_CHUNK * (bets.size": "equivalent but for memory: the blocks of the sum are larger",
    "_CHUNK = 3999999": "equivalent but for memory: the blocks of the sum are smaller",
    "_WIDEST = 61.0": "equivalent: a limit of the search that no budget comes near",
    "low = high = -1.0": "equivalent: the search for a bracket starts elsewhere and finds the same root",
    "xtol=MARGIN % 10": "equivalent within the margin: the root may be off by one part in a million instead of a tenth "
    "of it, and is rounded up by one part in a million",
    "reference/tape.py: - *, + /,": "equivalent: the signature of a protocol's method, which nobody calls",
    "DENOMINATORS = (12, 121,": "equivalent: another list of fractions to try; a violation is confirmed exactly",
    "DENOMINATORS = (12, 120, 5000, 9**6": "equivalent: another list of fractions to try",
    "max( -1.0, low - step)": "equivalent: an epsilon below zero is refuted no less than zero",
    "int(3 * np.log2(n / 1))": "the bound stays sound: a rank less is looked at for some n",
    "v * sign > -1]": "only the words of a regime change, where a fraction of a power is negative",
    "any(len(inner) > 1 for inner in bound)": "equivalent: no order has an empty list of minima",
    "len(mine) != 1 and len(mine[0]) != 1": "only the words of a regime change",
    "(1 + 3 * _ULP)": "equivalent but for the last bit: an epsilon that is not tight is rounded up by one unit less",
    'order is "random"': "equivalent in CPython: the word is one object",
    'require(1 < size <= n, f"batch size': "survived; a batch of one record is drawn in `test_tape.py` now, "
    "which this mutant refuses",
    "np.clip(backward, -1.0, 1.0)": "equivalent: the larger of it and a number that is not negative",
    "if q <= 1 else -math.inf": "survived; `test_edges.py` has a rate of 1 now, where this mutant raises an error",
}
