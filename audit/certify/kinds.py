"""What code hears that asks for the kind of a private or released number: one of Python's, of NumPy's, or an array.

NumPy's kinds have attributes that Python's lack, and names of their own. What differs between them is not told.
"""

from typing import Any

import numpy as np

from .facts import NAMED

WHICH_KIND = "the code asks of which kind a private or released number is"
LAYOUT = {"base", "flags", "strides", "ctypes"}  # how an array lies in memory
OF_FRAMES = {"gi_frame", "gi_code", "cr_frame", "cr_code", "ag_frame", "ag_code", "tb_frame", "f_back", "f_locals"}
COARSE, FLAT = ("numbers of a coarser type",), ("an array without axes",)


def unusual(dtype: Any = None) -> None:
    """From now on there are numbers of this type; without one, arrays without axes."""
    if dtype is None or np.dtype(dtype) not in (bool, int, float):
        NAMED[FLAT if dtype is None else COARSE] = True
