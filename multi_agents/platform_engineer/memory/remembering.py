"""Adds a user's memories to a turn, and learns from the user's messages after the answer.

Learning runs after the answer, and no turn waits for it. A failure is only logged.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

import structlog

from utils.cancellation import end_tasks
from utils.errors import PlatformError, StorageError
from utils.memory.memory import owner_label
from utils.messages.counter import MessageCounter, encoding_for
from utils.settings import ModelProvider

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import RunnableConfig

    from utils.a2a_common.graph.after_turn import AfterTurn
    from utils.a2a_common.graph.run.graph_run import BuiltGraph
    from utils.a2a_common.graph.runtime import AgentRuntime
    from utils.a2a_common.protocol.request import AgentRequest
    from utils.context.protocols import Summariser
    from utils.memory.long_term import LongTermMemory

log = structlog.get_logger(__name__)

MEMORY = "memory"
"""Name under which the usage of model requests for memories is reported."""

AT_ONCE = 8
"""Conversations that are learnt from concurrently; further ones are skipped in this turn."""


class _Conversation(NamedTuple):
    """The conversation of a turn.

    Attributes:
        built: The agent's graph.
        config: Names the conversation's thread.
    """

    built: BuiltGraph
    config: RunnableConfig

    async def messages(self) -> list[BaseMessage]:
        """All messages that the model's provider accepted; empty if the conversation was deleted."""
        from utils.context.refused import TURN_LEFT_OUT, accepted_messages

        state = await self.built.graph.aget_state(self.config)
        return [each for each in accepted_messages(state.values) if each.content != TURN_LEFT_OUT]


def owner_of_request(request: AgentRequest) -> str | None:
    """The owner of a turn's memory; `None` for a caller without a name, and for a request of another agent."""
    if request.delegation is not None:
        return None
    return owner_label(request.caller.tenant, request.caller.name)


class Remembering:
    """The work around turns, for one agent.

    Args:
        memory: The long-term memory.
        runtime: The agent's settings and model.
        summariser: Writes what a conversation was about; an extract without it.
    """

    def __init__(self, memory: LongTermMemory, runtime: AgentRuntime, summariser: Summariser | None) -> None:
        self._memory = memory
        self._model = runtime.model
        self._asks = runtime.settings.llm.provider is not ModelProvider.EMBEDDED
        self._summariser = summariser if runtime.settings.context.model_summaries else None
        self._counter = MessageCounter(encoding_for(runtime.settings.llm.model))
        self._tasks: set[asyncio.Task[None]] = set()

    async def known(self, request: AgentRequest) -> str:
        """The memories for the model in this turn; empty if there are none or they cannot be read.

        The offline model reads the user's text only and gets no memories.
        """
        owner = owner_of_request(request)
        if owner is None or not (self._asks and self._memory.settings.on and self._memory.settings.tokens):
            return ""
        try:
            return await self._memory.block(owner, request.text, self._counter)
        except StorageError as error:
            log.warning("memory.not_read", code=error.code)
            return ""

    def begin(
        self, request: AgentRequest, built: BuiltGraph, config: RunnableConfig, after: AfterTurn
    ) -> None:
        """Begin to learn from a turn that was answered.

        Args:
            request: The turn.
            built: The agent's graph.
            config: Names the conversation's thread.
            after: Records the usage.
        """
        owner = owner_of_request(request)
        if owner is None or not self._memory.settings.on or len(self._tasks) >= AT_ONCE:
            return
        task = asyncio.create_task(self._guarded(owner, request, _Conversation(built, config), after))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Stop the running work."""
        await end_tasks(list(self._tasks))

    async def _guarded(
        self, owner: str, request: AgentRequest, conversation: _Conversation, after: AfterTurn
    ) -> None:
        from utils.context.called_usage import summary_usage

        try:
            with summary_usage() as used:
                try:
                    await self._message(owner, request)
                    await self._conversation(owner, request.thread_id, await conversation.messages())
                finally:
                    if not await conversation.messages():  # it was deleted before this was stored
                        await self._memory.forget_conversation(request.thread_id)
            if used.total:
                await after.report(conversation.built, conversation.config, MEMORY, used.total)
        except Exception as error:  # noqa: BLE001 - a background task: the next turn does without its result
            log.warning("memory.not_learnt", error=type(error).__name__)

    async def _message(self, owner: str, request: AgentRequest) -> None:
        """Ask the model what is worth remembering in a message. Nothing is learnt from an answer to a question."""
        from langchain_core.messages import HumanMessage

        from utils.a2a_common.graph.model.call import name_of
        from utils.a2a_common.graph.run.turn_usage import usage_of
        from utils.llm.decision import decide
        from utils.memory.learning import WorthRemembering, checked, question_about
        from utils.memory.own_words import may_teach
        from utils.observability.observed import observed_model_call

        if not self._asks or request.resumes or not may_teach(request.text):
            return
        known = await self._memory.near(owner, request.text)
        question = question_about(request.text, known)
        if question is None:
            return
        try:
            async with asyncio.timeout(self._memory.settings.seconds):
                with observed_model_call(name_of(self._model)) as call:
                    decision = await decide(self._model, [HumanMessage(question)], WorthRemembering)
                    call.usage = usage_of(decision.answer)
        except (PlatformError, TimeoutError) as error:
            log.warning("memory.not_asked", error=type(error).__name__)
            return
        found = decision.value.memories if decision.value else []
        await self._memory.learn(owner, checked(found, request.text, known), request.thread_id)

    async def _conversation(self, owner: str, thread_id: str, messages: list[BaseMessage]) -> None:
        """Renew the memory of the conversation as a whole."""
        from utils.memory.episode import is_due, words_of_user, written

        words = words_of_user(messages)
        length, before = sum(map(len, words)), await self._memory.episode(owner, thread_id)
        if before.get("off") or not is_due(length, int(before.get("said", 0))):
            return
        if text := await written(words, self._summariser):
            await self._memory.keep_episode(owner, thread_id, text, length)
