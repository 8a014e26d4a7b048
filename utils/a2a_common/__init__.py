"""Agents and the Agent2Agent protocol. `BaseLangGraphAgent` is what an agent subclasses."""

from __future__ import annotations

from utils.observability.sdk_spans import switch_sdk_spans

switch_sdk_spans()

from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent  # noqa: E402
from utils.a2a_common.protocol.skill import Skill  # noqa: E402

__all__ = ["BaseLangGraphAgent", "Skill"]
