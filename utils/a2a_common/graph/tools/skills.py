"""The skills on an agent's card if the agent declares none: its tools. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from utils.a2a_common.protocol.skill import Skill

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


def skills_from(tools: Sequence[BaseTool]) -> tuple[Skill, ...]:
    """One skill for each tool that has examples: a supervisor routes by them, and a skill without any is noise."""
    return tuple(_skill(tool) for tool in tools if (tool.metadata or {}).get("examples"))


def _skill(tool: BaseTool) -> Skill:
    title = tool.name.replace("_", " ").capitalize()
    return Skill(tool.name, title, tool.description, tuple((tool.metadata or {})["examples"]))
