"""The chat: lines in, turns out, until the person is done."""

from __future__ import annotations

from uuid import uuid4

from multi_agents.cli.chat.commands import go_on, resume, run_command
from multi_agents.cli.chat.conversations import conversation_list, known_conversation, short_id
from multi_agents.cli.chat.downloads import Downloads
from multi_agents.cli.chat.interrupts import InterruptWatch, unless_pressed, watch_chat
from multi_agents.cli.chat.session import Chat
from multi_agents.cli.chat.slash_commands import SlashCommand, is_command
from multi_agents.cli.chat.typing_in import LineSource, PipedLines, line_source
from multi_agents.cli.console import is_text, one_line, say
from multi_agents.cli.errors import UsageError
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.peer.connection import Peer
from multi_agents.cli.service.local import home_folder
from utils.persistence.settings import DatabaseSettings, Store


async def talk(
    peer: Peer,
    *,
    downloads: Downloads,
    as_json: bool = False,
    quiet: bool = False,
    context_id: str = "",
    resumed: str | None = None,
    patience: float | None = None,
) -> ExitCode:
    """Chat until the person ends it.

    Args:
        peer: The agent.
        downloads: Saves the files of answers.
        as_json: Whether programs read what is shown.
        quiet: Whether only answers and failures are shown.
        context_id: The conversation to go on with, which the agent need not know; a new one when empty.
        resumed: The earlier conversation to go on with; empty to list them, `None` for none.
        patience: Seconds that the agent may say nothing in a turn; `None` for no limit.

    Returns:
        The exit code of the last turn where the lines come from a pipe or Ctrl-C ended the chat.
    """
    in_memory = DatabaseSettings.load().store is Store.MEMORY
    lines = line_source(None if in_memory else home_folder(), [command.line for command in SlashCommand])
    with watch_chat() as watch:
        here = context_id or str(uuid4())
        chat = Chat(peer, here, as_json, quiet, downloads, watch, patience=patience)
        if resumed is not None:
            await unless_pressed(watch.current, resume(chat, resumed, listed_by=conversation_list(peer)))
        elif context_id:
            await unless_pressed(watch.current, _go_on(chat, context_id))
        if not quiet:
            name, here = one_line(peer.card.name), short_id(chat.context_id)
            say(f"{name} at {peer.url}, conversation {here}\n/help for commands")
        await _converse(chat, lines, watch)
        if not quiet and not isinstance(lines, PipedLines):
            _say_goodbye(chat)
        if isinstance(lines, PipedLines) and watch.current.first.is_set():
            return ExitCode.INTERRUPTED
        return chat.last if chat.quit or isinstance(lines, PipedLines) else ExitCode.OK


async def _go_on(chat: Chat, context_id: str) -> None:
    await go_on(chat, await known_conversation(chat.peer, context_id))


async def _converse(chat: Chat, lines: LineSource, watch: InterruptWatch) -> None:
    prompted = ("", 0)
    while True:
        watch.begin()
        before, prompted = prompted, (chat.context_id, chat.turns)
        unread = bool(chat.waiting_task) and prompted != before
        line = await lines.next_line(chat.prompt, watch, unread=unread)
        if line is None:
            return
        if not line.strip():
            continue
        text = line.strip()
        if not is_text(text):
            chat.refuse(UsageError("The line is not text in UTF-8. It was not sent."))
            continue
        go_on = await (run_command(chat, text) if is_command(line.rstrip()) else chat.turn(text))
        if not go_on:
            return


def _say_goodbye(chat: Chat) -> None:
    again = f" To go on: {chat.peer.command('chat', '--resume', short_id(chat.context_id))}"
    say(f"Goodbye.{again if chat.turns else ''}", to_copy=True)
