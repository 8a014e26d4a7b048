"""Translates LangGraph's stream of one run into `AgentEvent`s."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage

from utils.a2a_common.graph.ended_calls import EndedCalls
from utils.a2a_common.graph.reasoning_stream import ReasoningStream
from utils.a2a_common.protocol.parts import part_kept
from utils.context.refusals import TurnRefused
from utils.events import (
    AgentEvent,
    ArtifactAdded,
    Completed,
    DataPart,
    Failed,
    InputRequired,
    ModelRetried,
    Partial,
    TextDelta,
    TextRestarted,
    Usage,
    UsageReported,
)
from utils.llm.reply.answer_stream import AnswerStream, Shown
from utils.llm.reply.form import plain_form
from utils.llm.reply.thoughts import reasoning_of
from utils.messages.marks import COST, ORIGIN, PARTIAL
from utils.messages.question import Question, asks_user
from utils.messages.text import message_text
from utils.resilience.ledger import Ledger

MODEL_NODE = "model"
"""The node of LangChain's agent graph that calls the model."""

STREAM_MODES = ["messages", "updates", "custom"]

STRUCTURED = "structured_response"
"""Key of the graph's state where LangChain's agent graph puts an answer that fills a schema."""

ANSWER_ARTIFACT = "answer"
"""Id of the artifact that such an answer is published as."""


