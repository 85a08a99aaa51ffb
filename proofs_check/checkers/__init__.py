"""The checkers: identity, inequality, exponents, privacy, Monte Carlo, tables, consistency."""
