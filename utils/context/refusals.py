"""Handles a model request whose content its provider refused.

Images and documents are suspected first: the request is repeated without those that were added since the last accepted one. Then the
rules that the user added since are suspected: it is repeated without them. If that does not help, the failure names what is suspected,
and later requests leave the turn out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import structlog
from langchain.agents.middleware import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage

from utils.context.pipeline import Prepared
from utils.context.refused import Refused, Suspects, suspects
from utils.context.refused_rules import suspected_rules
from utils.errors import ContentRefused
from utils.events import StatusText
from utils.llm.classify import FILTERED
from utils.llm.reply.answer import FILTERED as ANSWER_FILTERED
from utils.llm.reply.finish import TurnFiltered, prompt_blocked, turn_refused
from utils.messages.text import message_text

log = structlog.get_logger(__name__)

REFUSED = "refused"
"""Key in the graph's state of what is left out: `Refused.as_state`."""

_LEFT_OUT = "Your message and what was found for it are left out of later requests."


@dataclass(frozen=True, slots=True)
class TurnRefused:
    """Written to the graph's stream if a turn was refused: the caller of the graph adds `turns` to the state after the run.

    A node that fails cannot change the state itself.
    """

    turns: tuple[str, ...]


class _Try(NamedTuple):
    """A repetition of a request.

    Attributes:
        refused: What it leaves out.
        notice: The text for the user if it is accepted.
    """

    refused: Refused
    notice: str


class Refusals:
    """The refusals of one model call: at most two more requests are made, one without files and one without rules."""

    def __init__(self) -> None:
        self._found: Suspects | None = None
        self._to_try: list[_Try] = []
        self._tried: _Try | None = None

    def next_request(
        self, request: ModelRequest[Any], sent: Prepared, failure: ContentRefused | TurnFiltered
    ) -> ModelRequest[Any]:
        """The request without the pictures and documents that are suspected, or without the rules that are.

        Args:
            request: The request before it was prepared.
            sent: What was refused.
            failure: Why.

        Raises:
            ContentRefused: There are none, or it was refused without them too. Says what is suspected.
            TurnFiltered: The same, where it was refused with status 200.
        """
        if self._found is None:
            self._found = suspects(sent.messages)
            self._to_try = _tries(self._found, request.state)
        found = self._found
        log.warning("context.refused", files=len(found.media), again=bool(self._to_try))
        if self._to_try:
            self._tried = self._to_try.pop(0)
            state: Any = {**request.state, REFUSED: self._tried.refused.as_state()}
            return request.override(state=state)
        _leave_out(request, found)
        raise type(failure)(_sentence(failure, found)) from (failure.__cause__ or failure)

    def note(self, request: ModelRequest[Any], sent: Prepared, response: ModelResponse[Any]) -> None:
        """Leave the turn out of later requests if its answer, part of which was shown, ended with a refusal."""
        if any(isinstance(message, AIMessage) and turn_refused(message) for message in response.result):
            found = suspects(sent.messages)
            log.warning("context.refused", files=len(found.media), again=False)
            if _leave_out(request, found):
                status = StatusText(f"The model provider refused this turn. {_LEFT_OUT}")
                request.runtime.stream_writer(status)

    def update(self, request: ModelRequest[Any]) -> dict[str, Any]:
        """The state update after a request was accepted in the end; the user is shown what is left out."""
        if self._tried is None:
            return {}
        request.runtime.stream_writer(StatusText(self._tried.notice))
        return {REFUSED: self._tried.refused.as_state()}


def _tries(found: Suspects, state: Mapping[str, Any]) -> list[_Try]:
    """The repetitions, in order. Rules state the user's will, so they are kept if leaving out a file suffices."""
    before, tries, rules = Refused.from_state(state), list[_Try](), suspected_rules(state)
    if found.media:
        names = _listed(list(found.media.values()), "and")
        notice = f"The model provider refused {names}. The model answers without it."
        tries.append(_Try(before.with_media(found.media), notice))
    if rules:
        tries.append(_Try(before.with_rules(rules.values()), _rules_notice(list(rules))))
    return tries


def _rules_notice(numbers: Sequence[int]) -> str:
    """Which rules are left out, by their numbers in the list, and how to remove one permanently."""
    if len(numbers) == 1:
        number = numbers[0]
        return (
            f"The model provider refused your rule {number}. The model answers without it, from now on. "
            f"It can be removed: /rules remove {number}"
        )
    names = _listed([str(number) for number in numbers], "and")
    return (
        f"The model provider refused your rules {names}, or one of them. The model answers without them, from now on. "
        "Each can be removed: /rules remove NUMBER"
    )


def accepted(response: ModelResponse[Any]) -> ModelResponse[Any]:
    """The response.

    Raises:
        ContentRefused: It says that the provider's filter stopped the request.
        TurnFiltered: It has no text, and the provider refuses the turn.
    """
    for message in response.result:
        if not isinstance(message, AIMessage):
            continue
        if prompt_blocked(message):
            raise ContentRefused(FILTERED)
        if turn_refused(message) and not message_text(message).strip():
            raise TurnFiltered(ANSWER_FILTERED)
    return response


def _leave_out(request: ModelRequest[Any], found: Suspects) -> bool:
    """Have the turns left out of later requests, if they are stored; returns whether they are."""
    if stored := _is_stored(request):
        request.runtime.stream_writer(TurnRefused(found.turns))
    return stored


def _is_stored(request: ModelRequest[Any]) -> bool:
    """Whether the request's last message is the conversation's: a message that is not stored is in no later request."""
    stored: list[BaseMessage] = list(request.state.get("messages", ()))
    return bool(stored and request.messages) and stored[-1].id == request.messages[-1].id


def _sentence(failure: ContentRefused | TurnFiltered, found: Suspects) -> str:
    parts = [*found.media.values(), *(["your message"] if found.user_text else [])]
    parts += [f"what {name} returned" for name in found.tools]
    return f"{failure.message} It may be due to {_listed(parts or ['your message'], 'or')}. {_LEFT_OUT}"


def _listed(parts: list[str], conjunction: str) -> str:
    *first, last = parts
    return f"{', '.join(first)} {conjunction} {last}" if first else last
