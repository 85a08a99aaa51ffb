"""The explicit list of everything that is audited. Nothing is discovered: what is not here does not exist."""

from __future__ import annotations

from dpassay.reference.adaptive_batch.cases import CASES as ADAPTIVE_BATCH
from dpassay.reference.baselines.cases import CASES as BASELINES
from dpassay.reference.dro.cases import CASES as DRO
from dpassay.reference.minimax_sosp.cases import CASES as MINIMAX_SOSP
from dpassay.reference.output_perturbation.cases import CASES as OUTPUT_PERTURBATION
from dpassay.reference.second_order_erm.cases import CASES as SECOND_ORDER_ERM

from .case import Case
from .errors import BadInput

CASES: tuple[Case, ...] = (
    *BASELINES,
    *OUTPUT_PERTURBATION,
    *SECOND_ORDER_ERM,
    *DRO,
    *MINIMAX_SOSP,
    *ADAPTIVE_BATCH,
)


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
    found = [case for case in CASES if name in (case.id, case.key, case.key.split("@")[0], case.id.split("/")[0])]
    if not found and "/2opt" in name:
        raise BadInput("algorithm", name, f"is called {name.replace('/2opt', '/two_opt')} here")
    if not found:
        known = ", ".join(sorted({case.id for case in CASES}))
        raise BadInput("algorithm", name, f"is not in the catalogue; known: {known}")
    return found
