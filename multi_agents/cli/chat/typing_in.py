"""Where the person's lines come from: a prompt with history on a terminal, else standard input."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Protocol

from multi_agents.cli.chat.slash_commands import SlashCommand
from multi_agents.cli.console import say


class LineSource(Protocol):
    """Gives one line after the other; `None` at the end."""

    async def next_line(self, prompt: str) -> str | None:
        """The next line, or `None` when the person is done."""


class PipedLines:
    """Lines of standard input, where that is no terminal."""

    async def next_line(self, prompt: str) -> str | None:
        """The next line of the pipe."""
        del prompt
        line = await asyncio.to_thread(sys.stdin.readline)
        return line.rstrip("\n") if line else None


class PromptLines:
    """A prompt with line editing, history in a file, and completion of slash commands."""

    def __init__(self, history: Path) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import WordCompleter
        from prompt_toolkit.history import FileHistory

        history.parent.mkdir(parents=True, exist_ok=True)
        history.touch(mode=0o600)
        self._session: PromptSession[str] = PromptSession(
            history=FileHistory(str(history)),
            completer=WordCompleter([command.line for command in SlashCommand], sentence=True),
            complete_while_typing=False,
        )

    async def next_line(self, prompt: str) -> str | None:
        """The next line; Ctrl-D ends, and so does Ctrl-C pressed twice."""
        warned = False
        while True:
            try:
                return await self._session.prompt_async(prompt)
            except KeyboardInterrupt:
                if warned:
                    return None
                warned = True
                say("Ctrl-C again, Ctrl-D or /quit ends the chat.")
            except EOFError:
                return None


def line_source(home: Path) -> LineSource:
    """The source that fits standard input."""
    return PromptLines(home / "chat_history") if sys.stdin.isatty() else PipedLines()
