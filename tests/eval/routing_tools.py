"""Which tools a case is tried with: those of the agents in this checkout, as their cards and metadata tell them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, cast

from langchain_core.tools import BaseTool, StructuredTool

from agents.github.agent import GitHubAgent
from agents.github.refusal import refusal
from agents.github.tools import SPECS
from agents.rag.agent import RagAgent
from agents.rag.retrieve.tools import build_tools
from agents.rag.settings import RagSettings
from multi_agents.platform_engineer.delegation import DelegationInput
from tests.eval import routing_data
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent


@cache
def tools_of(agent: str, *, written: bool = False) -> list[BaseTool]:
    """The tools of an agent: the real ones, or those that the dataset was first written against."""
    if written:
        return routing_data.written_tools(agent)
    return {"supervisor": _supervisor, "github": _github, "rag": _rag}[agent]()


def _supervisor() -> list[BaseTool]:
    return [_delegation(agent) for agent in (GitHubAgent, RagAgent)]


def _delegation(agent: type[BaseLangGraphAgent]) -> BaseTool:
    examples = [example for skill in agent.skills for example in skill.examples]
    return delegation_to(agent.name, agent.description, examples)


def delegation_to(name: str, description: str, examples: Sequence[str]) -> BaseTool:
    """A tool as `Delegation` makes it of an agent's card."""
    return StructuredTool(
        name=name,
        description=f'Delegates to the agent "{name}", which says of itself: "{description}"',
        args_schema=DelegationInput,
        func=_uncalled,
        metadata={"examples": list(examples)},
    )


def _github() -> list[BaseTool]:
    return [
        StructuredTool(
            name=spec.name,
            description=spec.description,
            args_schema=spec.arguments,
            func=_uncalled,
            metadata={"examples": list(spec.examples), "changes": spec.changes},
        )
        for spec in (*SPECS, refusal(write=False))
    ]


def _rag() -> list[BaseTool]:
    return build_tools(cast("Any", None), RagSettings.load({}))


def _uncalled(**_: Any) -> str:
    raise AssertionError("routing is measured without calling tools")
