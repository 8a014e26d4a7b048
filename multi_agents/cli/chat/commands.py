"""The actions of the slash commands of a chat."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import assert_never

from multi_agents.cli.chat import conversations
from multi_agents.cli.chat.ask import sink_for
from multi_agents.cli.chat.clipboard import copy
from multi_agents.cli.chat.drive import drive
from multi_agents.cli.chat.interrupts import MAYBE_DONE, NO_ANSWER, unless_pressed
from multi_agents.cli.chat.memory import may_change, memory
from multi_agents.cli.chat.rules import USAGE, rules_of
from multi_agents.cli.chat.session import Chat
from multi_agents.cli.chat.slash_commands import SlashCommand, find, help_text, nearest
from multi_agents.cli.console import say
from multi_agents.cli.errors import CliError
from multi_agents.cli.peer.connection import plain_errors
from multi_agents.cli.peer.conversations import deleted, deleted_lines
from multi_agents.cli.service.agents import look_at_all, targets_near
from multi_agents.cli.service.local import home_folder
from multi_agents.cli.view.agents import print_agents
from multi_agents.cli.view.context import show_context
from utils.a2a_common.client.conversations import keeps_conversations
from utils.a2a_common.client.stream.follow import follow_message
from utils.a2a_common.client.stream.message import user_message
from utils.a2a_common.protocol.extensions import clear_payload
from utils.a2a_common.protocol.rules import rules_part
from utils.atomic_file import write_new

ASKED_ONLY = "This agent was asked to forget; it deletes nothing on request. It may keep the requests of the conversation"
NOTHING = "Nothing was said in this conversation yet: there is nothing to delete."
HERE = "here"
"""What is typed after /clear to delete a conversation though an agent behind this one keeps its part."""


async def run_command(chat: Chat, line: str) -> bool:
    """Run the command that a line names; whether to go on."""
    name, _, rest = line.partition(" ")
    if name[1:].isdecimal():
        return await _ask_suggested(chat, int(name[1:]))
    command = find(name)
    if command is None:
        meant = nearest(name)
        guess = f" Did you mean {meant.line}?" if meant else ""
        say(f"There is no command {name}.{guess} /help lists them; a space before the slash sends the line.")
        return True
    if command is SlashCommand.QUIT:
        return False
    try:
        await _run(chat, command, rest.strip())
    except CliError as error:
        say(error.message)
    return True


async def _run(chat: Chat, command: SlashCommand, argument: str) -> None:
    match command:
        case SlashCommand.QUIT:
            pass
        case SlashCommand.NEW:
            chat.begin()
            say(f"A new conversation: {conversations.short_id(chat.context_id)}.")
        case SlashCommand.CONTEXT:
            show_context(chat.context)
        case SlashCommand.RULES:
            await _rules(chat, argument)
        case SlashCommand.MEMORY:
            stopped = MAYBE_DONE if may_change(argument) else NO_ANSWER
            await unless_pressed(chat.watch.current, memory(chat.peer, argument), stopped)
        case SlashCommand.CLEAR:
            await clear(chat, argument)
        case SlashCommand.CANCEL:
            await _cancel(chat)
        case SlashCommand.AGENTS:
            looking = look_at_all(targets_near(chat.peer.url))
            print_agents(await unless_pressed(chat.watch.current, looking))
        case SlashCommand.HELP:
            say(help_text())
            say(f"This conversation: {chat.context_id}")
        case SlashCommand.MORE:
            chat.show_more()
        case SlashCommand.COPY:
            say(await copy(chat.answer) if chat.answer else "There is no answer yet.")
        case SlashCommand.SAVE:
            say(await asyncio.to_thread(save, chat.answer, argument))
        case SlashCommand.CONVERSATIONS:
            listing = conversations.conversations_of(chat.peer)
            found = await unless_pressed(chat.watch.current, listing)
            conversations.show(found, chat.context_id, chat.peer)
        case SlashCommand.RESUME:
            await unless_pressed(chat.watch.current, resume(chat, argument))
        case _:
            assert_never(command)


async def _ask_suggested(chat: Chat, number: int) -> bool:
    if not 0 < number <= len(chat.suggested):
        say(f"There is no suggestion {number}.")
        return True
    request = chat.suggested[number - 1]
    say(request)
    return await chat.turn(request)


async def resume(chat: Chat, which: str, *, listed_by: str = "/conversations") -> None:
    """Go on with an earlier conversation and show its last turns; without a name list them.

    `listed_by` is the command that lists them where the name was typed.

    Raises:
        CliError: There is none of that name, or the agent cannot be asked.
    """
    found = await conversations.conversations_of(chat.peer)
    if not which:
        conversations.show(found, chat.context_id, chat.peer)
        return
    await go_on(chat, conversations.chosen(found, which, listed_by=listed_by))


async def go_on(chat: Chat, one: conversations.Conversation | None) -> None:
    """Continue a conversation, if there is one, and show its last turns."""
    if one is None:
        return
    chat.begin(one.context_id)
    chat.waiting_task, chat.turns = one.waiting_task, one.requests
    asked = await conversations.show_last_turns(chat.peer, one.context_id)
    chat.read_question = asked.get(one.waiting_task, "")
    if not chat.quiet:
        say(f"Going on with conversation {conversations.short_id(one.context_id)}.")


async def clear(chat: Chat, argument: str = "") -> None:
    """Delete the conversation if the agent supports it, and begin a new one.

    Raises:
        CliError: The agent cannot be asked, or did not delete it.
    """
    if argument not in {"", HERE}:
        say("Type /clear, or /clear here to delete it though an agent behind this one cannot be reached.")
        return
    if not keeps_conversations(chat.peer.card):
        await _forget(chat)
        return
    looking = conversations.known_conversation(chat.peer, chat.context_id)
    if await unless_pressed(chat.watch.current, looking) is None:
        say(NOTHING)
        return
    deleting = deleted(chat.peer, chat.context_id, home_folder(), here_only=argument == HERE)
    for line in deleted_lines(await unless_pressed(chat.watch.current, deleting, MAYBE_DONE)):
        say(line)
    chat.waiting_task = ""
    chat.begin()
    say(f"A new conversation: {conversations.short_id(chat.context_id)}.")


async def _forget(chat: Chat) -> None:
    """Ask the agent to forget; the text is for agents that know nothing of the data part."""
    if chat.waiting_task:
        await _cancel(chat)
    message = user_message("Forget everything.", context_id=chat.context_id, data=[clear_payload()])
    events = follow_message(chat.peer.connection, message)
    sink = sink_for(as_json=chat.as_json, quiet=chat.quiet)
    result = await drive(chat.peer, events, sink, interrupts=chat.watch.current)
    say(result.view.answer or "The agent ended without an answer.")
    say(f"{ASKED_ONLY} {chat.context_id}.")
    chat.begin()


async def _rules(chat: Chat, argument: str) -> None:
    """List or change the rules; the text is for agents that know nothing of the data part."""
    asked = rules_of(argument)
    if asked is None:
        say(USAGE)
        return
    message = user_message("Which rules hold?", context_id=chat.context_id, data=[rules_part(asked)])
    events = follow_message(chat.peer.connection, message)
    sink = sink_for(as_json=chat.as_json, quiet=chat.quiet)
    result = await drive(chat.peer, events, sink, interrupts=chat.watch.current)
    say(result.view.answer or "The agent ended without an answer.")


async def _cancel(chat: Chat) -> None:
    if not chat.waiting_task:
        say("No task waits. Ctrl-C cancels one that runs.")
        return
    task, chat.waiting_task = chat.waiting_task, ""
    with plain_errors(chat.peer.url):
        await unless_pressed(chat.watch.current, chat.peer.connection.cancel(task), MAYBE_DONE)
    say("Canceled.")


def save(answer: str, name: str) -> str:
    """Write an answer to a new file, and return the sentence that says so, or why it was not done."""
    if not answer:
        return "There is no answer yet."
    if not name:
        return "Name the file: /save answer.md"
    path = Path(name).expanduser().absolute()
    try:
        write_new(path, (answer.rstrip("\n") + "\n").encode())
    except FileExistsError:
        return f"{path} exists already. Choose another name."
    except OSError as error:
        return f"{path} cannot be written: {error.strerror or type(error).__name__}."
    return f"The answer was saved as {path}."
