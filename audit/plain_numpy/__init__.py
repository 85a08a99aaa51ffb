"""Plain NumPy code on the tape: ``mechanism(data, rng)`` gets a generator whose noise knows its scale."""
