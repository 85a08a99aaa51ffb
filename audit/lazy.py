"""Commands that are imported when they are called: ``dpassay --help`` needs none of them, one command needs one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command


class LazyCommands(MutableMapping[str, Any]):
    """Name to command, like the dictionary of a group; a command's module is imported when it is looked up."""

    def __init__(self, package: str, commands: dict[str, str], groups: dict[str, str]):
        self._package, self._groups = package, groups
        self.short = {**commands, **groups}
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.short and name not in self._loaded:
            raise KeyError(name)
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def _load(self, name: str) -> Any:
        module = import_module(f"{self._package}.{name}")
        if name in self._groups:
            found = _group(module.app, name)
        else:
            found = _command(getattr(module, "list_" if name == "list" else name), name)
        found.short_help = self.short[name]
        return found

    def __setitem__(self, name: str, command: Any) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self.short, *self._loaded]))

    def __len__(self) -> int:
        return len({*self.short, *self._loaded})


@cache  # a process that runs many commands reads the annotations of each once
def _group(app: typer.Typer, name: str) -> Any:
    alone = _typer()
    alone.add_typer(app, name=name)
    outer: Any = get_command(alone)
    return outer.commands[name]


@cache
def _command(function: Callable[..., Any], name: str) -> Any:
    alone = _typer()
    alone.command(name)(function)
    return get_command(alone)  # an app with one command becomes that command


def _typer() -> typer.Typer:
    return typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class _Named:
    """What a shell has to know of a command."""

    hidden = False

    def __init__(self, text: str):
        self._text = text

    def get_short_help_str(self, limit: int = 45) -> str:
        return self._text


class LazyGroup(TyperGroup):
    """A group whose help is written from the table of short texts, without importing a command."""

    package = ""
    lazy: dict[str, str]
    lazy_groups: dict[str, str]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = LazyCommands(self.package, self.lazy, self.lazy_groups)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Names and short texts for a shell, without importing a command."""
        whole: Any = self.commands
        names: Any = {name: _Named(text) for name, text in (self.lazy | self.lazy_groups).items()}
        self.commands = names
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self.commands = whole

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list of commands in ``--help``."""
        with formatter.section("Commands"):
            formatter.write_dl(list({**self.lazy, **self.lazy_groups}.items()))
