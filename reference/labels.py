"""What a label on a tape may be: reports, vectors and witnesses hold it, and people read it."""

from __future__ import annotations

from .errors import require

LONGEST = 1000  # letters


def require_label(label: str) -> None:
    """Refuse a label that no report can hold; most are short and ASCII, and cost next to nothing here.

    Raises:
        BadInput: it is no text, too long, or holds half of a letter.
    """
    if isinstance(label, str) and len(label) <= LONGEST and label.isascii():
        return
    require(isinstance(label, str), "label", label, "must be a text")
    require(len(label) <= LONGEST, "label", label, f"has {len(label)} letters, more than {LONGEST}")
    halves = any("\ud800" <= letter <= "\udfff" for letter in label)
    require(not halves, "label", label, "holds half of a letter (a lone surrogate)")
