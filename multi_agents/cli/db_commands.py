"""The commands `db …`; like the others they import what they need only when they run."""

from __future__ import annotations

from typing import Annotated

import typer

from multi_agents.cli.exit_codes import EXIT_CODE_HELP
from multi_agents.cli.options import AgentsFile, Json, OneAgent

db = typer.Typer(
    help="What the agents stored: their tables at DATABASE_URL, and its encryption.", no_args_is_help=True
)


@db.command("upgrade", epilog=EXIT_CODE_HELP)
def db_upgrade(agent: OneAgent = None, agents_file: AgentsFile = None, as_json: Json = False) -> None:
    """Create the tables, or bring them to the version of this program. Safe to run twice."""
    from multi_agents.cli.commands.db import db as command
    from multi_agents.cli.service.plan import AGENTS_FILE

    raise typer.Exit(command("upgrade", agent, agents_file or AGENTS_FILE, as_json=as_json))


@db.command("status", epilog=EXIT_CODE_HELP)
def db_status(agent: OneAgent = None, agents_file: AgentsFile = None, as_json: Json = False) -> None:
    """Show version and size of the tables; exit 0 when all are up to date, else 2."""
    from multi_agents.cli.commands.db import db as command
    from multi_agents.cli.service.plan import AGENTS_FILE

    raise typer.Exit(command("status", agent, agents_file or AGENTS_FILE, as_json=as_json))


@db.command("encrypt", epilog=EXIT_CODE_HELP)
def db_encrypt(
    agent: OneAgent = None,
    vacuum_full: Annotated[
        bool,
        typer.Option(
            "--vacuum-full",
            help="In PostgreSQL rewrite each table then, so that its file holds nothing else; the agent waits meanwhile.",
        ),
    ] = False,
    agents_file: AgentsFile = None,
    as_json: Json = False,
) -> None:
    """Encrypt what was stored before, with the first of ENCRYPTION_KEYS. Files: stop the service first. PostgreSQL: it may run.

    Ctrl-C ends it after the values that are under way; the next run goes on from there.
    """
    from multi_agents.cli.commands.db_encrypt import db_encrypt as command
    from multi_agents.cli.service.plan import AGENTS_FILE

    raise typer.Exit(command(agent, agents_file or AGENTS_FILE, vacuum_full=vacuum_full, as_json=as_json))
