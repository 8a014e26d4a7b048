"""The commands of a chat: their names, and what `/help` says of each."""

from __future__ import annotations

from enum import Enum


class SlashCommand(Enum):
    """A line that begins with a slash; the value is what it does, in the words of `/help`."""

    NEW = "begin a new conversation"
    AGENTS = "the agent you talk to, and the agents of the local service"
    CONTEXT = "what the last model request of the agent held"
    CLEAR = "let the agent forget this conversation, and begin a new one"
    CANCEL = "cancel the task that waits for your answer"
    HELP = "this list"
    QUIT = "end the chat (also Ctrl-D)"

    @property
    def line(self) -> str:
        """What is typed."""
        return f"/{self.name.lower()}"


_OTHER_NAMES = {"/exit": SlashCommand.QUIT}
_SUGGESTED = ("/1 /2 /3", "ask one of the requests that were suggested")
_CTRL_C = "Ctrl-C while the agent works cancels the task; twice ends the chat."


def find(line: str) -> SlashCommand | None:
    """The command that a line names; `None` where there is none."""
    return next((command for command in SlashCommand if command.line == line), _OTHER_NAMES.get(line))


def help_text() -> str:
    """The list that `/help` shows."""
    rows = [(command.line, command.value) for command in SlashCommand]
    rows.insert(rows.index((SlashCommand.HELP.line, SlashCommand.HELP.value)), _SUGGESTED)
    return "\n".join([*(f"{name:<9} {text}" for name, text in rows), _CTRL_C])
