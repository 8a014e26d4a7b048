"""What is known of the beginning of a view since the request before: it is not counted or checked again.

Holds for as long as the conversation begins with the same messages and the decisions about them are
the same; `Known.goes_on` says whether they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from utils.context.compaction import Compaction, shown_as
from utils.context.protocols import TokenCounter
from utils.context.rendering import full_text
from utils.context.strategies.clear import result_tokens
from utils.messages.handles import handles_in
from utils.messages.invariants import Proven
from utils.messages.text import message_text


class Known:
    """The leading messages of a view that was sent, and facts of them.

    Attributes:
        compaction: Decisions that the view was made with.
        source: How many messages of the repaired conversation it was made of.
        messages: The messages, without the system message.
        tokens: What they cost.
        results: For each exchange with calls, tokens of its results that are worth clearing.
        handles: Handles named in them, in order.
    """

    def __init__(self, compaction: Compaction, counter: TokenCounter) -> None:
        self.compaction = compaction
        self.source = 0
        self.messages: list[BaseMessage] = []
        self.tokens = 0
        self.results: list[int] = []
        self.handles: dict[str, None] = {}
        self._counter = counter
        self._calls: set[str] = set()
        self._long: list[tuple[int, int]] = []

    @property
    def proven(self) -> Proven:
        """The same for the rules that a request is held to."""
        return Proven(len(self.messages), self.source, self._calls)

    def goes_on(self, compaction: Compaction, counter: TokenCounter) -> bool:
        """Whether a view with these decisions begins with these messages."""
        return self.compaction == compaction and self._counter is counter

    def view_of(self, talk: Sequence[BaseMessage]) -> list[BaseMessage]:
        """The view of a conversation that begins with what this was made of."""
        return [*self.messages, *shown_as(list(talk[self.source :]), self.compaction)]

    def whole_up_to(self, characters: int, tokens: int) -> int:
        """How many leading messages show no result that is longer and costs more; all of them or none."""
        too_long = any(length > characters and cost > tokens for length, cost in self._long)
        return 0 if too_long else len(self.messages)

    def add(self, messages: Sequence[BaseMessage], source: int, limit: int) -> None:
        """Take in the messages that follow, which were checked, up to message `source` of the conversation.

        Args:
            messages: Whole exchanges.
            source: How many messages of the repaired conversation the view now stands for.
            limit: Characters from which the length of a result matters.
        """
        self.source = source
        self.messages += messages
        self.tokens += sum(map(self._counter.message, messages))
        self.results += result_tokens(messages, self._counter)
        for message in messages:
            self.handles |= dict.fromkeys(handles_in(message_text(message)))
            if isinstance(message, AIMessage):
                self._calls.update(str(call["id"]) for call in message.tool_calls)
            elif isinstance(message, ToolMessage):
                self._measure(message, limit)

    def _measure(self, message: ToolMessage, limit: int) -> None:
        if message.id in self.compaction.replaced:
            return
        text = full_text(message)
        if len(text) > limit:
            self._long.append((len(text), self._counter.text(text)))
