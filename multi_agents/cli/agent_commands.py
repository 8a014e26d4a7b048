"""The commands `agents …`; like the others they import what they need only when they run."""

from __future__ import annotations

from typing import Annotated

import typer

from multi_agents.cli.help_screens import Commands, ending
from multi_agents.cli.options import AgentsFile, Json, Url

agents = Commands(
    help="Show the agents: health, latency, version and skills; add agents that run elsewhere.",
    invoke_without_command=True,
    epilog=ending(codes="3 if no agent answers."),
)


@agents.callback()
def agents_alone(context: typer.Context, url: Url = None, as_json: Json = False) -> None:
    """Show the agents: health, latency, version and skills; add agents that run elsewhere."""
    from multi_agents.cli.commands.agents import agents as command

    if context.invoked_subcommand is None:
        raise typer.Exit(command(url, as_json=as_json))


@agents.command("list")
def agents_list(url: Url = None, as_json: Json = False) -> None:
    """Show the agents, as `agents` alone does."""
    from multi_agents.cli.commands.agents import agents as command

    raise typer.Exit(command(url, as_json=as_json))


@agents.command("add")
def agents_add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the agent at the supervisor.")],
    url: Annotated[str, typer.Argument(metavar="URL", help="Address of the agent, where its card is read.")],
    agents_file: AgentsFile = None,
    force: Annotated[bool, typer.Option("--force", help="Add it even if its card cannot be read.")] = False,
) -> None:
    """Add an A2A agent that runs elsewhere, by the address of its card."""
    from multi_agents.cli.commands.agents_file import add_agent as command
    from multi_agents.cli.service.plan import AGENTS_FILE

    raise typer.Exit(command(name, url, agents_file or AGENTS_FILE, force=force))


@agents.command("remove")
def agents_remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the agent at the supervisor.")],
    agents_file: AgentsFile = None,
) -> None:
    """Remove an agent from the list; the files of a local one stay."""
    from multi_agents.cli.commands.agents_file import remove_agent as command
    from multi_agents.cli.service.plan import AGENTS_FILE

    raise typer.Exit(command(name, agents_file or AGENTS_FILE))
