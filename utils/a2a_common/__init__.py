"""Agents and the Agent2Agent protocol. `BaseLangGraphAgent` is what an agent subclasses.

The names that authors of agents need are exported here; `utils.a2a_common.server.serve` serves an agent.
"""

from __future__ import annotations

from utils.observability.sdk_spans import switch_sdk_spans

switch_sdk_spans()

from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent  # noqa: E402
from utils.a2a_common.graph.own.parts import GraphParts  # noqa: E402
from utils.a2a_common.graph.questions.asked_by_tools import ask_user  # noqa: E402
from utils.a2a_common.graph.runtime import AgentRuntime  # noqa: E402
from utils.a2a_common.graph.settings import AgentSettings  # noqa: E402
from utils.a2a_common.graph.tools.agent_tool import AgentTool, agent_tool  # noqa: E402
from utils.a2a_common.graph.tools.events import publish  # noqa: E402
from utils.a2a_common.protocol.request import AgentRequest  # noqa: E402
from utils.a2a_common.protocol.skill import Skill  # noqa: E402

__all__ = [
    "AgentRequest",
    "AgentRuntime",
    "AgentSettings",
    "AgentTool",
    "BaseLangGraphAgent",
    "GraphParts",
    "Skill",
    "agent_tool",
    "ask_user",
    "publish",
]
