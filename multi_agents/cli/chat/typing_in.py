"""Where the person's lines come from: a prompt with history on a terminal, else standard input."""

from __future__ import annotations

import asyncio
import select
import sys
import termios
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from multi_agents.cli.chat.interrupts import InterruptWatch
from multi_agents.cli.console import say
from multi_agents.cli.typed_lines import FILE
from utils.encryption.settings import EncryptionSettings
from utils.errors import StorageError

if TYPE_CHECKING:
    from prompt_toolkit.history import History


class LineSource(Protocol):
    """Gives one line after the other; `None` at the end."""

    async def next_line(self, prompt: str, watch: InterruptWatch, *, unread: bool = False) -> str | None:
        """The next line, or `None` when the person is done.

        Args:
            prompt: What stands before it.
            watch: The Ctrl-C of the chat.
            unread: Whether a question has just been shown, which nothing that was typed before can answer.
        """


class PipedLines:
    """Lines of standard input, if it is not a terminal. Bytes that are not UTF-8 are lone surrogates in them."""

    async def next_line(self, prompt: str, watch: InterruptWatch, *, unread: bool = False) -> str | None:
        """The next line of the pipe, whenever it was written; `None` at its end, and when Ctrl-C is pressed meanwhile."""
        del prompt, unread
        reading = asyncio.ensure_future(_read_line())
        pressed = asyncio.ensure_future(watch.current.first.wait())
        await asyncio.wait({reading, pressed}, return_when=asyncio.FIRST_COMPLETED)
        pressed.cancel()
        if not reading.done():
            reading.cancel()
            return None
        line = reading.result()
        return line.rstrip("\r\n") if line else None


async def _read_line() -> str:
    """A line of standard input, read by a thread that does not keep the process from ending."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[str] = loop.create_future()

    def tell(line: str) -> None:
        if not found.done():
            found.set_result(line)

    def read() -> None:
        line = sys.stdin.buffer.readline().decode(sys.stdin.encoding, "surrogateescape")
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(tell, line)

    threading.Thread(target=read, daemon=True).start()
    return await found


class PromptLines:
    """A prompt with line editing, history, and completion of slash commands.

    Args:
        history: The file of the history; `None` keeps it in memory.
        commands: The commands that are completed.

    Raises:
        StorageError: The file cannot be written.
    """

    def __init__(self, history: Path | None, commands: Sequence[str]) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import WordCompleter

        self._session: PromptSession[str] = PromptSession(
            history=_history(history),
            completer=WordCompleter(list(commands), sentence=True),
            complete_while_typing=False,
            enable_suspend=True,
        )

    async def next_line(self, prompt: str, watch: InterruptWatch, *, unread: bool = False) -> str | None:
        """The next line; Ctrl-D ends, and so does Ctrl-C pressed twice. What was typed before an unread question is dropped."""
        if unread and self._drop_typed():
            say("What was typed before this question was shown is not taken as its answer.")
        warned = False
        while True:
            try:
                with watch.offered_to(self._leave_prompt):
                    return await self._session.prompt_async(prompt, handle_sigint=False)
            except KeyboardInterrupt:
                if warned:
                    return None
                warned = True
                say("Ctrl-C again, Ctrl-D or /quit ends the chat.")
            except EOFError:
                return None

    def _drop_typed(self) -> bool:
        """Drop the keys that were pressed since the last line; whether a whole line was among them."""
        from prompt_toolkit.input.typeahead import get_typeahead
        from prompt_toolkit.keys import Keys

        keys = get_typeahead(self._session.input)
        lines_wait, _, _ = select.select([sys.stdin], [], [], 0)
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
        return bool(lines_wait) or any(press.key in {Keys.ControlM, Keys.ControlJ} for press in keys)

    def _leave_prompt(self) -> bool:
        """Whether a SIGINT met the prompt, and not the moment after Enter, when it is meant for the turn."""
        app = self._session.app
        if not app.is_running or app.is_done:
            return False
        app.exit(exception=KeyboardInterrupt())
        return True


def _history(file: Path | None) -> History:
    from prompt_toolkit.history import InMemoryHistory

    if file is None:
        return InMemoryHistory()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
    except OSError as error:
        raise StorageError(f"{file} cannot be written: {error.strerror}.") from error
    from multi_agents.cli.chat.typed_history import TypedHistory

    return TypedHistory(file, EncryptionSettings.load().codec())


def line_source(home: Path | None, commands: Sequence[str]) -> LineSource:
    """The source that fits standard input; without a home, nothing that is typed is written to a file."""
    if not sys.stdin.isatty():
        return PipedLines()
    return PromptLines(home / FILE if home else None, commands)
