"""Arrays by what they hold; shapes stand in the docstrings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]  # record numbers, counts, class labels
Bools = NDArray[np.bool_]
