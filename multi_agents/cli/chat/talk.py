"""The chat: lines in, turns out, until the person is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from multi_agents.cli.chat.ask import print_result, sink_for, summary
from multi_agents.cli.chat.drive import TurnResult, drive
from multi_agents.cli.chat.typing_in import PipedLines, line_source
from multi_agents.cli.console import one_line, print_json, say
from multi_agents.cli.errors import CliError, ServiceUnreachable
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.peer.connection import Peer
from multi_agents.cli.peer.turn import run_turn
from multi_agents.cli.service.local import home_folder
from multi_agents.cli.view.context import show_context
from utils.a2a_common.protocol.extensions import CONTEXT_EXTENSION
from utils.events import ContextMeasured

HELP = """\
/new      begin a new conversation
/agents   the agent you talk to, and the agents of the local service
/context  what the last model request of the agent held
/clear    let the agent forget this conversation, and begin a new one
/cancel   cancel the task that waits for your answer
/1 /2 /3  ask one of the requests that were suggested
/help     this list
/quit     end the chat (also Ctrl-D)
Ctrl-C while the agent works cancels the task; twice ends the chat."""


@dataclass(slots=True)
class Chat:
    """One person's conversation with one agent."""

    peer: Peer
    context_id: str
    as_json: bool
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
        events = run_turn(self.peer, text, context_id=self.context_id, task_id=self.waiting_task)
        try:
            sink = sink_for(as_json=self.as_json)
            result = await drive(self.peer, events, sink, task_id=self.waiting_task)
        except ServiceUnreachable:
            raise
        except CliError as error:
            say(f"Error [{error.code}]: {error.message}")
            self.waiting_task, self.last = "", error.exit_code
            return True
        self._note(result)
        self.quit = result.quit
        return not result.quit

    def _note(self, result: TurnResult) -> None:
        if self.as_json:
            print_json(summary(result))
        else:
            print_result(result)
            say_suggested(result.view.next)
        view = result.view
        self.suggested = view.next
        self.waiting_task = view.task_id if view.waits else ""
        self.context_id = view.context_id or self.context_id
        self.context = view.context or self.context
        self.last = result.exit_code

    async def command(self, line: str) -> bool:
        """A slash command; whether to go on."""
        match line.split(maxsplit=1)[0]:
            case name if name[1:].isdecimal():
                return await self._ask_suggested(int(name[1:]))
            case "/quit" | "/exit":
                return False
            case "/new":
                self._begin()
                say("A new conversation.")
            case "/context":
                show_context(self.context)
            case "/clear":
                await self._clear()
            case "/cancel":
                await self._cancel()
            case "/agents":
                await self._agents()
            case "/help":
                say(HELP)
            case other:
                say(f"There is no command {other}. /help lists them.")
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
        data = {CONTEXT_EXTENSION: {"clear": True}}
        events = run_turn(self.peer, "Forget everything.", context_id=self.context_id, data=data)
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
            await self.peer.cancel(task)
            say("Canceled.")
        except CliError as error:
            say(error.message)

    async def _agents(self) -> None:
        from multi_agents.cli.commands.agents import show_agents, targets_near

        await show_agents(targets_near(self.peer.url), as_json=False)


def say_suggested(requests: Sequence[str]) -> None:
    """What may be asked next, each with the command that asks it."""
    for number, request in enumerate(requests, 1):
        say(f"/{number}  {one_line(request)}")


async def talk(peer: Peer, *, context_id: str, as_json: bool) -> ExitCode:
    """Chat until the person ends it.

    The exit code is that of the last turn where the lines come from a pipe or Ctrl-C ended it.
    """
    lines = line_source(home_folder())
    chat = Chat(peer, context_id, as_json)
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
