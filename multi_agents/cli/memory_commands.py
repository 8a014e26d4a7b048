"""The commands `memory …`; like the others they import what they need only when they run."""

from __future__ import annotations

from typing import Annotated

import typer

from multi_agents.cli.help_screens import Commands
from multi_agents.cli.options import Json, Token, Url, Yes

memory = Commands(
    help="List, search, add and forget what an agent remembers about you beyond a conversation.",
    no_args_is_help=True,
)


@memory.command("list")
def memory_list(url: Url = None, token: Token = "", as_json: Json = False) -> None:
    """List what is remembered about you, oldest first."""
    from multi_agents.cli.commands.memory import ask_memories
    from utils.a2a_common.protocol.memories import MemoryAction, MemoryRequest

    raise typer.Exit(ask_memories(url, token, MemoryRequest(MemoryAction.LIST), as_json=as_json))


@memory.command("search")
def memory_search(
    words: Annotated[str, typer.Argument(metavar="WORDS", help="What to search for.")],
    url: Url = None,
    token: Token = "",
    as_json: Json = False,
) -> None:
    """Search what is remembered about you, best first: facts, rules and topics of your conversations."""
    from multi_agents.cli.commands.memory import ask_memories
    from utils.a2a_common.protocol.memories import MemoryAction, MemoryRequest

    raise typer.Exit(ask_memories(url, token, MemoryRequest(MemoryAction.SEARCH, words), as_json=as_json))


@memory.command("add")
def memory_add(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to remember.")],
    url: Url = None,
    token: Token = "",
    as_json: Json = False,
) -> None:
    """Add a memory yourself; no model request is made."""
    from multi_agents.cli.commands.memory import ask_memories
    from utils.a2a_common.protocol.memories import MemoryAction, MemoryRequest

    raise typer.Exit(ask_memories(url, token, MemoryRequest(MemoryAction.ADD, text), as_json=as_json))


@memory.command("forget")
def memory_forget(
    which: Annotated[
        str, typer.Argument(metavar="WHICH", help="Its number or id in the list; `all` for everything.")
    ],
    *,
    yes: Yes = False,
    url: Url = None,
    token: Token = "",
    as_json: Json = False,
) -> None:
    """Forget one memory, or all, for good."""
    from multi_agents.cli.commands.memory import forget_memories

    raise typer.Exit(forget_memories(url, token, which, yes=yes, as_json=as_json))
