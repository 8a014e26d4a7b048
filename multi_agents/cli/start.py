"""Where `platform-engineer` begins: a Ctrl-C while its modules are imported ends it without a traceback."""

from __future__ import annotations

import signal


def main() -> None:
    """Entry point of the console script."""
    watched = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if watched:  # and not ignored, as in a job that a shell runs in the background
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from multi_agents.cli.main import main as command

    if watched:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    command()
