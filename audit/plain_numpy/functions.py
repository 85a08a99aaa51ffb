"""NumPy's functions on arrays with noise not drawn yet: linear ones keep them so, any other looks at the value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .lazy import Lazy

# what rearranges numbers, or puts zeros: done to query, noise and coefficients alike
REARRANGED = (
    *(np.transpose, np.swapaxes, np.moveaxis, np.squeeze, np.expand_dims, np.take, np.roll, np.flip, np.repeat),
    *(np.tile, np.triu, np.tril, np.diag, np.diagonal, np.atleast_1d, np.atleast_2d, np.broadcast_to),
)


def call(of: Any, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """``function(*args, **kwargs)``, of which ``of`` is an argument."""
    simple = args[0] is of and not (set(kwargs) - {"axis"})
    if function is np.dot and len(args) == 2 and max(np.ndim(one) for one in args) < 3:
        return args[0] @ args[1]
    if function in (np.zeros_like, np.ones_like, np.empty_like) and simple:
        return function(of.query)
    if function in REARRANGED and args[0] is of and not any(isinstance(one, Lazy) for one in args[1:]):
        return of.each(lambda part: function(part, *args[1:], **kwargs))
    if function is np.where and len(args) == 3 and not isinstance(args[0], Lazy):
        mask = np.asarray(args[0], dtype=bool)
        return _where(mask, args[1]) + _where(~mask, args[2])
    if function in (np.concatenate, np.stack, np.vstack, np.hstack):
        return join(of.desk, function, args[0], **kwargs)
    if function is np.reshape and simple:
        return of.reshape(*args[1:])
    if function in (np.shape, np.ndim, np.size) and len(args) == 1:
        return function(of.query)
    return function(*(looked_at(one) for one in args), **{name: looked_at(one) for name, one in kwargs.items()})


def _where(mask: Any, part: Any) -> Any:
    """The part where the mask says so, else 0."""
    part = looked_at(part) if isinstance(part, Lazy) and part.given is not None else part
    return part.scaled(mask) if isinstance(part, Lazy) else np.where(mask, part, 0.0)


def looked_at(value: Any) -> Any:
    """The value of what is lazy, also inside lists, tuples and dicts; anything else as it is."""
    if isinstance(value, Lazy):
        return value.value()
    if type(value) in (list, tuple):
        return type(value)(looked_at(one) for one in value)
    if type(value) is dict:
        return {key: looked_at(one) for key, one in value.items()}
    return value


def join(desk: Any, function: Any, parts: Sequence[Any], **how: Any) -> Any:
    """``np.concatenate`` and its like, of lazy and plain arrays."""
    axis = how.pop("axis", 0)
    lazy: list[Any] = [one for one in parts if isinstance(one, Lazy)]
    terms = max(len(one.ids) for one in lazy)

    def padded(part: Any, name: str, fill: float) -> list[Any]:
        if not isinstance(part, Lazy):
            return [np.full(np.shape(part), fill)] * terms
        own = list(getattr(part, name))
        return own + [np.full_like(own[0], fill)] * (terms - len(own))

    def together(rows: list[Any]) -> Any:
        return function(rows, axis=axis, **how) if function in (np.concatenate, np.stack) else function(rows)

    query = together([one.query if isinstance(one, Lazy) else np.asarray(one, float) for one in parts])
    ids = [padded(one, "ids", -1) for one in parts]
    coefficients = [padded(one, "coefficients", 0.0) for one in parts]
    return type(lazy[0])(
        desk,
        query,
        np.stack([together([one[k] for one in ids]) for k in range(terms)]).astype(np.int64),
        np.stack([together([one[k] for one in coefficients]) for k in range(terms)]).astype(float),
        all(one.mixed for one in lazy) or len(lazy) < len(parts),
        tuple(lazy),
    )
