"""The commands `conversations …`; like the others they import what they need only when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multi_agents.cli.exit_codes import EXIT_CODE_HELP
from multi_agents.cli.options import AgentsFile, Issuer, Json, OneAgent, Person, Token, Url, Yes

conversations = typer.Typer(
    help="Your conversations with an agent: what it keeps of them, and how it is deleted.",
    no_args_is_help=True,
)

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


@conversations.command("adopt", epilog=EXIT_CODE_HELP)
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
    """Give conversations that were had without authentication to one person. Stop the service before."""
    from multi_agents.cli.commands.adopt import adopt_conversations
    from multi_agents.cli.service.plan import AGENTS_FILE
    from utils.auth.api_keys import ISSUER

    person = f"{issuer or ISSUER} {subject}"
    raise typer.Exit(
        adopt_conversations(person, tenant, agent, agents_file or AGENTS_FILE, dry=dry_run, as_json=as_json)
    )
