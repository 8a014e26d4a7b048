"""The smallest agent is small: what the documentation shows is counted, and keeps the contract."""

from __future__ import annotations

import inspect
import textwrap
from abc import ABC
from collections.abc import Sequence

import pytest
from langchain_core.messages import SystemMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver

from tests.docs.blocks import blocks_of
from utils.a2a_common import BaseLangGraphAgent, Skill
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.protocol.request import AgentRequest
from utils.a2a_common.server.agent_process import agent_card
from utils.events import Completed, TextDelta
from utils.testing.agent_contract import AgentContract
from utils.testing.scripted_model import ScriptedModel
from utils.version import project_version

MOST_LINES = 25
MOST_HOOKS = 19


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


class Namer(BaseLangGraphAgent):
    name = "namer"
    description = "Suggests names for projects."


@pytest.mark.listens
class TestClock(AgentContract):
    agent = Clock


@pytest.mark.listens
class TestNamer(AgentContract):
    agent = Namer


async def test_name_and_description_are_enough_for_an_answer(tmp_path):
    model = ScriptedModel.of("Call it Heron.")
    runtime = AgentRuntime(
        home=tmp_path, settings=AgentSettings.load({}), model=model, checkpointer=InMemorySaver()
    )
    request = AgentRequest(text="Name it", task_id="t", context_id="c", message_id="m", thread_id="h")

    events = [event async for event in Namer(runtime).stream(request)]

    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "Call it Heron."
    assert events[-1] == Completed()
    instruction = model.requests[0].messages[0]
    assert isinstance(instruction, SystemMessage)
    assert "You are the agent namer. Suggests names for projects." in instruction.text


@pytest.mark.parametrize("missing", ["name", "description"])
def test_a_class_that_does_not_say_who_it_is_is_refused_where_it_is_defined(missing):
    said = {"name": "namer", "description": "Suggests names."} | {missing: " "}
    with pytest.raises(TypeError, match=f"Nobody needs a {missing}: set the class attribute"):
        type("Nobody", (BaseLangGraphAgent,), said)


def test_a_class_that_is_only_inherited_from_needs_no_name():
    class Team(BaseLangGraphAgent, ABC):
        version = "7"

    with pytest.raises(TypeError, match="needs a name"):
        type("Nobody", (Team,), {})

    class Member(Team):
        name = "member"
        description = "Helps."

    assert Member.version == "7"


@pytest.mark.parametrize("own", [None, "7"])
def test_a_card_tells_the_agent_s_own_version_or_else_the_project_s(tmp_path, own):
    class Versioned(Namer):
        version = own

    runtime = AgentRuntime(
        home=tmp_path, settings=AgentSettings.load({}), model=ScriptedModel.of(), checkpointer=InMemorySaver()
    )
    assert agent_card(Versioned(runtime), "http://127.0.0.1:1").version == (own or project_version())


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


def test_every_hook_is_typed_documented_and_has_a_default():
    assert not inspect.isabstract(BaseLangGraphAgent)
    hooks = {
        name: member
        for name, member in vars(BaseLangGraphAgent).items()
        if inspect.isfunction(member) and not name.startswith("_")
    }
    assert len(hooks) <= MOST_HOOKS
    for name, hook in hooks.items():
        assert inspect.getdoc(hook), name
        assert inspect.signature(hook).return_annotation is not inspect.Signature.empty, name
