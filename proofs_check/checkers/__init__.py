"""The checkers: identity, inequality, exponents, budget, privacy, Monte Carlo, tables, consistency."""
