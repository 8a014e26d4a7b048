"""Bounds what a model provider, or a gateway before it, sends as an answer: all of it is held in memory while it comes."""

from __future__ import annotations

from typing import Any

from utils.errors import InvalidRequest

LARGEST_STREAM = 64 * 1024 * 1024
"""Bytes of one streamed answer: the longest that models write, 128,000 tokens, in chunks of four hundred bytes come to 50 MiB."""

ENDLESS = (
    "The model server's answer is larger than the limit, so it was dropped. Check the model's address and any gateway or proxy "
    "in between: the server may be faulty, or may not be a model server."
)


def bound_answers(http: Any) -> None:
    """Let an asynchronous client of httpx or httpx2 take answers up to a size."""
    from utils.net.bounded import LARGEST_EVENT, Bound

    bound = Bound(event=LARGEST_EVENT, stream=LARGEST_STREAM)
    hooks = http.event_hooks
    if bound.apply not in hooks["response"]:  # LangChain gives several clients one HTTP client
        for kind, added in bound.hooks().items():
            hooks[kind].extend(added)


def endless_answer(error: BaseException | None) -> InvalidRequest | None:
    """The failure for an exception that was made of an answer that was too large: clients wrap it, some twice."""
    from utils.net.bounded import AnswerTooLarge

    while error is not None and not isinstance(error, AnswerTooLarge):
        error = error.__cause__
    return None if error is None else InvalidRequest(ENDLESS)
