"""Writes what a conversation was about, from the user's own words alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from langchain_core.messages import HumanMessage

from utils.context.summarize_messages import OPENING, summarize_messages
from utils.memory.own_words import told_openly
from utils.messages.text import message_text
from utils.messages.transcript import is_stand_in

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from utils.context.protocols import Summariser

MOST_TOKENS = 150
"""Tokens of the summary of a conversation."""

SHORT = 500
"""Characters of a user's words that are their own summary."""

_GROWN = 1.5
"""A summary is written anew when the user's words have grown by so much: a long conversation costs a few of them."""

_LONGEST = 12_000


def words_of_user(messages: Sequence[BaseMessage]) -> list[str]:
    """What the user said in a conversation, without secrets."""
    said = (
        message_text(each) for each in messages if isinstance(each, HumanMessage) and not is_stand_in(each)
    )
    return [openly for each in said if (openly := told_openly(each))]


def is_due(said: int, before: int) -> bool:
    """Whether a summary of so many characters of words is due, where the last one was made of `before`."""
    return said > 0 and (before == 0 or (said != before and said <= SHORT) or said >= _GROWN * before)


async def written(words: Sequence[str], summariser: Summariser | None) -> str:
    """The summary; an extract without a summariser, or where it fails.

    Of a very long conversation its beginning and its end are summarised, so that one model request is enough.
    """
    text = "\n".join(words)
    if len(text) <= SHORT:
        return text
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 3]}\n…\n{text[-_LONGEST * 2 // 3 :]}"
    summary = await summarize_messages([HumanMessage(text)], summariser, max_tokens=MOST_TOKENS)
    return told_openly(message_text(summary).removeprefix(OPENING))
