"""`chat`: connect, then ask once or talk."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from multi_agents.cli.chat.notify import notify
from multi_agents.cli.console import err, is_text, say
from multi_agents.cli.errors import UsageError
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.running import on_hangup, run
from multi_agents.cli.service.local import LaunchOptions, home_folder
from utils.errors import PlatformError
from utils.persistence.private import keep_files_private

if TYPE_CHECKING:
    from multi_agents.cli.service.runfile import RunningService
    from multi_agents.cli.service.service import Service

CLIENT = "multi_agents.cli.peer.connection"

PATIENCE_SECONDS = 600.0
"""How long an agent may say nothing where no person watches."""

DOWNLOADS = "downloads"
"""Folder for files of answers, in the data folder."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of the command.

    Attributes:
        url: The agent; the local service without one.
        text: The one question; `None` for a chat.
        context_id: The conversation to go on with; empty for a new one.
        resume: Whether to go on with an earlier conversation.
        words: What stands beside the options: with `resume` the beginning of the conversation's id.
        as_json: Whether programs read what is shown.
        quiet: Whether only answers and failures are shown.
        downloads: Where files go.
        launch: How a service is started.
        token: What proves to the agent who asks; that of the settings when empty.
        patience: Seconds that the agent may say nothing; without it there is a limit only for `text` and for lines from a pipe.
    """

    url: str | None = None
    text: str | None = None
    context_id: str = ""
    resume: bool = False
    words: Sequence[str] = ()
    as_json: bool = False
    quiet: bool = False
    downloads: Path | None = None
    launch: LaunchOptions = field(default_factory=LaunchOptions)
    token: str = field(default="", repr=False)
    patience: float | None = None

    @property
    def conversation(self) -> str:
        """The beginning of the id of the conversation to go on with; empty to choose."""
        return self.words[0] if self.words else ""

    @property
    def silence(self) -> float | None:
        """Seconds that the agent may say nothing; `None` for no limit, where a person watches who can press Ctrl-C."""
        watched = self.text is None and sys.stdin.isatty()
        return PATIENCE_SECONDS if self.patience is None and not watched else self.patience


def chat(asked: Asked) -> ExitCode:
    """Run the command and give its exit code."""
    keep_files_private()  # the history of what was typed, whoever answers
    return run(_chat(asked), as_json=asked.as_json)


async def _chat(asked: Asked) -> ExitCode:
    if asked.text is not None and not asked.text.strip():
        raise UsageError("--ask needs a question.")
    if not is_text(asked.text or ""):
        raise UsageError("--ask is not text in UTF-8.")
    if asked.resume and len(asked.words) > 1:
        raise UsageError("--resume takes the id of one conversation.")
    if asked.words and not asked.resume:
        raise UsageError(
            '`chat` takes no question on the command line. Use: platform-engineer chat --ask "…"'
        )
    if asked.resume and asked.text is not None and not asked.conversation:
        raise UsageError('With --ask, give --resume the id of a conversation: chat --resume ID --ask "…"')
    if asked.resume and asked.context_id:
        raise UsageError("--resume and --context both name a conversation: give one of them.")
    if asked.url is not None:
        return await _talk(asked.url, asked)
    return await _with_service(asked)


async def _with_service(asked: Asked) -> ExitCode:
    from multi_agents.cli.service.local import local_service
    from multi_agents.cli.view.startup import Detail, StartupView

    detail = Detail.FAILURES if asked.quiet else Detail.RESULT
    client = asyncio.create_task(
        asyncio.to_thread(import_module, CLIENT)
    )  # takes a second; so does the start
    show, tell = partial(StartupView, detail=detail), _nothing if asked.quiet else say
    async with local_service(asked.launch, show, tell) as (running, own):
        await client
        if own is not None:
            return await _with_own_service(own, asked)
        if not asked.quiet:
            say(f"Using the service that runs already at {running.supervisor.url}.")
        return await _with_service_of_another(running, asked)


def _nothing(_line: str) -> None:
    """Tell nobody."""


async def _with_service_of_another(running: RunningService, asked: Asked) -> ExitCode:
    """Talk to the service that another process holds, and tell what happens to it."""
    if asked.text is not None or asked.quiet:
        return await _talk(running.supervisor.url, asked)
    if err().is_terminal:
        _say_page(running)
    from multi_agents.cli.service.news import news_told
    from multi_agents.cli.service.runfile import RunFile

    async with news_told(RunFile(home_folder()), running, notify):
        return await _talk(running.supervisor.url, asked)


async def _with_own_service(own: Service, asked: Asked) -> ExitCode:
    """Talk to the service that this process started; then keep it for as long as other chats use it."""
    from multi_agents.cli.model.unused import pointed_out
    from multi_agents.cli.service.keeper import kept_up
    from multi_agents.cli.service.local import until_alone
    from multi_agents.cli.service.progress import progress_told

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(kept_up(own, notify))
        if asked.text is None and not asked.quiet and err().is_terminal:
            _say_page(own.running)
            await stack.enter_async_context(progress_told(own, notify))
            await stack.enter_async_context(pointed_out(notify))
        result = await _until_hangup(_talk(own.running.supervisor.url, asked))
        await until_alone(own)
        if isinstance(result, PlatformError):
            raise result
        return result


def _say_page(running: RunningService) -> None:
    """Say where the page is, unless it is switched off."""
    from utils.settings import process_environment
    from utils.web.settings import WebSettings

    if WebSettings.load(process_environment()).page:
        say(f"In a browser: {running.supervisor.url}")


async def _until_hangup(talk: Coroutine[Any, Any, ExitCode]) -> ExitCode | PlatformError:
    """How the talk ended; that the terminal was closed is an end of the talk, not of the service."""
    talking = asyncio.create_task(talk)
    on_hangup(talking.cancel)
    try:
        return await talking
    except PlatformError as error:
        return error
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return ExitCode.TERMINATED


async def _talk(url: str, asked: Asked) -> ExitCode:
    from multi_agents.cli.chat.downloads import Downloads
    from multi_agents.cli.peer.connection import connect

    downloads = Downloads(asked.downloads or home_folder() / DOWNLOADS)
    async with connect(url, asked.token, local=asked.url is None) as peer:
        if asked.text is None:
            from multi_agents.cli.chat.talk import talk

            return await talk(
                peer,
                downloads=downloads,
                as_json=asked.as_json,
                quiet=asked.quiet,
                context_id=asked.context_id,
                resumed=asked.conversation if asked.resume else None,
                patience=asked.silence,
            )
        from multi_agents.cli.chat.ask import ask
        from multi_agents.cli.chat.conversations import chosen, conversation_list, conversations_of

        context_id = asked.context_id
        if asked.resume:
            found = await conversations_of(peer)
            one = chosen(found, asked.conversation, listed_by=conversation_list(peer))
            context_id = one.context_id
        return await ask(
            peer,
            asked.text,
            downloads=downloads,
            context_id=context_id,
            as_json=asked.as_json,
            quiet=asked.quiet,
            patience=asked.silence,
        )
