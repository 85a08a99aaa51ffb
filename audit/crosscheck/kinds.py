"""The kinds of difference between two implementations of one algorithm, and what each does to epsilon."""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """What is different, in words; ``effect`` says what that does to privacy."""

    SIGN = "sign"
    FACTOR = "factor"
    INDEX_SHIFT = "index shift"
    CLIP_ORDER = "clip order"
    CLIP_NORM = "clip norm"
    CLIP_BOUND = "clip bound"
    NO_CLIP = "clipping is missing"
    NOISE_SCALE = "noise scale"
    UN_NOISED = "un-noised"
    MISSING_TERM = "missing term"
    BATCH = "wrong batch"
    SENSITIVITY = "sensitivity"
    LAW = "law"
    CALLS = "calls"
    BRANCH = "decision"
    CLAIM = "claim"
    SHAPE = "shape"
    PRECISION = "precision"
    OUTPUT = "output"
    UNKNOWN = "unknown"
    NONE = "no difference"

    @property
    def effect(self) -> str:
        """What a difference of this kind does to epsilon."""
        return EFFECTS[self]


EFFECTS: dict[Kind, str] = {
    Kind.SIGN: "none by itself: the query moves as far as before; it is another algorithm",
    Kind.FACTOR: "the query moves by that factor: epsilon of the release grows with it, or shrinks",
    Kind.INDEX_SHIFT: "none by itself, as long as every query is made of released values and its own batch",
    Kind.CLIP_ORDER: "clipped after averaging, one record moves the query by up to batch times the declared amount",
    Kind.CLIP_NORM: "the 2-norm may exceed the bound by up to sqrt(d): so does epsilon",
    Kind.CLIP_BOUND: "the query moves by the ratio of the bounds",
    Kind.NO_CLIP: "one record moves the query without limit: epsilon is infinite",
    Kind.NOISE_SCALE: "epsilon of the release grows as the noise shrinks",
    Kind.UN_NOISED: "something of the records is used or shown without its noise",
    Kind.MISSING_TERM: "none if the term is public or shared by all records; otherwise as its share of the sensitivity",
    Kind.BATCH: "sensitivity and amplification are those of another batch",
    Kind.SENSITIVITY: "the accountant is told another sensitivity: what it says is off by that factor",
    Kind.LAW: "another mechanism with another cost",
    Kind.CALLS: "another number or order of releases: each release more costs what it costs",
    Kind.BRANCH: "none if it is a function of releases: it decides otherwise in places where the reference decides",
    Kind.CLAIM: "what is promised is not what the vector promises",
    Kind.SHAPE: "another query: what it has more or less of counts in its sensitivity",
    Kind.PRECISION: "a shift by this share of the noise: see docs/vectors.md",
    Kind.OUTPUT: "none if the output is a function of releases",
    Kind.UNKNOWN: "unknown",
    Kind.NONE: "as the vector's run",
}
