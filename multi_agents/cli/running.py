"""How a command's coroutine runs: quiet libraries, plain errors, exit codes."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from multi_agents.cli.console import is_text, print_json, say
from multi_agents.cli.errors import UsageError, exit_code_for
from multi_agents.cli.exit_codes import ExitCode
from utils.atomic_file import is_blocked, is_full, not_written
from utils.environment import unread_env_file
from utils.errors import PlatformError


def run(main: Coroutine[Any, Any, ExitCode], *, as_json: bool = False) -> ExitCode:
    """Run a command. Errors become a sentence (with `as_json` also an object) and an exit code."""
    logging.getLogger().addHandler(logging.NullHandler())
    if unread := unread_env_file():
        say(unread)
    try:
        return asyncio.run(_until_sigterm(main))
    except PlatformError as error:
        return _told(error, as_json=as_json)
    except UnicodeEncodeError:
        bad = [ascii(word) for word in sys.argv[1:] if not is_text(word)]
        if not bad:
            raise
        return _told(UsageError(f"This is not text in UTF-8: {', '.join(bad)}"), as_json=as_json)
    except OSError as error:
        if not is_full(error) and not is_blocked(error):
            raise
        if error.filename is None:
            _discard_output()  # the flush at exit would fail, and change the exit code
        return _told(not_written(error.filename, error), as_json=as_json)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except asyncio.CancelledError:
        return ExitCode.TERMINATED


def _told(error: PlatformError, *, as_json: bool) -> ExitCode:
    if as_json:
        _print_if_there_is_room({"event": "error", "code": error.code, "message": error.message})
    say(f"Error [{error.code}]: {error.message}")
    return exit_code_for(error)


def _print_if_there_is_room(value: dict[str, str]) -> None:
    """Print the line. If the disk of standard output is full, discard its buffer, so that the flush at exit cannot fail."""
    try:
        print_json(value)
    except OSError as error:
        if not is_full(error):
            raise
        _discard_output()


def tell_full(error: OSError) -> ExitCode:
    """The exit code of a command whose output found no room, such as a help screen; the person is told."""
    _discard_output()
    return _told(not_written(error.filename, error), as_json=False)


def _discard_output() -> None:
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123 - no file of ours
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def on_hangup(do: Callable[[], object]) -> None:
    """Call `do` when the terminal is closed, unless whoever started the command lets it outlive that, as `nohup` does."""
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, do)


async def _until_sigterm(main: Coroutine[Any, Any, ExitCode]) -> ExitCode:
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        on_hangup(task.cancel)
    return await main
