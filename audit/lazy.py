"""Commands that are imported when they are called: ``dpassay --help`` needs none of them, one command needs one."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command


class LazyGroup(TyperGroup):
    """A group with a table of names and short texts; the module ``package.NAME`` has the command NAME.

    In a module of ``lazy_groups`` it is a typer app named ``app``.
    """

    package = ""
    lazy: dict[str, str]
    lazy_groups: dict[str, str]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        table = {**self.lazy, **self.lazy_groups}
        self.commands = {name: TyperCommand(name, short_help=text) for name, text in table.items()}  # for help alone

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called, or whose options a shell completes."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, name and self.loaded(name), rest

    @classmethod
    @cache  # a process that runs many commands reads the annotations of each once
    def loaded(cls, name: str) -> Any:
        """The command itself."""
        module, alone = import_module(f"{cls.package}.{name}"), typer.Typer(add_completion=False, rich_markup_mode=None)
        if name in cls.lazy_groups:
            alone.add_typer(module.app, name=name)
            group: Any = get_command(alone)
            return group.commands[name]
        alone.command(name)(getattr(module, "list_" if name == "list" else name))
        return get_command(alone)  # an app with one command becomes that command
