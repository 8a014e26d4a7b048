"""Asks the model, after an answer, which standing constraints the user's message contains.

It happens in the background: no answer waits for it, a turn that begins meanwhile goes first, and what
fails is logged and left. What was found is kept in the conversation's state, from the next turn on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import structlog

from utils.context.quotes import question_about, quotes_in
from utils.messages.text import message_text
from utils.messages.thoughts import split_thoughts
from utils.messages.transcript import active_index
from utils.settings import ModelProvider

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import RunnableConfig

    from utils.a2a_common.graph.graph_run import BuiltGraph
    from utils.a2a_common.graph.runtime import AgentRuntime

log = structlog.get_logger(__name__)

AT_ONCE = 8
"""Questions that run at once; a turn that would need one more is left to the rules."""

LockOf = Callable[[str], asyncio.Lock]


class ConstraintFinder:
    """Asks the model after turns, for one agent.

    Args:
        runtime: The agent's settings and model.
        lock_of: Gives the lock under which the turns of a thread run.
    """

    def __init__(self, runtime: AgentRuntime, lock_of: LockOf) -> None:
        llm, self._settings = runtime.settings.llm, runtime.settings.pins
        self._on = self._settings.with_model and llm.provider is not ModelProvider.EMBEDDED
        self._model = _model(runtime) if self._on else runtime.model
        self._lock_of = lock_of
        self._tasks: set[asyncio.Task[None]] = set()

    def after_turn(self, built: BuiltGraph, config: RunnableConfig, text: str | None) -> None:
        """Ask about the message of a turn, where that is worth a question.

        Args:
            built: The agent's graph.
            config: Names the conversation's thread.
            text: The message; the conversation's last one where the turn went on after a question.
        """
        needless = text is not None and question_about(text) is None
        if not self._on or needless or len(self._tasks) >= AT_ONCE:
            return
        task = asyncio.create_task(self._guarded(built, config, text))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Stop what is under way."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _guarded(self, built: BuiltGraph, config: RunnableConfig, text: str | None) -> None:
        try:
            async with asyncio.timeout(self._settings.seconds):
                text = await _last_said(built.graph, config) if text is None else text
                quotes = await self._asked(text)
                if quotes:
                    await self._keep(built, config, text, quotes)
        except Exception as error:  # noqa: BLE001 - a background task: the rules have pinned what they know
            log.warning("context.pins_failed", error=type(error).__name__)

    async def _asked(self, text: str) -> list[str]:
        from langchain_core.messages import HumanMessage

        from utils.a2a_common.graph.model_metrics import name_of
        from utils.a2a_common.graph.stream_translator import usage_of
        from utils.observability.observed import observed_model_call

        if (question := question_about(text)) is None:
            return []
        with observed_model_call(name_of(self._model)) as call:
            answer = await self._model.ainvoke([HumanMessage(question)])
            if answer.usage_metadata:
                call.usage = usage_of(answer)
        quotes = quotes_in(split_thoughts(message_text(answer)).answer, text)
        log.info("context.pins_found", found=len(quotes))
        return quotes

    async def _keep(self, built: BuiltGraph, config: RunnableConfig, text: str, quotes: list[str]) -> None:
        """Write the quotes into the state, unless the conversation was forgotten or waits for its user."""
        async with self._lock_of(config["configurable"]["thread_id"]):
            state = await built.graph.aget_state(config)
            message = _said(state.values.get("messages", ()), text)
            if message is None or state.next or state.interrupts:
                log.info("context.pins_dropped", found=len(quotes))
                return
            known = [list(pin) for pin in state.values.get("pinned") or ()]
            new = [pin for quote in quotes if (pin := [quote, str(message.id)]) not in known]
            if new:
                await built.update(config, {"pinned": [*known, *new]})


async def _last_said(graph: Any, config: RunnableConfig) -> str:
    """The user's last message."""
    messages = (await graph.aget_state(config)).values.get("messages", ())
    active = active_index(messages)
    return message_text(messages[active]) if active is not None else ""


def _said(messages: list[BaseMessage], text: str) -> BaseMessage | None:
    """The user's last message with this text."""
    said = (each for each in reversed(messages) if each.type == "human" and message_text(each) == text)
    return next(said, None)


def _model(runtime: AgentRuntime) -> BaseChatModel:
    """The model that writes summaries."""
    from utils.llm.factory import create_chat_model

    llm, cheaper = runtime.settings.llm, runtime.settings.context.summary_model
    return create_chat_model(llm.model_copy(update={"model": cheaper})) if cheaper else runtime.model
