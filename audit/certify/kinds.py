"""What code hears that asks for the kind of a private or released number: one of Python's, of NumPy's, or an array.

NumPy's kinds have attributes that Python's lack, and names of their own. What differs between them is not told.
"""

import dis
import sys
from typing import Any

import numpy as np

from .derivation import TRUSTED, refuse, trusted, who_asks
from .facts import NAMED

WHICH_KIND = "the code asks of which kind a private or released number is"
LAYOUT = {"base", "flags", "strides", "ctypes"}  # how an array lies in memory
OF_FRAMES = {"gi_frame", "gi_code", "cr_frame", "cr_code", "ag_frame", "ag_code", "tb_frame", "f_back", "f_locals"}
COARSE, FLAT = ("numbers of a coarser type",), ("an array without axes",)


def unusual(dtype: Any = None) -> None:
    """From now on there are numbers of this type; without one, arrays without axes."""
    if dtype is None or np.dtype(dtype) not in (bool, int, float):
        NAMED[FLAT if dtype is None else COARSE] = True


def kind_of_number(dtype: Any) -> type:
    """Of a private or released one it is not told: `float` and `int` make it one of Python's, and NumPy has others."""
    asks = sys._getframe(2)
    by_operator = not dis.opname[asks.f_code.co_code[asks.f_lasti]].startswith(("CALL", "PRECALL", "MATCH", "LOAD"))
    refuse(not by_operator and not asks.f_code.co_filename.startswith(TRUSTED), WHICH_KIND)
    found: type = dtype.type
    return found


def told(dtype: Any, number: bool) -> Any:
    """What it hears that asks for the type of numbers, or of one."""
    refuse((number or COARSE in NAMED) and not trusted(who_asks()), WHICH_KIND)
    return dtype
