"""A model, tool or mechanism of a library as it is searched, and what the search saw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dpassay.audit.search.engine import Searched, search
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.space import Space

from .pure_loss import PureLoss


@dataclass(frozen=True)
class Model:
    """What is searched.

    Args:
        name: as the library calls it; with a word more where it is searched in several ways.
        run: on a tape, mostly made by :func:`~dpassay.audit.libraries.redirect.on_tape`; it takes a schedule where the
            spaces make one.
        epsilon, delta: what it is told to keep, or claims.
        spaces: data and neighbours, by relation.
        output: what counts as seen, in words.
        examples: of the search.
        pairs: by relation, neighbours that are known to move every query by all that is declared, as
            :func:`~dpassay.audit.assaying.worst.pair_of` writes them: how large a bound is shown shall not hang on how
            lucky a search was.
        shown: by relation, what is realised at least by the law of the outputs, and how that is known; for what no
            audit on the tape can be made of.
    """

    name: str
    run: Callable[..., Any]
    epsilon: float
    spaces: Mapping[Relation, Space]
    output: str = "fitted attributes"
    examples: int = 150
    delta: float = 0.0
    pairs: Mapping[Relation, Mapping[str, Any]] = field(default_factory=dict)
    shown: Mapping[Relation, Callable[[], tuple[float, str]]] = field(default_factory=dict)

    def search(self, relation: Relation, seed: int = 0, examples: int | None = None) -> Searched:
        """Search for whatever breaks the claim under one relation.

        A pure claim is held to the loss; one with a delta to what the releases add up to.
        """
        claim = PrivacyClaim(self.epsilon, self.delta, None, relation)
        return search(
            self.run,
            self.spaces[relation],
            claim,
            examples=examples or self.examples,
            seed=seed,
            tracing=False,
            premises=PureLoss(claim, relation) if self.delta == 0 else None,
        )
