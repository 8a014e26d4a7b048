"""The commands of a chat: how each is called, and what `/help` says of it."""

from __future__ import annotations

import re
from difflib import get_close_matches
from enum import Enum


class SlashCommand(Enum):
    """The slash commands; the value is the description that `/help` shows."""

    MORE = "the next rows of a list that was cut"
    COPY = "copy the last answer to the clipboard"
    SAVE = "write the last answer to a file: /save FILE"
    NEW = "begin a new conversation"
    CONVERSATIONS = "the conversations that you had, newest first"
    RESUME = "go on with one of them: /resume 2, or its id"
    AGENTS = "the agent you talk to, and the agents of the local service"
    CONTEXT = "what the last model request of the agent held"
    CLEAR = "delete this conversation, here and at your agents behind this one, and begin a new one"
    RULES = "the rules that hold for this conversation; /rules add TEXT and /rules remove NUMBER change them"
    MEMORY = "what is remembered about you in every conversation; /memory forget NUMBER or all forgets it"
    CANCEL = "cancel the task that waits for your answer"
    HELP = "this list"
    QUIT = "end the chat (also Ctrl-D)"

    @property
    def line(self) -> str:
        """The text that a person types."""
        return f"/{self.name.lower()}"


_OTHER_NAMES = {"/exit": SlashCommand.QUIT}
_SUGGESTED = ("/1 /2 /3", "ask one of the requests that were suggested")
_CTRL_C = "Ctrl-C while the agent works cancels the task; twice ends the chat."
_NAMED = re.compile(r"/(\d+|[a-z-]+)$")


def find(line: str) -> SlashCommand | None:
    """The command in a line; `None` if there is none."""
    return next((command for command in SlashCommand if command.line == line), _OTHER_NAMES.get(line))


def is_command(line: str) -> bool:
    """Whether a line is meant as a command. A path, or a sentence that begins with one, is a message."""
    name, _, rest = line.partition(" ")
    if not _NAMED.match(name):
        return False
    return name[1:].isdecimal() or find(name) is not None or not rest.strip() or nearest(name) is not None


def nearest(name: str) -> SlashCommand | None:
    """The command that a name without one was probably meant for."""
    close = get_close_matches(name, [command.line for command in SlashCommand], n=1, cutoff=0.75)
    return find(close[0]) if close else None


def help_text() -> str:
    """The list that `/help` shows."""
    rows = [(command.line, command.value) for command in SlashCommand]
    rows.insert(rows.index((SlashCommand.HELP.line, SlashCommand.HELP.value)), _SUGGESTED)
    return "\n".join([*(f"{name:<15} {text}" for name, text in rows), _CTRL_C])
