"""The commands `memory …`; like the others they import what they need only when they run."""

from __future__ import annotations

from typing import Annotated

import typer

from multi_agents.cli.exit_codes import EXIT_CODE_HELP
from multi_agents.cli.options import Json, Token, Url, Yes

memory = typer.Typer(
    help="What an agent remembers of you beyond a conversation, and how it is forgotten.",
    no_args_is_help=True,
)


@memory.command("list", epilog=EXIT_CODE_HELP)
def memory_list(url: Url = None, token: Token = "", as_json: Json = False) -> None:
    """List what is remembered of you, oldest first."""
    from multi_agents.cli.commands.memory import ask_memories
    from utils.a2a_common.protocol.memories import MemoryAction, MemoryAsked

    raise typer.Exit(ask_memories(url, token, MemoryAsked(MemoryAction.LIST), as_json=as_json))


@memory.command("search", epilog=EXIT_CODE_HELP)
def memory_search(
    words: Annotated[str, typer.Argument(metavar="WORDS", help="What to search for.")],
    url: Url = None,
    token: Token = "",
    as_json: Json = False,
) -> None:
    """Search what is remembered of you, best first: facts, rules and what your conversations were about."""
    from multi_agents.cli.commands.memory import ask_memories
    from utils.a2a_common.protocol.memories import MemoryAction, MemoryAsked

    raise typer.Exit(ask_memories(url, token, MemoryAsked(MemoryAction.SEARCH, words), as_json=as_json))


@memory.command("add", epilog=EXIT_CODE_HELP)
def memory_add(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to remember.")],
    url: Url = None,
    token: Token = "",
    as_json: Json = False,
) -> None:
    """Have something remembered, without a model."""
    from multi_agents.cli.commands.memory import ask_memories
    from utils.a2a_common.protocol.memories import MemoryAction, MemoryAsked

    raise typer.Exit(ask_memories(url, token, MemoryAsked(MemoryAction.ADD, text), as_json=as_json))


@memory.command("forget", epilog=EXIT_CODE_HELP)
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
