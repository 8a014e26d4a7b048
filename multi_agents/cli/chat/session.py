"""One person's conversation with one agent: its turns, and what is remembered between two of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from multi_agents.cli.chat.ask import print_answer, print_result, say_files, sink_for, summary
from multi_agents.cli.chat.downloads import Downloads
from multi_agents.cli.chat.drive import TurnResult, drive
from multi_agents.cli.chat.interrupts import InterruptWatch
from multi_agents.cli.chat.sender_secret import secret_for
from multi_agents.cli.console import one_line, out, print_json, say
from multi_agents.cli.errors import CliError, ConnectionLost
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.peer.connection import Peer
from multi_agents.cli.view.long_lists import Pages, pages
from utils.a2a_common.client.stream.follow import follow_message
from utils.a2a_common.client.stream.message import user_message
from utils.events import ContextMeasured


@dataclass(slots=True)
class Chat:
    """One person's conversation with one agent.

    Attributes:
        peer: The agent.
        context_id: The conversation.
        as_json: Whether programs read what is shown.
        quiet: Whether only answers and failures are shown.
        downloads: Saves the files of answers.
        watch: The Ctrl-C of the turns.
        turns: How many messages of this conversation were sent or found.
        waiting_task: The task that waits for the person's answer.
        read_question: Id of the question that it waits with, which the person has read.
        context: What the last model request of the agent held.
        suggested: What may be asked with a number.
        answer: The last answer, whole.
        pages: The part of it that was shown last, and what comes after that.
        last: The exit code of the last turn.
        told: Notices of the agent that were shown.
        patience: Seconds that the agent may say nothing in a turn; `None` for no limit.
        quit: Whether the person pressed Ctrl-C twice.
    """

    peer: Peer
    context_id: str
    as_json: bool
    quiet: bool
    downloads: Downloads
    watch: InterruptWatch = field(default_factory=InterruptWatch)
    turns: int = 0
    waiting_task: str = ""
    read_question: str = ""
    context: ContextMeasured | None = None
    suggested: Sequence[str] = ()
    answer: str = ""
    pages: Pages = field(default_factory=lambda: Pages(""))
    last: ExitCode = ExitCode.OK
    told: set[str] = field(default_factory=set)
    patience: float | None = None
    quit: bool = False

    @property
    def prompt(self) -> str:
        """The prompt before the cursor; `?` when the agent waits for an answer."""
        return "? " if self.waiting_task else "> "

    async def turn(self, text: str) -> bool:
        """One message and its answer. Whether to go on.

        Where a task waits, an agent whose card says so decides whether the message answers it or is another request, as the
        supervisor does; any other agent is told the task.
        """
        answered = "" if self.peer.connection.matches_answers else self.waiting_task
        message = user_message(
            text,
            context_id=self.context_id,
            task_id=answered,
            secret=secret_for(self.peer, self.context_id),
            question=self.read_question if self.waiting_task and self.peer.connection.knows_senders else "",
        )
        events = follow_message(self.peer.connection, message)
        sink = sink_for(as_json=self.as_json, quiet=self.quiet)
        try:
            result = await drive(
                self.peer,
                events,
                sink,
                task_id=answered,
                interrupts=self.watch.current,
                patience=self.patience,
            )
        except CliError as error:
            if not isinstance(error, ConnectionLost):  # a question that the agent asked still waits there
                self.waiting_task = ""
            self.refuse(error)
            return True
        self.turns += 1
        await self._note(result)
        self.quit = result.quit
        return not result.quit

    def refuse(self, error: CliError) -> None:
        """Say why a message has no answer; the chat goes on."""
        if self.as_json:
            print_json({"event": "error", "code": error.code, "message": error.message})
        say(f"Error [{error.code}]: {error.message}")
        self.last = error.exit_code

    def begin(self, context_id: str = "") -> None:
        """Leave this conversation for a new one, or for that with the id."""
        self.context_id = context_id or str(uuid4())
        self.waiting_task, self.read_question, self.context, self.suggested, self.turns = "", "", None, (), 0
        self.answer, self.pages = "", Pages("")

    def show_more(self) -> None:
        """The next rows of a list that was cut."""
        if not self.pages.rest:
            say("There are no more rows.")
            return
        self.pages = self.pages.next()
        print_answer(self.pages.first)
        self._say_left()

    async def _note(self, result: TurnResult) -> None:
        view, task = result.view, result.view.task
        files = await self.downloads.save(task)
        self.answer = view.answer or self.answer
        if self.as_json:
            print_json(summary(result, files))
        else:
            self._show(result)
            say_files(files)
            if not self.quiet:
                self._say_notice(view.notice)
                say_suggested(view.suggestions)
        self.suggested = view.suggestions
        if task.received:
            self._note_waiting(result)
        self.context_id = task.context_id or self.context_id
        self.context = task.context or self.context
        self.last = result.exit_code

    def _show(self, result: TurnResult) -> None:
        """The answer; on a terminal with its long lists cut."""
        self.pages = pages(result.view.answer) if out().is_terminal else Pages(result.view.answer)
        print_result(result, self.pages.first)
        self._say_left()

    def _say_notice(self, notice: str) -> None:
        """Say it with the first answer that has it; an agent repeats it in each conversation."""
        if notice and notice not in self.told:
            self.told.add(notice)
            say(notice)

    def _say_left(self) -> None:
        if left := self.pages.left:
            say(f"{left} more: /more")

    def _note_waiting(self, result: TurnResult) -> None:
        task, before = result.view.task, self.waiting_task
        self.waiting_task = task.task_id if result.view.waits else ""
        self.read_question = task.message_id
        if before and task.task_id and task.task_id != before:
            say("This was taken as another request: the question before it is dropped.")


def say_suggested(requests: Sequence[str]) -> None:
    """The suggested requests, each with the command that sends it."""
    for number, request in enumerate(requests, 1):
        say(f"/{number}  {one_line(request)}")
