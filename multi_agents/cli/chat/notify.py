"""Shows an unsolicited line without damaging the screen."""

from __future__ import annotations

import sys

from multi_agents.cli.console import say


async def notify(text: str) -> None:
    """Say it above the prompt or above the live tree of a running turn, whichever is there; else at once."""
    if not sys.stdin.isatty():
        say(text, to_copy=True)
        return
    from prompt_toolkit.application import run_in_terminal

    await run_in_terminal(lambda: say(text, to_copy=True))
