"""Why a mutant of `mutation_testing.py` survives: by module and difference, as that script names it."""

EXPLAINED: dict[str, str] = {}
