"""The commands `conversations …`; like the others they import what they need only when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multi_agents.cli.exit_codes import EXIT_CODE_HELP

conversations = typer.Typer(
    help="Your conversations with an agent: what it keeps of them, and how it is deleted.",
    no_args_is_help=True,
)

Url = Annotated[
    str | None, typer.Option("--url", help="Address of an A2A agent; default: the local service.")
]
Token = Annotated[str, typer.Option("--token", help="API key or token; default: PLATFORM_ENGINEER_TOKEN.")]
Json = Annotated[bool, typer.Option("--json", help="JSON on standard output instead of text.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
ContextId = Annotated[
    str, typer.Argument(metavar="ID", help="Its id, or as much of the beginning as is its own.")
]


@conversations.command("list", epilog=EXIT_CODE_HELP)
def conversations_list(url: Url = None, token: Token = "", as_json: Json = False) -> None:
    """List your conversations, newest first: ids, titles, and what was said last."""
    from multi_agents.cli.commands.conversations import list_conversations

    raise typer.Exit(list_conversations(url, token, as_json=as_json))


@conversations.command("show", epilog=EXIT_CODE_HELP)
def conversations_show(which: ContextId, url: Url = None, token: Token = "", as_json: Json = False) -> None:
    """Show one conversation: each request with its answer, oldest first."""
    from multi_agents.cli.commands.conversations import show_conversation

    raise typer.Exit(show_conversation(url, token, which, as_json=as_json))


@conversations.command("export", epilog=EXIT_CODE_HELP)
def conversations_export(
    which: ContextId,
    file: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="A new file; default: the screen.")
    ] = None,
    url: Url = None,
    token: Token = "",
) -> None:
    """Write all that an agent keeps of a conversation, as JSON: its title and its tasks in the form of the protocol."""
    from multi_agents.cli.commands.conversations import export_conversation

    raise typer.Exit(export_conversation(url, token, which, file))


@conversations.command("delete", epilog=EXIT_CODE_HELP)
def conversations_delete(
    which: ContextId,
    *,
    yes: Yes = False,
    here_only: Annotated[
        bool,
        typer.Option(
            "--here-only", help="Also where an agent behind this one cannot be reached, which keeps its part."
        ),
    ] = False,
    url: Url = None,
    token: Token = "",
    as_json: Json = False,
) -> None:
    """Delete a conversation for good: at the agent, and at the agents of yours behind it. What runs in it is canceled."""
    from multi_agents.cli.commands.conversations import delete_conversation

    raise typer.Exit(delete_conversation(url, token, which, yes=yes, here_only=here_only, as_json=as_json))
