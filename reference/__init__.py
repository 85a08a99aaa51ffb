"""What the algorithms are: straightforward float64 references that draw all randomness from a tape."""
