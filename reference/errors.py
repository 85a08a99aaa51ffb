"""The one exception for bad parameters."""


class BadInput(ValueError):  # noqa: N818
    """A parameter is outside its domain: the message names the field, the value and the reason."""

    def __init__(self, field: str, value: object, why: str) -> None:
        super().__init__(f"{field} = {value!r}: {why}")
        self.field = field
        self.value = value
        self.why = why
