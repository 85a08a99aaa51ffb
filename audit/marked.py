"""Generated blocks of hand-written pages: each stands between two markers, which the reader does not see."""

from dataclasses import dataclass

from dpassay.reference.errors import require


@dataclass(frozen=True)
class Block:
    """The place of one generated block: ``name`` is that of its markers, ``<!-- name:begin -->`` and so on."""

    name: str

    @property
    def begin(self) -> str:
        """The marker before the block."""
        return f"<!-- {self.name}:begin -->"

    @property
    def end(self) -> str:
        """The marker after the block."""
        return f"<!-- {self.name}:end -->"

    def read(self, text: str, where: str) -> str:
        """What stands between the markers of a page, each there once; ``where`` names the page in messages."""
        return self._parts(text, where)[1]

    def written(self, text: str, inside: str, where: str) -> str:
        """The page with ``inside`` between the markers, in place of what stood there."""
        before, _, after = self._parts(text, where)
        alone = self.begin not in inside and self.end not in inside
        require(alone, where, f"new block {self.name}", "holds a marker of its own")
        return f"{before}{self.begin}\n{inside}\n{self.end}{after}"

    def _parts(self, text: str, where: str) -> tuple[str, str, str]:
        once = text.count(self.begin) == 1 == text.count(self.end) and text.find(self.begin) < text.find(self.end)
        require(once, where, "markers", f"must have {self.begin} and {self.end} once, in this order")
        before, _, rest = text.partition(self.begin)
        inside, _, after = rest.partition(self.end)
        return before, inside, after


AUDIT, LEDGER, SHORT = Block("audit"), Block("ledger"), Block("short")
