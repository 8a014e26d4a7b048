"""The command `erase`; like the others it imports what it needs only when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from multi_agents.cli.conversation_commands import Json, Yes


def erase(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the API key, or subject of the person's tokens.")
    ],
    *,
    issuer: Annotated[
        str, typer.Option("--issuer", help="Provider of these tokens, as in AUTH_ISSUERS; default: API keys.")
    ] = "",
    tenant: Annotated[
        str, typer.Option("--tenant", help="Tenant of the person; default: that of the API key, else none.")
    ] = "",
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="NAME", help="Only this agent; default: all local ones.")
    ] = None,
    agents_file: Annotated[
        Path | None, typer.Option("--agents-file", help="List of the agents; default: agents/agents.yaml.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be erased.")] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Erase all that the agents keep of one person: conversations, memories, authorisations and the API key.

    Files: stop the service first. PostgreSQL: it may run.
    """
    from multi_agents.cli.commands.erase import Wanted, erase_person
    from multi_agents.cli.service.plan import AGENTS_FILE

    wanted = Wanted(name, issuer, tenant, agent, agents_file or AGENTS_FILE)
    raise typer.Exit(erase_person(wanted, dry=dry_run, yes=yes, as_json=as_json))