class StreamTranslator:
    """Collects what one turn did. Made per request, so that nothing is shared between turns.

    Args:
        agent: Name of the agent.
        used: What earlier turns of the task used.
        agents: Nodes of an own graph that are agents themselves. Their updates repeat what was seen inside them.
        tools: Names of the agent's tools.
        reasoning: Whether the model's reasoning is shown.
        form: Name of the form that answers fill; empty where they fill none.

    Attributes:
        ledger: The calls of the turn that have no result yet.
        size: About how many tokens the conversation takes by now; `None` while no answer has said so.
        taken_back: Whether what was said last was taken back, and nothing said in its place.
        refused: Turns that the model's provider refused; to be left out once the run is over.
    """

    def __init__(
        self,
        agent: str,
        used: Mapping[str, Usage] | None = None,
        *,
        agents: Collection[str] = (),
        tools: Collection[str] = (),
        reasoning: bool = False,
        form: str = "",
    ) -> None:
        self._agents = agents
        self._form = form
        self._tools = tools
        self._reasoning = ReasoningStream(shown=reasoning)
        self.ledger = Ledger()
        self._agent = agent
        self._usage: dict[str, Usage] = dict(used or {})
        self._calls = EndedCalls()
        self._text = ""
        self._restart = False
        self._answered = False
        self._added = False
        self._answer = AnswerStream(tools)
        self._question: InputRequired | None = None
        self._partial: Partial | None = None
        self.size: int | None = None
        self.taken_back = False
        self.refused: tuple[str, ...] = ()

    def translate(self, namespace: Sequence[str], mode: str, part: Any) -> Iterator[AgentEvent]:
        """The events of one part of the graph's stream; parts from nested graphs give none.

        Args:
            namespace: The nodes that the part comes from; empty for the graph itself.
            mode: One of `STREAM_MODES`. What comes as "custom" is an event already, of a tool or a middleware.
            part: The part.
        """
        if not self._is_shown(namespace):
            return
        if mode == "messages":
            message, metadata = part
            if (
                metadata.get("langgraph_node") == MODEL_NODE
                and isinstance(message, AIMessage)
                and not asks_user(message)
            ):
                shown = self._answer.feed(message_text(message))
                yield from self._reasoning.feed(reasoning_of(message) + shown.thoughts)
                yield from self._say(shown, _origin(message))
        elif mode == "updates":
            for node, update in part.items():
                yield from self._update(node, update)
        elif isinstance(part, TurnRefused):
            self.refused = part.turns
        elif self._note(part):
            yield part

    def _is_shown(self, namespace: Sequence[str]) -> bool:
        """Whether a part comes from the graph itself or from an agent that is a node of it, not from deeper inside."""
        return not namespace or (len(namespace) == 1 and namespace[0].split(":")[0] in self._agents)

    def _note(self, event: AgentEvent) -> bool:
        """Record an event of a tool or a middleware; return whether it is emitted now rather than merged into a later one."""
        if isinstance(event, UsageReported):
            for agent, usage in event.by_agent.items():
                self._usage[agent] = self._usage.get(agent, Usage()) + usage
            return False
        if isinstance(event, TextRestarted):
            self._answer = AnswerStream(self._tools)
            self._restart = self.taken_back = bool(self._text)
            return False
        self._added = self._added or (isinstance(event, ArtifactAdded) and not event.origin)
        if isinstance(event, ModelRetried):
            self._answer = AnswerStream(self._tools)
        self._restart = self._restart or (isinstance(event, ModelRetried) and bool(self._text))
        return True

    def ask(self, interrupts: Sequence[Any]) -> None:
        """Ask the first of the open questions: the others come after its answer."""
        if interrupts:
            self._question = _question(interrupts, self._agent)

    def recall(self, messages: Sequence[BaseMessage], *, whole_task: bool) -> Usage:
        """Record the work of an earlier process on the same turn; return the model usage of that work.

        Args:
            messages: What model and tools added, oldest first.
            whole_task: Whether they include what earlier turns of the task did, which then is not counted twice.
        """
        if whole_task:
            self._usage.pop(self._agent, None)
        for message in messages:
            self.ledger.observe(message)
            if isinstance(message, AIMessage):
                self._model_answered(message)
            elif isinstance(message, ToolMessage):
                self._calls.take(message)
        return sum((usage_of(each) for each in messages if isinstance(each, AIMessage)), Usage())

    def recall_unknown(self, messages: Sequence[BaseMessage]) -> None:
        """Take in the calls with an unknown outcome of the turns before the user's answer: the task still ends by them."""
        for message in messages:
            if isinstance(message, ToolMessage):
                self._calls.take_unknown(message)

    def repeat(self, answer: AIMessage, filled: Any = None) -> list[AgentEvent]:
        """The events of an answer that was counted already, and of the schema that it filled."""
        events = list(self._say(Shown(message_text(answer)), _origin(answer)))
        return events if filled is None else [*events, *self._filled(filled)]

    @property
    def said(self) -> bool:
        """Whether the answer has text so far."""
        return bool(self._text.strip()) and not self._restart

    @property
    def waits(self) -> bool:
        """Whether a tool asked the user; its call stays open until the answer comes."""
        return self._question is not None

    def finish(self) -> Iterator[AgentEvent]:
        """The last events of the turn; the very last one ends it."""
        if self._usage:
            yield UsageReported(dict(self._usage))
        if self._question is None and self._calls.failed and self.said and self._calls.says_more(self._text):
            yield TextRestarted()
            yield TextDelta(self._text)
        yield self._end()

    def _say(self, shown: Shown, origin: str = "") -> Iterator[AgentEvent]:
        self._restart = self._restart or (shown.anew and bool(self._text))
        if not shown.text:
            return
        self.taken_back = False
        yield from self._reasoning.flush()
        if self._restart or (self._answered and self._text):
            self._restart = self._answered = False
            self._text = ""
            if not self._calls.failed:
                yield TextRestarted()
        self._text += shown.text
        if (
            not self._calls.failed
        ):  # such words wait for the end of the turn: they may say no more than it does
            yield TextDelta(shown.text, origin)

    def _update(self, node: str, update: Any) -> Iterator[AgentEvent]:
        if node == "__interrupt__":
            self._question = _question(update, self._agent)
            return
        if node in self._agents:
            return
        messages = _messages(update)
        for message in messages:
            self.ledger.observe(message)
            self._measure(message)
            if isinstance(message, AIMessage):
                if message is messages[-1]:
                    yield from self._said(message)
                self._model_answered(message)
            elif isinstance(message, ToolMessage):
                self._calls.take(message)
        if isinstance(update, Mapping) and update.get(STRUCTURED) is not None:
            yield from self._filled(update[STRUCTURED])

    def _filled(self, value: Any) -> Iterator[AgentEvent]:
        """An answer that fills the agent's `answer_schema`: data for programs, and text from it if the model wrote none."""
        plain = plain_form(value)
        yield ArtifactAdded([DataPart(plain)], name=self._form, id=ANSWER_ARTIFACT)
        if not self.said:
            yield from self._say(Shown(f"```json\n{json.dumps(plain, indent=2, ensure_ascii=False)}\n```"))

    def _said(self, message: AIMessage) -> Iterator[AgentEvent]:
        """What was held back of an answer, now that it was read."""
        answer, self._answer = self._answer, AnswerStream(self._tools)
        yield from self._reasoning.flush()
        yield from self._say(answer.close(message_text(message)), _origin(message))

    def _measure(self, message: BaseMessage) -> None:
        """Track the size of the conversation: from the usage of an answer; a message without usage counts one token per character."""
        if isinstance(message, AIMessage) and message.usage_metadata:
            self.size = message.usage_metadata["input_tokens"] + message.usage_metadata["output_tokens"]
        elif self.size is not None:
            self.size += len(str(message.content))

    def _model_answered(self, message: AIMessage) -> None:
        if message.usage_metadata:
            self._usage[self._agent] = self._usage.get(self._agent, Usage()) + usage_of(message)
        self._partial = PARTIAL.of(message) or self._partial
        if message.tool_calls and self._text:
            self._restart = True  # a remark before tool calls is not the answer
        self._answered = (
            bool(self._agents) and not message.tool_calls
        )  # the last agent's answer is the graph's

    def _end(self) -> AgentEvent:
        if self._question is not None:
            return self._question
        if (failure := self._calls.failure) is not None:
            return failure
        if not self.said and not self._added:
            return Failed("empty_response", "The model gave no answer. Please try again.", retryable=True)
        return Completed(self._partial)


def _messages(update: Any) -> Sequence[BaseMessage]:
    if isinstance(update, Mapping):
        found = update.get("messages", ())
        return [found] if isinstance(found, BaseMessage) else list(found or ())
    return ()


def _origin(answer: AIMessage) -> str:
    return ORIGIN.of(answer) or ""


def usage_of(message: AIMessage | AIMessageChunk) -> Usage:
    """Tokens of one answer, as the provider counted them."""
    usage = message.usage_metadata
    if usage is None:
        return Usage()
    cached = usage.get("input_token_details", {}).get("cache_read", 0) or 0
    cost = COST.of(message) or 0.0
    return Usage(
        input_tokens=usage["input_tokens"],
        output_tokens=usage["output_tokens"],
        cached_tokens=cached,
        cost_usd=cost,
    )


def _question(interrupts: Sequence[Any], agent: str) -> InputRequired:
    """What the first of the interrupts asks the user."""
    asked = Question.of(interrupts[0].value)
    return InputRequired(
        asked.text, asked.origin or agent, asked.form, asked.auth, [part_kept(part) for part in asked.parts]
    )
