"""Every agent of the checkout keeps the contract: those of agents.yaml, the template and the supervisor."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.client.agents.agents_file import load_agents_file
from utils.testing.agent_contract import AgentContract

pytestmark = pytest.mark.listens

ROOT = Path(__file__).resolve().parents[2]
LOCAL = [one.module for one in load_agents_file(ROOT / "agents" / "agents.yaml") if one.module]
MODULES = [*LOCAL, "agents.template", "multi_agents.platform_engineer"]
NO_SUB_AGENTS = {"SUB_AGENTS": "nobody=http://127.0.0.1:9", "SUB_AGENT_WAIT_SECONDS": "0"}


def agent_of(package: str) -> type[BaseLangGraphAgent]:
    """The one agent class that a package's `agent` module defines."""
    module = importlib.import_module(f"{package}.agent")
    (found,) = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, BaseLangGraphAgent)
        and value.__module__ == module.__name__
    ]
    return found


for _agent in map(agent_of, MODULES):
    _environ = {**AgentContract.environ, **NO_SUB_AGENTS}
    _name = f"Test{_agent.__name__}"
    globals()[_name] = type(_name, (AgentContract,), {"agent": _agent, "environ": _environ})


def test_the_template_and_the_bundled_agents_are_among_them():
    assert {"agents.github", "agents.rag", "agents.template"} <= set(MODULES)
