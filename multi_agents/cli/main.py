"""`platform-engineer`: what each command takes. What it does stands in `commands/`, imported when it runs."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from multi_agents.cli.exit_codes import EXIT_CODE_HELP, ExitCode

app = typer.Typer(
    name="platform-engineer",
    help="Chat with the platform engineer, run its service, and look after its agents.",
    epilog=EXIT_CODE_HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Url = Annotated[
    str | None, typer.Option("--url", help="Address of an A2A agent; default: the local service.")
]
Json = Annotated[bool, typer.Option("--json", help="JSON on standard output instead of text.")]


@app.callback()
def root() -> None:
    """Chat with the platform engineer, run its service, and look after its agents."""


@app.command(epilog=EXIT_CODE_HELP)
def chat(
    url: Url = None,
    ask: Annotated[str | None, typer.Option("--ask", help="Ask this, print the answer, exit.")] = None,
    context: Annotated[str, typer.Option("--context", help="Id of the conversation to go on with.")] = "",
    as_json: Json = False,
) -> None:
    """Chat with an agent; without --url with the local service, which is started when none runs."""
    from multi_agents.cli.commands.chat import chat as command

    raise typer.Exit(command(url, ask, context, as_json=as_json))


def main() -> None:
    """Entry point of the console script."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
