"""Translates LangGraph's stream of one run into `AgentEvent`s."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from utils.a2a_common.graph.run.answer_text import AnswerText
from utils.a2a_common.graph.run.reasoning_stream import ReasoningStream
from utils.a2a_common.graph.run.turn_end import TurnEnd
from utils.a2a_common.graph.run.turn_usage import TurnUsage, usage_of
from utils.context.refusals import TurnRefused
from utils.events import (
    AgentEvent,
    ArtifactAdded,
    DataPart,
    ModelRetried,
    TextDelta,
    TextRestarted,
    Usage,
    UsageReported,
)
from utils.llm.reply.answer_stream import Shown
from utils.llm.reply.form import plain_form
from utils.llm.reply.thoughts import reasoning_of
from utils.messages.marks import ORIGIN, PARTIAL
from utils.messages.question import asks_user
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
        agents: Nodes of an own graph that are agents themselves. Their updates repeat events from inside them.
        tools: Names of the agent's tools.
        reasoning: Whether the model's reasoning is shown.
        form: Name of the form that answers fill; empty where they fill none.

    Attributes:
        ledger: The calls of the turn that have no result yet.
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
        self._reasoning = ReasoningStream(shown=reasoning)
        self.ledger = Ledger()
        self._agent = agent
        self._text, self._usage, self._end = AnswerText(tools), TurnUsage(agent, used or {}), TurnEnd()
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
                shown = self._text.feed(message_text(message))
                yield from self._reasoning.feed(reasoning_of(message) + shown.thoughts)
                yield from self._add_text(shown, _origin(message))
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
        match event:
            case UsageReported():
                self._usage.add(event)
                return False
            case TextRestarted():
                self._text.take_back()
                return False
            case ModelRetried():
                self._text.retry()
            case ArtifactAdded(origin=""):
                self._end.added = True
            case _:
                pass
        return True

    def ask(self, interrupts: Sequence[Any]) -> None:
        """Ask the first of the open questions: the others follow after its answer."""
        if interrupts:
            self._end.ask(interrupts, self._agent)

    def recall(self, messages: Sequence[BaseMessage], *, whole_task: bool) -> Usage:
        """Record the work of an earlier process on the same turn; return the model usage of that work.

        Args:
            messages: What model and tools added, oldest first.
            whole_task: Whether they include what earlier turns of the task did, which then is not counted twice.
        """
        if whole_task:
            self._usage.forget_own()
        for message in messages:
            self.ledger.observe(message)
            if isinstance(message, AIMessage):
                self._model_answered(message)
            elif isinstance(message, ToolMessage):
                self._end.calls.take(message)
        return sum((usage_of(each) for each in messages if isinstance(each, AIMessage)), Usage())

    def recall_unknown(self, messages: Sequence[BaseMessage]) -> None:
        """Take in the calls with an unknown outcome of the turns before the user's answer: the task still ends by them."""
        for message in messages:
            if isinstance(message, ToolMessage):
                self._end.calls.take_unknown(message)

    def repeat(self, answer: AIMessage, filled: Any = None) -> list[AgentEvent]:
        """The events of an answer that was counted already, and of the schema that it filled."""
        events = list(self._add_text(Shown(message_text(answer)), _origin(answer)))
        return events if filled is None else [*events, *self._filled(filled)]

    @property
    def has_text(self) -> bool:
        """Whether the answer has text so far."""
        return self._text.has_text

    @property
    def taken_back(self) -> bool:
        """Whether the last text was retracted and not replaced."""
        return self._text.taken_back

    @property
    def size(self) -> int | None:
        """Approximate tokens of the conversation by now; `None` until a response reports usage."""
        return self._usage.size

    @property
    def waits(self) -> bool:
        """Whether a tool asked the user; its call stays open until the answer comes."""
        return self._end.question is not None

    def finish(self) -> Iterator[AgentEvent]:
        """The last events of the turn; the very last one ends it."""
        if self._usage.by_agent:
            yield UsageReported(dict(self._usage.by_agent))
        if self.has_text and self._end.shows_held_back(self._text.text):
            yield TextRestarted()
            yield TextDelta(self._text.text)
        yield self._end.event(has_text=self.has_text)

    def _add_text(self, shown: Shown, origin: str = "") -> Iterator[AgentEvent]:
        """Add text; after failed calls it is held back until the end of the turn, since it may only repeat their errors."""
        if shown.text:
            yield from self._reasoning.flush()
        yield from self._text.add(shown, origin, emit=not self._end.calls.failed)

    def _update(self, node: str, update: Any) -> Iterator[AgentEvent]:
        if node == "__interrupt__":
            self._end.ask(update, self._agent)
            return
        if node in self._agents:
            return
        messages = _messages(update)
        for message in messages:
            self.ledger.observe(message)
            self._usage.measure(message)
            if isinstance(message, AIMessage):
                if message is messages[-1]:
                    yield from self._close_reply(message)
                self._model_answered(message)
            elif isinstance(message, ToolMessage):
                self._end.calls.take(message)
        if isinstance(update, Mapping) and update.get(STRUCTURED) is not None:
            yield from self._filled(update[STRUCTURED])

    def _filled(self, value: Any) -> Iterator[AgentEvent]:
        """An answer that fills the agent's `answer_schema`: data for programs, and text from it if the model wrote none."""
        plain = plain_form(value)
        yield ArtifactAdded([DataPart(plain)], name=self._form, id=ANSWER_ARTIFACT)
        if not self.has_text:
            yield from self._add_text(
                Shown(f"```json\n{json.dumps(plain, indent=2, ensure_ascii=False)}\n```")
            )

    def _close_reply(self, message: AIMessage) -> Iterator[AgentEvent]:
        """The rest of an answer that was held back until it was read."""
        yield from self._reasoning.flush()
        yield from self._add_text(self._text.close(message_text(message)), _origin(message))

    def _model_answered(self, message: AIMessage) -> None:
        self._usage.count(message)
        self._end.partial = PARTIAL.of(message) or self._end.partial
        # with several agents in an own graph, the answer of the last one is the graph's
        self._text.ends(calls=bool(message.tool_calls), last=not self._agents)


def _messages(update: Any) -> Sequence[BaseMessage]:
    if isinstance(update, Mapping):
        found = update.get("messages", ())
        return [found] if isinstance(found, BaseMessage) else list(found or ())
    return ()


def _origin(answer: AIMessage) -> str:
    return ORIGIN.of(answer) or ""
