"""Whether the last turn of a conversation is about something else than the turns before it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from utils.context.summarisers.words import bare, joins
from utils.errors import PlatformError
from utils.messages.text import message_text
from utils.messages.transcript import is_stand_in

Embed = Callable[[Sequence[str]], Awaitable[Any]]
"""Unit vectors of texts, in their order, as `Embedder.embed` gives them."""

ANOTHER = 0.24
"""Cosine to the nearest earlier turn, below which the topic is another one. `python -m tests.eval.topics` prints how well it separates topics."""

COMPARED = 4
"""Earlier turns that the last one is compared with."""

LEAST_WORDS = 3
"""Content words that a message must have to begin a topic: thanks, and short follow-ups ("and on Kubernetes?"), have fewer."""

_ANSWER_HEAD = 300
_TOKEN = re.compile(r"\S+")
_ADDRESS = re.compile(r"https?://")


async def changed_topic(messages: Sequence[BaseMessage], embed: Embed) -> int | None:
    """The number of messages of the last turn if it is about another topic; `None` if not, or if that cannot be determined."""
    turns = last_turns(messages, COMPARED + 1)
    if len(turns) < 2 or not _may_begin(turns[-1][0]):  # noqa: PLR2004 - a turn and the one before
        return None
    try:
        vectors = await embed([_subject(turn) for turn in turns])
    except PlatformError:
        return None
    nearest = max(float(vectors[-1] @ before) for before in vectors[:-1])
    return len(turns[-1]) if nearest < ANOTHER else None


def last_turns(messages: Sequence[BaseMessage], most: int) -> list[list[BaseMessage]]:
    """The last turns, oldest first, each from the user's message on."""
    turns: list[list[BaseMessage]] = []
    turn: list[BaseMessage] = []
    for message in reversed(messages):
        turn.append(message)
        if isinstance(message, HumanMessage) and not is_stand_in(message):
            turns.append(turn[::-1])
            turn = []
            if len(turns) == most:
                break
    return turns[::-1]


def _may_begin(request: BaseMessage) -> bool:
    words = (word for word in message_text(request).split() if not joins(word))
    return len(set(map(bare, words))) >= LEAST_WORDS


def _subject(turn: Sequence[BaseMessage]) -> str:
    """What a turn is about: the user's message and the beginning of the last answer, without tool results."""
    answer = next(
        (message_text(m) for m in reversed(turn) if isinstance(m, AIMessage) and message_text(m)), ""
    )
    return f"{message_text(turn[0])} {_without_links(answer)[:_ANSWER_HEAD]}".strip()


def _without_links(text: str) -> str:
    """A text without addresses, references such as `a/b#1` and marks of bold, in time linear in its length."""
    return _TOKEN.sub(lambda found: _without_link(found[0]), text)


def _without_link(token: str) -> str:
    slash = token.find("/", 1)
    number = token.find("#", slash + 2) if slash > 0 else -1
    if 0 < number < len(token) - 1:
        return ""
    return _ADDRESS.split(token, maxsplit=1)[0].replace("**", "")
