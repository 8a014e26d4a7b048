"""What a model is told with a user's message besides the user's words: the date, and what another agent said of the task.

It changes from request to request, so it stands behind everything that does not: a provider's prompt cache, and that of a
server of one's own, holds the system text, the tools and the conversation up to the newest message. It is no part of the
message's content, so that nobody takes it for the user's words. Pure.
"""

from __future__ import annotations

from datetime import date, datetime

from langchain_core.messages import BaseMessage, HumanMessage

from utils.messages.marks import DAY, OWN_WORDS, SAID_AT, TASK
from utils.messages.text import message_text


def dated(day: date) -> dict[str, str]:
    """`additional_kwargs` of a user's message that was written on a day; they are stored with it."""
    return DAY.entry(day.isoformat())


def said_at(moment: datetime) -> dict[str, str]:
    """`additional_kwargs` of a message of a user or a model that was written at a moment.

    A text: clients that join neighbouring messages of one role join their texts, and fail on numbers.
    """
    return SAID_AT.entry(moment.isoformat())


def of_own_words(length: int) -> dict[str, str]:
    """`additional_kwargs` of a user's message of which only the first characters are the user's words, and the rest came along: text
    files and data. A text, as above.
    """
    return OWN_WORDS.entry(str(length))


def own_words(message: BaseMessage) -> str:
    """The user's words in a message, without the files and data that came along with them."""
    text = message_text(message)
    length = OWN_WORDS.of(message) or ""
    return text[: int(length)] if length.isdecimal() else text


def when_said(message: BaseMessage) -> float:
    """When a message was written, in seconds since 1970; 0 where that is not known."""
    try:
        return datetime.fromisoformat(SAID_AT.of(message) or "").timestamp()
    except ValueError:
        return 0.0


def with_task(message: BaseMessage, told: str) -> BaseMessage:
    """The message with what another agent says of the task."""
    return TASK.on(message, told)


def told_besides(message: BaseMessage, remark: str) -> BaseMessage:
    """The message with a remark of ours behind whatever else the model is told with it."""
    return with_task(message, "\n".join(filter(None, [TASK.of(message), remark])))


def told_with(message: BaseMessage) -> str:
    """What the model is told besides; empty for most messages."""
    if not isinstance(message, HumanMessage):
        return ""
    return "\n".join(filter(None, [_weekday(DAY.of(message) or ""), TASK.of(message)]))


def as_sent(message: BaseMessage, *, as_text: bool = False) -> BaseMessage:
    """The message with what is told behind the user's words.

    Args:
        message: Of the conversation.
        as_text: Whether words stay text, with what is told as their last paragraph; else it is a block of its own, as it
            always is behind pictures.
    """
    told = told_with(message)
    if not told:
        return message
    content = message.content
    if isinstance(content, str) and as_text:
        return message.model_copy(update={"content": f"{content}\n\n{told}"})
    own = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    return message.model_copy(update={"content": [*own, {"type": "text", "text": told}]})


def shortened(message: BaseMessage, most: int) -> BaseMessage:
    """The message with at most so many characters of what another agent said."""
    task = TASK.of(message) or ""
    return with_task(message, f"{task[:most]} … (cut)") if len(task) > most else message


def _weekday(day: str) -> str:
    return f"(Today is {date.fromisoformat(day):%A, %Y-%m-%d}.)" if day else ""
