"""Everything that is audited: the table ``CASES`` in the ``cases.py`` of each paper's folder, and of the baselines."""

from difflib import get_close_matches
from importlib import import_module

from .case import Case
from .errors import BadInput, Broken
from .extras import missing
from .papers import PAPERS

_FIRST = ("baselines", "output_perturbation", "second_order_erm", "dro")
ROOMS = (*_FIRST, *(key for key in PAPERS if key not in _FIRST))  # the folders, in the order that tables have them


def _cases(room: str) -> tuple[Case, ...]:
    """The table of one folder; Broken, in one line with the error and its place, where it cannot be imported."""
    try:
        return tuple(import_module(f"dpassay.reference.{room}.cases").CASES)
    except Exception as error:
        if isinstance(error, ImportError) and missing(error):
            raise
        raise Broken.at(f"{room}/cases.py", error) from error


CASES: tuple[Case, ...] = tuple(case for room in ROOMS for case in _cases(room))


def find(name: str) -> list[Case]:
    """The cases of the catalogue with this name.

    Args:
        name: a paper (``dro``), an id (``dro/double_spider``), an id with its variant, or a whole key
            (``dro/double_spider:kl@repaired``); ``dpassay list`` prints them.

    Returns:
        All cases that it names, in the order of the catalogue; at least one. ``case.build()`` makes a runnable
        instance: ``run``, ``schedule``, and the ``pair`` of neighbours.

    Raises:
        BadInput: there is none.

    Example:
        >>> from dpassay.reference import find
        >>> (case,) = find("baselines/dp_sgd:full-batch")
        >>> case.claim.epsilon, case.claim.delta, case.claim.relation
        (2.0, 1e-05, 'replace-one')
        >>> instance = case.build()
        >>> round(instance.accounted().epsilon(1e-5), 3)
        2.0

    Source: each case cites its own (``case.cite``, ``case.claim.cite``).
    """
    found = [case for case in CASES if name in case.names]
    if not found:
        known = sorted({one for case in CASES for one in (case.paper, case.id)})
        near = get_close_matches(name.replace("2opt", "two_opt"), known, cutoff=0.5)
        hint = f"; near it: {', '.join(near)}" if near else ""
        raise BadInput("algorithm", name, f"is not in the catalogue (`dpassay list` shows it){hint}")
    return found
