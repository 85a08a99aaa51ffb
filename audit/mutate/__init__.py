"""Planted bugs: in the source of an algorithm (place, new text, kind) and between an algorithm and its tape."""
