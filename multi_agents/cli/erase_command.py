"""The command `erase`; like the others it imports what it needs only when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from multi_agents.cli.help_screens import ending
from multi_agents.cli.options import AgentsFile, Issuer, Json, OneAgent, Person, Yes

ERASE_ENDING = ending(codes="2 if something was left: run the command again.", example="erase ann --dry-run")


def erase(
    name: Person,
    *,
    issuer: Issuer = "",
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant", help="Tenant of the person, '' for none; default: that of the API key, else none."
        ),
    ] = None,
    agent: OneAgent = None,
    agents_file: AgentsFile = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be erased.")] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Erase all data that the agents store of one person: conversations, memories, authorisations and the API key.

    With SQLite files, stop the service first. With PostgreSQL it may keep running.
    """
    from multi_agents.cli.commands.erase import Wanted, erase_person
    from multi_agents.cli.service.plan import AGENTS_FILE

    wanted = Wanted(name, issuer, tenant, agent, agents_file or AGENTS_FILE)
    raise typer.Exit(erase_person(wanted, dry=dry_run, yes=yes, as_json=as_json))
