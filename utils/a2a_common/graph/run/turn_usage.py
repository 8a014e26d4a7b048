"""What a turn costs: the tokens of each agent, and the size of the conversation."""

from __future__ import annotations

from collections.abc import Mapping

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage

from utils.events import Usage, UsageReported
from utils.messages.marks import COST


class TurnUsage:
    """The tokens that a task used so far, by agent.

    Args:
        agent: Name of the agent that counts.
        used: What earlier turns of the task used.

    Attributes:
        by_agent: The tokens.
        size: Approximate tokens of the conversation by now; `None` until a response reports usage.
    """

    def __init__(self, agent: str, used: Mapping[str, Usage]) -> None:
        self._agent = agent
        self.by_agent: dict[str, Usage] = dict(used)
        self.size: int | None = None
        self._counted: set[str] = set()

    def count(self, answer: AIMessage) -> None:
        """Add an answer of the agent's own model, once: a step whose checkpoint is missing tells of its answer again."""
        if answer.id in self._counted:
            return
        if answer.id:
            self._counted.add(answer.id)
        if answer.usage_metadata:
            self.add(UsageReported({self._agent: usage_of(answer)}))

    def add(self, reported: UsageReported) -> None:
        """Add reported usage, as of a sub-agent."""
        for agent, usage in reported.by_agent.items():
            self.by_agent[agent] = self.by_agent.get(agent, Usage()) + usage

    def forget_own(self) -> None:
        """Leave out the agent's own usage, which is counted again."""
        self.by_agent.pop(self._agent, None)

    def measure(self, message: BaseMessage) -> None:
        """Track the size of the conversation: from the usage of an answer; a message without usage counts one token per character."""
        if isinstance(message, AIMessage) and message.usage_metadata:
            self.size = message.usage_metadata["input_tokens"] + message.usage_metadata["output_tokens"]
        elif self.size is not None:
            self.size += len(str(message.content))


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
