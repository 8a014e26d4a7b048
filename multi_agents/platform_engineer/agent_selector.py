"""Selects the sub-agents to offer to the model, if there are more than it can distinguish.

The agents that fit the conversation best stay, by words in common with their descriptions and
examples; rare words count more. Those that the conversation used already always stay.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeGuard

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool

from utils.a2a_common.graph.tools.boundary import DELEGATION
from utils.messages.text import message_text

_RECENT = 3
"""Number of the user's last messages that define the subject of the conversation."""


class AgentSelector(AgentMiddleware[Any, Any]):
    """Offers at most `most` sub-agents; every other tool stays."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Let the model choose among the agents that fit."""
        agents = {tool.name: _about(tool) for tool in request.tools if is_agent(tool)}
        if len(agents) <= self._most:
            return await handler(request)
        kept = fitting(agents, request.messages, self._most)
        shown = [tool for tool in request.tools if not is_agent(tool) or tool.name in kept]
        return await handler(request.override(tools=shown))


def fitting(agents: Mapping[str, str], messages: Sequence[BaseMessage], most: int) -> set[str]:
    """The names of the agents that fit best, in number at most `most` unless more were used. Pure."""
    texts = [message_text(m) for m in messages if isinstance(m, HumanMessage)][-_RECENT:]
    wanted = _words(" ".join(texts))
    words = {name: _words(f"{name} {about}") for name, about in agents.items()}
    spread = Counter(word for each in words.values() for word in each)
    scores = {
        name: sum(math.log(1 + len(agents) / spread[word]) for word in each & wanted)
        for name, each in words.items()
    }
    used = {str(m.name) for m in messages if isinstance(m, ToolMessage) and m.name in agents}
    used |= {
        c["name"] for m in messages if isinstance(m, AIMessage) for c in m.tool_calls if c["name"] in agents
    }
    best = sorted(scores, key=lambda name: -scores[name])  # the configured order decides a tie
    return used | set([name for name in best if name not in used][: max(0, most - len(used))])


def is_agent(tool: Any) -> TypeGuard[BaseTool]:
    """Whether a tool is another agent."""
    return isinstance(tool, BaseTool) and bool((tool.metadata or {}).get(DELEGATION))


def _about(tool: BaseTool) -> str:
    return f"{tool.description} {' '.join((tool.metadata or {}).get('examples', ()))}"


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[^\W_]+", text.lower()) if len(word) > 2}  # noqa: PLR2004 - "a", "of"
