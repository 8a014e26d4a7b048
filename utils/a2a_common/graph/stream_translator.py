"""One turn of a graph, translated from LangGraph's stream into `AgentEvent`s."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage

from utils.a2a_common.graph.answer_stream import AnswerStream, Shown
from utils.a2a_common.graph.tool_boundary import PROBLEM
from utils.events import (
    AgentEvent,
    Completed,
    Failed,
    InputRequired,
    ModelRetried,
    Partial,
    TextDelta,
    TextRestarted,
    Usage,
    UsageReported,
)
from utils.messages.text import message_text
from utils.resilience.answer import PARTIAL
from utils.resilience.ledger import Ledger
from utils.resilience.loop_guard import STOPPED_CALL

_MODEL_NODE = "model"
STREAM_MODES = ["messages", "updates", "custom"]

COST = "cost_usd"
"""Key of an answer's `response_metadata` that holds its cost in US dollars."""


class StreamTranslator:
    """Collects what one turn did. Made per request, so that nothing is shared between turns."""

    def __init__(self, agent: str, used: Mapping[str, Usage] | None = None) -> None:
        self.ledger = Ledger()
        self._agent = agent
        self._usage: dict[str, Usage] = dict(used or {})
        self._problems: list[Mapping[str, Any]] = []
        self._answers = 0
        self._text = ""
        self._restart = False
        self._answer = AnswerStream()
        self._question: InputRequired | None = None
        self._partial: Partial | None = None

    def translate(self, mode: str, part: Any) -> Iterator[AgentEvent]:
        """The events of one part of the graph's stream."""
        if mode == "custom":
            yield from self._custom(part)
        elif mode == "messages":
            message, metadata = part
            if metadata.get("langgraph_node") == _MODEL_NODE and isinstance(message, AIMessage):
                yield from self._say(self._answer.feed(message_text(message)))
        elif mode == "updates":
            for node, update in part.items():
                yield from self._update(node, update)

    def ask(self, interrupts: Sequence[Any]) -> None:
        """Ask the first of the open questions: the others come after its answer."""
        if interrupts:
            self._question = _question(interrupts, self._agent)

    @property
    def waits(self) -> bool:
        """Whether a tool asked the user; its call stays open until the answer comes."""
        return self._question is not None

    def finish(self) -> Iterator[AgentEvent]:
        """The last events of the turn; the very last one ends it."""
        if self._usage:
            yield UsageReported(dict(self._usage))
        yield self._end()

    def _custom(self, event: AgentEvent) -> Iterator[AgentEvent]:
        if isinstance(event, UsageReported):
            for agent, usage in event.by_agent.items():
                self._usage[agent] = self._usage.get(agent, Usage()) + usage
        elif isinstance(event, TextRestarted):
            self._answer = AnswerStream()
            self._restart = bool(self._text)
        else:
            if isinstance(event, ModelRetried):
                self._answer = AnswerStream()
            self._restart = self._restart or (isinstance(event, ModelRetried) and bool(self._text))
            yield event

    def _say(self, shown: Shown) -> Iterator[AgentEvent]:
        self._restart = self._restart or (shown.anew and bool(self._text))
        if not shown.text:
            return
        if self._restart:
            self._restart = False
            self._text = ""
            yield TextRestarted()
        self._text += shown.text
        yield TextDelta(shown.text)

    def _update(self, node: str, update: Any) -> Iterator[AgentEvent]:
        if node == "__interrupt__":
            self._question = _question(update, self._agent)
            return
        messages = _messages(update)
        for message in messages:
            self.ledger.observe(message)
            if isinstance(message, AIMessage):
                if message is messages[-1]:
                    yield from self._said(message)
                self._model_answered(message)
            elif isinstance(message, ToolMessage):
                self._tool_answered(message)

    def _said(self, message: AIMessage) -> Iterator[AgentEvent]:
        """What was held back of an answer, now that it was read."""
        answer, self._answer = self._answer, AnswerStream()
        yield from self._say(answer.close(message_text(message)))

    def _model_answered(self, message: AIMessage) -> None:
        if message.usage_metadata:
            self._usage[self._agent] = self._usage.get(self._agent, Usage()) + usage_of(message)
        if PARTIAL in message.response_metadata:
            self._partial = Partial(**message.response_metadata[PARTIAL])
        if message.tool_calls and self._text:
            self._restart = True  # a remark before tool calls is not the answer

    def _tool_answered(self, message: ToolMessage) -> None:
        problem = message.additional_kwargs.get(PROBLEM)
        if problem and problem["fatal"]:
            self._problems.append(problem)
        elif not message.additional_kwargs.get(STOPPED_CALL):
            self._answers += 1

    def _end(self) -> AgentEvent:
        if self._question is not None:
            return self._question
        if self._problems and not self._answers:
            first = self._problems[0]
            return Failed(first["code"], first["message"], retryable=first["retryable"])
        if not self._text.strip() or self._restart:
            return Failed("empty_response", "The model gave no answer. Please try again.", retryable=True)
        return Completed(self._partial)


def _messages(update: Any) -> Sequence[BaseMessage]:
    if isinstance(update, Mapping):
        found = update.get("messages", ())
        return [found] if isinstance(found, BaseMessage) else list(found or ())
    return ()


def usage_of(message: AIMessage | AIMessageChunk) -> Usage:
    """Tokens of one answer, as the provider counted them."""
    usage = message.usage_metadata
    if usage is None:
        return Usage()
    cached = usage.get("input_token_details", {}).get("cache_read", 0) or 0
    cost = float(message.response_metadata.get(COST, 0.0))
    return Usage(usage["input_tokens"], usage["output_tokens"], cached, cost)


def _question(interrupts: Sequence[Any], agent: str) -> InputRequired:
    """The user's question of an interrupt whose value is an `InputRequired`'s fields, or plain text."""
    value = interrupts[0].value
    if isinstance(value, Mapping):
        return InputRequired(
            str(value.get("question", "")),
            str(value.get("origin", agent)),
            value.get("form"),
            bool(value.get("auth")),
        )
    return InputRequired(str(value), agent)
