"""The commands `db …`; like the others they import what they need only when they run."""

from __future__ import annotations

from typing import Annotated

import typer

from multi_agents.cli.help_screens import Commands, ending
from multi_agents.cli.options import AgentsFile, Json, OneAgent

db = Commands(help="Upgrade, inspect and encrypt the stored data.", no_args_is_help=True)


@db.command("upgrade")
def db_upgrade(agent: OneAgent = None, agents_file: AgentsFile = None, as_json: Json = False) -> None:
    """Create the tables, or bring them to the version of this program. Safe to run twice."""
    from multi_agents.cli.commands.db import db as command
    from multi_agents.cli.service.plan import AGENTS_FILE

    raise typer.Exit(command("upgrade", agent, agents_file or AGENTS_FILE, as_json=as_json))


@db.command("status", epilog=ending(codes="2 if the tables are not up to date."))
def db_status(agent: OneAgent = None, agents_file: AgentsFile = None, as_json: Json = False) -> None:
    """Show version and size of the tables."""
    from multi_agents.cli.commands.db import db as command
    from multi_agents.cli.service.plan import AGENTS_FILE

    raise typer.Exit(command("status", agent, agents_file or AGENTS_FILE, as_json=as_json))


@db.command("encrypt", epilog=ending(codes="2 if a value could not be read."))
def db_encrypt(
    agent: OneAgent = None,
    vacuum_full: Annotated[
        bool,
        typer.Option(
            "--vacuum-full",
            help="Then rewrite each PostgreSQL table, so that no unencrypted value is left in its file; the agent waits meanwhile.",
        ),
    ] = False,
    agents_file: AgentsFile = None,
    as_json: Json = False,
) -> None:
    """Encrypt the data that is already stored, with the first of ENCRYPTION_KEYS.

    With SQLite files, stop the service first. With PostgreSQL it may keep running. Ctrl-C ends it after the values that are
    under way; the next run continues from there.
    """
    from multi_agents.cli.commands.db_encrypt import db_encrypt as command
    from multi_agents.cli.service.plan import AGENTS_FILE

    raise typer.Exit(command(agent, agents_file or AGENTS_FILE, vacuum_full=vacuum_full, as_json=as_json))
