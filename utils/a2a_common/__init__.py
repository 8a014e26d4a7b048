"""Agents and the Agent2Agent protocol. `BaseLangGraphAgent` is what an agent subclasses."""

from __future__ import annotations

from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.skill import Skill

__all__ = ["BaseLangGraphAgent", "Skill"]
