"""Notes of a user's message for the model: the date, and the delegating agent's description of the task. Pure.

Notes change from request to request, so they are sent behind everything that does not: a prompt cache holds the system text,
the tools and the conversation up to the newest message. They are stored as metadata and not in the content, so that no
component takes them for the user's words.
"""

from __future__ import annotations

from datetime import date, datetime

from langchain_core.messages import BaseMessage, HumanMessage

from utils.messages.marks import DAY, OWN_WORDS, SAID_AT, TASK
from utils.messages.text import message_text


def dated(day: date) -> dict[str, str]:
    """`additional_kwargs` that record the day of a user's message."""
    return DAY.entry(day.isoformat())


def timestamped(moment: datetime) -> dict[str, str]:
    """`additional_kwargs` that record when a message was written.

    The value is a string: clients that merge neighbouring messages of one role concatenate strings and fail on numbers.
    """
    return SAID_AT.entry(moment.isoformat())


def own_words_length(length: int) -> dict[str, str]:
    """`additional_kwargs` that record how many characters at the start of a user's message are the user's own words.

    The rest are attached text files and data. The value is a string, as in `timestamped`.
    """
    return OWN_WORDS.entry(str(length))


def own_words(message: BaseMessage) -> str:
    """The user's own words in a message, without attached files and data."""
    text = message_text(message)
    length = OWN_WORDS.of(message) or ""
    return text[: int(length)] if length.isdecimal() else text


def timestamp_of(message: BaseMessage) -> float:
    """When a message was written, in seconds since 1970; 0 if that is unknown."""
    try:
        return datetime.fromisoformat(SAID_AT.of(message) or "").timestamp()
    except ValueError:
        return 0.0


def with_task_note(message: BaseMessage, note: str) -> BaseMessage:
    """The message with a delegating agent's description of the task."""
    return TASK.on(message, note)


def with_note(message: BaseMessage, note: str) -> BaseMessage:
    """The message with a further note, behind its others."""
    return with_task_note(message, "\n".join(filter(None, [TASK.of(message), note])))


def notes_of(message: BaseMessage) -> str:
    """The notes of a message, one per line; empty for most messages."""
    if not isinstance(message, HumanMessage):
        return ""
    return "\n".join(filter(None, [_weekday(DAY.of(message) or ""), TASK.of(message)]))


def as_sent(message: BaseMessage, *, as_text: bool = False) -> BaseMessage:
    """The message as the model gets it, with its notes behind the user's words.

    Args:
        message: A message of the conversation.
        as_text: Whether content that is a string stays one, with the notes as its last paragraph. Otherwise, and behind
            pictures, the notes are a block of their own.
    """
    notes = notes_of(message)
    if not notes:
        return message
    content = message.content
    if isinstance(content, str) and as_text:
        return message.model_copy(update={"content": f"{content}\n\n{notes}"})
    own = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    return message.model_copy(update={"content": [*own, {"type": "text", "text": notes}]})


def with_short_task_note(message: BaseMessage, most: int) -> BaseMessage:
    """The message with at most `most` characters of its task note."""
    task = TASK.of(message) or ""
    return with_task_note(message, f"{task[:most]} … (cut)") if len(task) > most else message


def _weekday(day: str) -> str:
    return f"(Today is {date.fromisoformat(day):%A, %Y-%m-%d}.)" if day else ""
