"""Rows of dp_ftrl, in the order in which they are listed."""

MODULES = ("tree",)
