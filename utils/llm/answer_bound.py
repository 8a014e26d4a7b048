"""Limits the size of the answers of a model provider, or of a gateway before it: an answer is kept in memory completely."""

from __future__ import annotations

from typing import Any

from utils.errors import InvalidRequest

LARGEST_STREAM = 64 * 1024 * 1024
"""Bytes of one streamed answer. The longest that models write, 128,000 tokens in chunks of 400 bytes, has 50 MiB."""

ENDLESS = (
    "The model server's answer is larger than the limit, so it was dropped. Check the model's address and any gateway or proxy "
    "in between: the server may be faulty, or may not be a model server."
)


def bound_answers(http: Any) -> None:
    """Make an asynchronous client of httpx or httpx2 limit the size of answers."""
    from utils.net.bounded import LARGEST_EVENT, Bound

    bound = Bound(event=LARGEST_EVENT, stream=LARGEST_STREAM)
    hooks = http.event_hooks
    if bound.apply not in hooks["response"]:  # LangChain shares one HTTP client among several clients
        for kind, added in bound.hooks().items():
            hooks[kind].extend(added)


def endless_answer(error: BaseException | None) -> InvalidRequest | None:
    """The failure for an exception that was caused by an answer that is too large: clients wrap it, some twice."""
    from utils.net.bounded import AnswerTooLarge

    while error is not None and not isinstance(error, AnswerTooLarge):
        error = error.__cause__
    return None if error is None else InvalidRequest(ENDLESS)
