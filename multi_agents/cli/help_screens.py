"""The common parts of all help screens."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup
from typer.models import CommandFunctionType, CommandInfo


class Panel(StrEnum):
    """The groups of commands in the top help."""

    USE = "Start and use"
    DATA = "Conversations and documents"
    AGENTS = "Agents"
    ADMIN = "Administration"


class CommandScreen(TyperCommand):
    """A command whose help shows no type beside a flag: `--json <bool>` reads as if a value had to follow."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options and arguments."""
        return _without_types(super().get_params(ctx))


class GroupScreen(TyperGroup):
    """A group of commands, with the same help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options."""
        return _without_types(super().get_params(ctx))


class Commands(typer.Typer):
    """A group whose commands all have these screens."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(cls=GroupScreen, **settings)

    def command(
        self, name: str | None = None, **settings: Any
    ) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """Add a command."""
        return super().command(name, cls=CommandScreen, **settings)

    def reduced_to(self, words: Sequence[str]) -> Commands:
        """Only what the first of some words names, or everything where it names nothing here.

        The library would take the options of every command apart before it runs one, a sixth of the time of a short command.
        """
        commands = [each for each in self.registered_commands if _name_of(each) in words[:1]]
        groups = [each for each in self.registered_groups if each.name in words[:1]]
        if not commands and not groups:
            return self
        reduced = copy.copy(self)
        reduced.registered_commands, reduced.registered_groups = commands, groups
        return reduced


def _name_of(command: CommandInfo) -> str:
    return command.name or typer.main.get_command_name(getattr(command.callback, "__name__", ""))


def ending(*, codes: str = "", example: str = "") -> str:
    """The end of a command's help: an example, and the exit codes that only this command gives a meaning of its own."""
    lines = (
        f"Example: platform-engineer {example}" if example else "",
        f"Exit codes: {codes}" if codes else "",
    )
    return "\n\n".join(filter(None, lines))


def _without_types(params: list[Any]) -> list[Any]:
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params
