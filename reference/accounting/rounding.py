"""What floating point may lose on the way, as factors that a number is multiplied by to err to its safe side."""

from __future__ import annotations

ULP = 2.0**-52
A_LITTLE_UP, A_LITTLE_DOWN = 1 + 9e-16, 1 - 4.4e-16  # four roundings of a number near one
UP, DOWN = 1 + 1.8e-15, 1 - 1.8e-15  # eight of them: more than a sum or two, a product and two functions of SciPy lose
