"""The commands `conversations …`; like the others they import what they need only when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multi_agents.cli.help_screens import Commands, ending
from multi_agents.cli.options import AgentsFile, Issuer, Json, OneAgent, Person, Token, Url, Yes

conversations = Commands(
    help="List, show, export and delete your conversations with an agent.",
    no_args_is_help=True,
)

ContextId = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="Id of the conversation, or enough of its first characters to be unique."
    ),
]


@conversations.command("list")
def conversations_list(url: Url = None, token: Token = "", as_json: Json = False) -> None:
    """List your conversations, newest first: id, time of the last change, number of requests, and title."""
    from multi_agents.cli.commands.conversations import list_conversations

    raise typer.Exit(list_conversations(url, token, as_json=as_json))


@conversations.command("show")
def conversations_show(which: ContextId, url: Url = None, token: Token = "", as_json: Json = False) -> None:
    """Show one conversation: each request with its answer, oldest first."""
    from multi_agents.cli.commands.conversations import show_conversation

    raise typer.Exit(show_conversation(url, token, which, as_json=as_json))


@conversations.command("export")
def conversations_export(
    which: ContextId,
    file: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write to this file, which must not exist; default: standard output.",
        ),
    ] = None,
    url: Url = None,
    token: Token = "",
) -> None:
    """Write all that an agent stores of a conversation as JSON: its title, and its tasks in the form of the protocol."""
    from multi_agents.cli.commands.conversations import export_conversation

    raise typer.Exit(export_conversation(url, token, which, file))


@conversations.command("delete")
def conversations_delete(
    which: ContextId,
    *,
    yes: Yes = False,
    here_only: Annotated[
        bool,
        typer.Option(
            "--here-only",
            help="Delete here even if a sub-agent cannot be reached. That sub-agent keeps its copy.",
        ),
    ] = False,
    url: Url = None,
    token: Token = "",
    as_json: Json = False,
) -> None:
    """Delete a conversation at the agent and at your own agents that worked on it. What still runs in it is canceled. This cannot be undone."""
    from multi_agents.cli.commands.conversations import delete_conversation

    raise typer.Exit(delete_conversation(url, token, which, yes=yes, here_only=here_only, as_json=as_json))


@conversations.command(
    "adopt",
    epilog=ending(
        codes="2 if a conversation could not be assigned.", example="conversations adopt ann --dry-run"
    ),
)
def conversations_adopt(
    subject: Person,
    *,
    issuer: Issuer = "",
    tenant: Annotated[
        str, typer.Option("--tenant", help="Tenant that the conversations are in; default: outside tenants.")
    ] = "",
    agent: OneAgent = None,
    agents_file: AgentsFile = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list them.")] = False,
    as_json: Json = False,
) -> None:
    """Assign conversations from the time without authentication to one person. Stop the service first. This cannot be undone."""
    from multi_agents.cli.commands.adopt import adopt_conversations
    from multi_agents.cli.service.plan import AGENTS_FILE
    from utils.auth.api_keys import ISSUER

    person = f"{issuer or ISSUER} {subject}"
    raise typer.Exit(
        adopt_conversations(person, tenant, agent, agents_file or AGENTS_FILE, dry=dry_run, as_json=as_json)
    )
