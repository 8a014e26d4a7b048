"""The options and arguments that more than one command takes, each with the help that it shows everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Url = Annotated[
    str | None, typer.Option("--url", help="Address of an A2A agent; default: the local service.")
]
Token = Annotated[str, typer.Option("--token", help="API key or token; default: PLATFORM_ENGINEER_TOKEN.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output instead of text.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
AgentsFile = Annotated[
    Path | None, typer.Option("--agents-file", help="List of the agents; default: agents/agents.yaml.")
]
OneAgent = Annotated[
    str | None, typer.Option("--agent", metavar="NAME", help="Only this agent; default: all local ones.")
]
Issuer = Annotated[
    str, typer.Option("--issuer", help="Provider of these tokens, as in AUTH_ISSUERS; default: API keys.")
]
Person = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Name of the API key, or subject of the person's tokens."),
]
