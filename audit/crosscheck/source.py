"""A source file as bytes, and where the nodes of its syntax tree are in them."""

from __future__ import annotations

import ast

from .kinds import Kind

Made = tuple[Kind, str, int, int, int, str]  # kind, name, line, first and last byte, text


class Source:
    """A file's text; ``raw`` are its bytes."""

    def __init__(self, source: str):
        self.raw = source.encode()
        self._starts = [0]
        for line in self.raw.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """First and last byte."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset

    def code(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node."""
        first, last = self.span(node)
        return self.raw[first:last].decode()


class Text(Source):
    """A file whose nodes can become other texts."""

    def made(self, kind: Kind, name: str, node: ast.expr | ast.stmt, text: str) -> Made:
        """A node becomes a text."""
        return (kind, name, node.lineno, *self.span(node), text)
