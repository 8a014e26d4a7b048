"""The smallest agent is small: what the documentation shows is counted, and keeps the contract."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Sequence

from langchain_core.tools import BaseTool, tool

from tests.docs.blocks import blocks_of
from utils.a2a_common import BaseLangGraphAgent, Skill
from utils.testing.agent_contract import AgentContract

MOST_LINES = 25
MOST_HOOKS = 12


@tool
async def what_time() -> str:
    """Tells the time."""
    return "noon"


class Clock(BaseLangGraphAgent):
    """Tells the time."""

    name = "clock"
    description = "Tells the time."
    skills = (Skill("time", "Time", "Tells the time.", ("What time is it?",)),)

    def system_prompt(self) -> str:
        return "Tell the time with the tool."

    async def tools(self) -> Sequence[BaseTool]:
        return [what_time]


class TestClock(AgentContract):
    agent = Clock


def test_the_agent_of_the_documentation_has_fewer_than_25_lines():
    (block,) = [
        one
        for one in blocks_of("docs/add-an-agent.md")
        if one.options.get("file") == "agents/incidents/agent.py"
    ]
    assert "class IncidentsAgent(BaseLangGraphAgent)" in block.text
    assert len(block.text.splitlines()) < MOST_LINES


def test_the_agent_of_these_tests_has_fewer_than_25_lines():
    assert len(textwrap.dedent(inspect.getsource(Clock)).splitlines()) < MOST_LINES


def test_every_hook_is_typed_documented_and_has_a_default_unless_it_says_what_the_agent_is():
    hooks = {
        name: member
        for name, member in vars(BaseLangGraphAgent).items()
        if inspect.isfunction(member) and not name.startswith("_")
    }
    assert len(hooks) <= MOST_HOOKS
    for name, hook in hooks.items():
        assert inspect.getdoc(hook), name
        assert inspect.signature(hook).return_annotation is not inspect.Signature.empty, name
    assert BaseLangGraphAgent.__abstractmethods__ == {"system_prompt", "tools"}
