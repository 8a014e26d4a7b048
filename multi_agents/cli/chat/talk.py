"""The chat: lines in, turns out, until the person is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never
from uuid import uuid4

from multi_agents.cli.chat.ask import print_result, say_files, sink_for, summary
from multi_agents.cli.chat.downloads import Downloads
from multi_agents.cli.chat.drive import TurnResult, drive
from multi_agents.cli.chat.slash_commands import SlashCommand, find, help_text
from multi_agents.cli.chat.typing_in import PipedLines, line_source
from multi_agents.cli.console import one_line, print_json, say
from multi_agents.cli.errors import CliError, ServiceUnreachable
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.peer.connection import Peer, plain_errors
from multi_agents.cli.service.agents import look_at_all, targets_near
from multi_agents.cli.service.local import home_folder
from multi_agents.cli.view.agents import print_agents
from multi_agents.cli.view.context import show_context
from utils.a2a_common.client.follow import follow_message
from utils.a2a_common.client.message import user_message
from utils.a2a_common.protocol.extensions import clear_payload
from utils.events import ContextMeasured


@dataclass(slots=True)
class Chat:
    """One person's conversation with one agent."""

    peer: Peer
    context_id: str
    as_json: bool
    downloads: Downloads
    waiting_task: str = ""
    context: ContextMeasured | None = None
    suggested: Sequence[str] = ()
    last: ExitCode = ExitCode.OK
    quit: bool = False

    @property
    def prompt(self) -> str:
        """What stands before the cursor; `?` when the agent waits for an answer."""
        return "? " if self.waiting_task else "> "

    async def turn(self, text: str) -> bool:
        """One message and its answer; an answer to a question goes to the same task. Whether to go on."""
        message = user_message(text, context_id=self.context_id, task_id=self.waiting_task)
        events = follow_message(self.peer.connection, message)
        try:
            sink = sink_for(as_json=self.as_json)
            result = await drive(self.peer, events, sink, task_id=self.waiting_task)
        except ServiceUnreachable:
            raise
        except CliError as error:
            say(f"Error [{error.code}]: {error.message}")
            self.waiting_task, self.last = "", error.exit_code
            return True
        await self._note(result)
        self.quit = result.quit
        return not result.quit

    async def _note(self, result: TurnResult) -> None:
        view, task = result.view, result.view.task
        files = await self.downloads.save(task)
        if self.as_json:
            print_json(summary(result, files))
        else:
            print_result(result)
            say_files(files)
            say_suggested(view.suggestions)
        self.suggested = view.suggestions
        self.waiting_task = task.task_id if view.waits else ""
        self.context_id = task.context_id or self.context_id
        self.context = task.context or self.context
        self.last = result.exit_code

    async def command(self, line: str) -> bool:
        """A slash command; whether to go on."""
        name = line.split(maxsplit=1)[0]
        if name[1:].isdecimal():
            return await self._ask_suggested(int(name[1:]))
        command = find(name)
        if command is None:
            say(f"There is no command {name}. /help lists them.")
            return True
        match command:
            case SlashCommand.QUIT:
                return False
            case SlashCommand.NEW:
                self._begin()
                say("A new conversation.")
            case SlashCommand.CONTEXT:
                show_context(self.context)
            case SlashCommand.CLEAR:
                await self._clear()
            case SlashCommand.CANCEL:
                await self._cancel()
            case SlashCommand.AGENTS:
                await self._agents()
            case SlashCommand.HELP:
                say(help_text())
            case _:
                assert_never(command)
        return True

    async def _ask_suggested(self, number: int) -> bool:
        if not 0 < number <= len(self.suggested):
            say(f"There is no suggestion {number}.")
            return True
        request = self.suggested[number - 1]
        say(request)
        return await self.turn(request)

    def _begin(self) -> None:
        self.context_id, self.waiting_task, self.context, self.suggested = str(uuid4()), "", None, ()

    async def _clear(self) -> None:
        """Ask the agent to forget; the text is for agents that know nothing of the data part."""
        if self.waiting_task:
            await self._cancel()
        message = user_message("Forget everything.", context_id=self.context_id, data=[clear_payload()])
        events = follow_message(self.peer.connection, message)
        try:
            result = await drive(self.peer, events, sink_for(as_json=self.as_json))
        except CliError as error:
            say(f"Error [{error.code}]: {error.message}")
            return
        say(result.view.answer or "The agent ended without an answer.")
        self._begin()

    async def _cancel(self) -> None:
        if not self.waiting_task:
            say("No task waits. Ctrl-C cancels one that runs.")
            return
        task, self.waiting_task = self.waiting_task, ""
        try:
            with plain_errors(self.peer.url):
                await self.peer.connection.cancel(task)
            say("Canceled.")
        except CliError as error:
            say(error.message)

    async def _agents(self) -> None:
        print_agents(await look_at_all(targets_near(self.peer.url)))


def say_suggested(requests: Sequence[str]) -> None:
    """What may be asked next, each with the command that asks it."""
    for number, request in enumerate(requests, 1):
        say(f"/{number}  {one_line(request)}")


async def talk(peer: Peer, *, context_id: str, as_json: bool, downloads: Downloads) -> ExitCode:
    """Chat until the person ends it.

    The exit code is that of the last turn where the lines come from a pipe or Ctrl-C ended it.
    """
    lines = line_source(home_folder())
    chat = Chat(peer, context_id, as_json, downloads)
    say(f"{one_line(peer.card.name)} at {peer.url} · /help for commands")
    while (line := await lines.next_line(chat.prompt)) is not None:
        text = line.strip()
        if not text:
            continue
        go_on = await (chat.command(text) if text.startswith("/") else chat.turn(text))
        if not go_on:
            break
    if chat.quit or isinstance(lines, PipedLines):
        return chat.last
    return ExitCode.OK
