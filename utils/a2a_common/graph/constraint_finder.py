"""Asks the model which standing constraints a user's message contains."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import structlog

from utils.context.quotes import StatedRules, question_about, verbatim
from utils.events import Usage
from utils.llm.decision import decide
from utils.messages.text import message_text
from utils.messages.transcript import active_index
from utils.settings import ModelProvider

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

    from utils.a2a_common.graph.runtime import AgentRuntime

log = structlog.get_logger(__name__)


class FoundConstraints(NamedTuple):
    """The constraints that the model found.

    Attributes:
        text: The message.
        quotes: Its constraints, word for word.
        usage: What the question cost.
    """

    text: str
    quotes: Sequence[str] = ()
    usage: Usage = Usage()


class ConstraintFinder:
    """Finds constraints with one agent's model; the offline model is not used.

    Args:
        runtime: The agent's settings and model.
    """

    def __init__(self, runtime: AgentRuntime) -> None:
        llm, self._settings = runtime.settings.llm, runtime.settings.pins
        self._on = self._settings.with_model and llm.provider is not ModelProvider.EMBEDDED
        self._model = _model(runtime) if self._on else runtime.model

    def is_needed(self, text: str | None) -> bool:
        """Whether the model should be asked about a message; `None` for a message that is not known yet."""
        return self._on and (text is None or question_about(text) is not None)

    async def find(self, messages: Sequence[BaseMessage], text: str | None) -> FoundConstraints:
        """The constraints of a message, or of the user's last one among `messages`.

        Raises:
            TimeoutError: The model took longer than the settings allow.
            ModelFailure: It refused, or cannot be reached.
        """
        message = _last_user_text(messages) if text is None else text
        async with asyncio.timeout(self._settings.seconds):
            return await self._find(message)

    async def _find(self, text: str) -> FoundConstraints:
        from langchain_core.messages import HumanMessage

        from utils.a2a_common.graph.model.call import name_of
        from utils.a2a_common.graph.run.turn_usage import usage_of
        from utils.messages.counter import MessageCounter
        from utils.messages.usage import with_usage
        from utils.observability.observed import observed_model_call

        if (question := question_about(text)) is None:
            return FoundConstraints(text)
        counter, asked = MessageCounter(), [HumanMessage(question)]
        with observed_model_call(name_of(self._model)) as call:
            decision = await decide(self._model, asked, StatedRules)
            call.usage = usage_of(with_usage(decision.answer, counter.messages(asked), counter))
        quotes = verbatim(decision.value.quotes if decision.value else (), text)
        if quotes:
            log.info("context.pins_found", found=len(quotes))
        return FoundConstraints(text, quotes, call.usage)


def _last_user_text(messages: Sequence[BaseMessage]) -> str:
    """The text of the user's last message."""
    active = active_index(messages)
    return message_text(messages[active]) if active is not None else ""


def _model(runtime: AgentRuntime) -> BaseChatModel:
    """The model that writes summaries."""
    from utils.llm.factory import create_chat_model

    llm, cheaper = runtime.settings.llm, runtime.settings.context.summary_model
    return create_chat_model(llm.model_copy(update={"model": cheaper})) if cheaper else runtime.model
