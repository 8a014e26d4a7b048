"""Prompts name only tools and arguments that exist."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tests.style.sources import ROOT
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.graph.tools.agent_tool import built
from utils.messages import results
from utils.testing.scripted_model import ScriptedModel

MODULES = sorted(
    ".".join(path.parent.relative_to(ROOT).parts) + ".agent"
    for path in [*ROOT.glob("agents/*/agent.py"), *ROOT.glob("multi_agents/*/agent.py")]
)
QUIET = {"EMBEDDINGS_PROVIDER": "none", "RAG_SOURCES": "none", "SUB_AGENTS": ""}
"""Settings that spare `start` what no prompt is about."""
QUOTED = re.compile(r"`([a-z][a-z0-9_]*)`")
SNAKE = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
FIELDS = {
    name
    for shape in (results.Article, results.Articles, results.Items, results.Record, results.ToolProblem)
    for name in shape.model_fields
}


def _agent(module: str, home: Path) -> BaseLangGraphAgent:
    found = [
        value
        for value in vars(importlib.import_module(module)).values()
        if isinstance(value, type) and issubclass(value, BaseLangGraphAgent) and value.__module__ == module
    ]
    assert len(found) == 1, f"{module} defines {len(found)} agents"
    runtime = AgentRuntime(
        home=home, settings=AgentSettings.load(QUIET), model=ScriptedModel.of(), checkpointer=InMemorySaver()
    )
    return found[0](runtime)


@pytest.mark.parametrize("module", MODULES)
async def test_a_prompt_names_only_tools_and_arguments_that_exist(module, tmp_path):
    agent = _agent(module, tmp_path)
    await agent.start()
    tools = built(await agent.tools())
    known = {tool.name for tool in tools} | {name for tool in tools for name in tool.args} | FIELDS
    prompt = agent.system_prompt()
    named = {*QUOTED.findall(prompt), *SNAKE.findall(prompt)}
    await agent.close()
    assert named <= known


@pytest.mark.parametrize("module", MODULES)
async def test_no_placeholder_is_left_in_a_prompt(module, tmp_path):
    agent = _agent(module, tmp_path)
    await agent.start()
    prompt = agent.system_prompt()
    await agent.close()
    assert prompt.strip()
    assert not re.search(r"\{\w*\}", prompt)
