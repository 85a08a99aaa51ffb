"""What the lines of the live protocol are made of: numbers that need not be finite, labels, sizes, base types."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

NOT_FINITE = {"infinity": np.inf, "-infinity": -np.inf, "nan": np.nan}
NUMBERS = "numbers"  # the title by which the schema finds its definition

Numbers = Annotated[Any, WithJsonSchema({"title": NUMBERS})]


def finite_or_word(value: Any) -> Any:
    """A word that stands for what is not finite, as that number."""
    return NOT_FINITE.get(value, value) if isinstance(value, str) else value


Number = Annotated[
    float,
    BeforeValidator(finite_or_word),  # what is not finite is refused by the tape, as a query is: it ends that run only
    WithJsonSchema({"anyOf": [{"type": "number"}, {"enum": [*NOT_FINITE]}]}),
]
Label = Annotated[str, Field(min_length=1, max_length=200)]
Size = Annotated[int, Field(ge=0, le=10**7)]  # of data, batches, shapes: the harness keeps lists of that length
Queries = Annotated[int, Field(ge=0, le=10**5)]
Shape = Annotated[list[Size], Field(max_length=8)]


class Message(BaseModel):
    """One line of the program: nothing is converted, and nothing unknown is passed over."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Release(Message):
    """What every release says."""

    label: Label
    sensitivity: Number | None
    batches: list[Size] = []  # numbers of the draws that the query depends on; none: all records
