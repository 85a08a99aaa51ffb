"""Text of others in a page: what a browser would obey, and a reader would not see, is spelled out."""

from __future__ import annotations

from markupsafe import Markup


def visible(value: object) -> object:
    """Text with control characters, lone surrogates and marks of direction spelled out; spaces and line ends stay.

    What is no text, and what is marked as safe already, is returned as it is.
    """
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "".join(letter if letter.isprintable() or letter in "\n " else ascii(letter)[1:-1] for letter in value)
