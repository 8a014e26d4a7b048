"""The smallest agent is small: what the documentation shows is counted, and keeps the contract."""

from __future__ import annotations

import inspect
import textwrap
from abc import ABC
from collections.abc import Sequence
from pathlib import Path

import pytest
from langchain_core.messages import SystemMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver

from tests.docs.blocks import blocks_of
from utils.a2a_common import BaseLangGraphAgent, Skill, agent_tool
from utils.a2a_common.graph.identity import ATTRIBUTES
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.graph.tools.agent_tool import AgentTool, built
from utils.a2a_common.protocol.request import AgentRequest
from utils.a2a_common.server.agent_app import agent_card
from utils.a2a_common.server.serve import EXIT_SETTINGS, main
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


def _runtime(home: Path, model: ScriptedModel | None = None) -> AgentRuntime:
    settings = AgentSettings.load({})
    return AgentRuntime(
        home=home, settings=settings, model=model or ScriptedModel.of(), checkpointer=InMemorySaver()
    )


@pytest.mark.listens
class TestClock(AgentContract):
    agent = Clock


@pytest.mark.listens
class TestNamer(AgentContract):
    agent = Namer


async def test_name_and_description_are_enough_for_an_answer(tmp_path):
    model = ScriptedModel.of("Call it Heron.")
    runtime = _runtime(tmp_path, model)
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


def _tool_named(name: str) -> AgentTool:
    @agent_tool(name=f"{name}_of_a_service")
    def of_a_service() -> str:
        """Tell it."""
        return ""

    return of_a_service


@pytest.mark.parametrize(
    ("attribute", "value", "told"),
    [
        ("version", _tool_named("version"), "is a tool, but `version` is a class attribute of every agent"),
        ("name", _tool_named("name"), "is a tool, but `name` is a class attribute of every agent"),
        ("version", 7, "is of type int, .* must be a text or None"),
        ("input_modes", "text/plain", "is of type str, .* must be a tuple of media types"),
        ("skills", ("time",), "is of type tuple, .* must be a tuple of `Skill`"),
        ("stop", _tool_named("stop"), "is a tool, but `stop` is a method of BaseLangGraphAgent"),
        ("mcp_note", _tool_named("mcp_note"), "is a tool, but `mcp_note` is a method of BaseLangGraphAgent"),
        ("tools", [what_time], "is of type list, but `tools` is a method of BaseLangGraphAgent"),
    ],
)
def test_a_class_with_another_thing_in_a_reserved_place_is_refused_where_it_is_defined(
    attribute, value, told
):
    said = {"name": "deploys", "description": "Deploys services.", attribute: value}
    with pytest.raises(TypeError, match=rf"^Deploys\.{attribute} {told}"):
        type("Deploys", (BaseLangGraphAgent,), said)


def test_what_a_class_inherits_is_refused_as_well():
    class Team(BaseLangGraphAgent, ABC):
        version = _tool_named("version")  # type: ignore[assignment]

    with pytest.raises(TypeError, match=r"Deploys\.version is a tool"):
        type("Deploys", (Team,), {"name": "deploys", "description": "Deploys services."})


async def test_a_tool_that_an_attribute_of_the_object_hides_is_refused(tmp_path):
    class Shop(Namer):
        url = _tool_named("url")  # type: ignore[assignment]

    with pytest.raises(
        TypeError, match=r"Shop\.url is a tool, but `url` is an attribute that the agent sets"
    ):
        await Shop(_runtime(tmp_path)).tools()


def test_a_tool_may_be_replaced_or_taken_away_below():
    class Desk(Namer):
        ticket = _tool_named("ticket")

    class Other(Desk):
        ticket = _tool_named("other")

    class Without(Desk):
        ticket = None  # type: ignore[assignment]

    assert [cls.name for cls in (Other, Without)] == ["namer", "namer"]


def test_every_class_attribute_of_an_agent_has_a_type_that_is_checked():
    assert set(ATTRIBUTES) == {
        name for name in BaseLangGraphAgent.__annotations__ if not name.startswith("_")
    }


def test_a_class_that_is_refused_is_told_in_a_sentence_by_whoever_serves_it(tmp_path, monkeypatch, capsys):
    (tmp_path / "deploys_refused.py").write_text(
        "from utils.a2a_common import BaseLangGraphAgent\n\n\n"
        "class Deploys(BaseLangGraphAgent):\n"
        "    name, description = 'deploys', 'Deploys services.'\n\n"
        "    def version(self) -> str:\n"
        "        return '1.2'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("sys.argv", ["serve", "deploys_refused:Deploys"])
    assert main() == EXIT_SETTINGS
    assert "Deploys.version is a method, but `version` is a class attribute" in capsys.readouterr().err


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

    assert agent_card(Versioned(_runtime(tmp_path)), "http://127.0.0.1:1").version == (
        own or project_version()
    )


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


@pytest.mark.parametrize(
    "name", ["Odd", "odd.agent", "ödd", "odd_agent", "odd agent", "-odd", "odd-", "../odd"]
)
def test_a_name_of_other_characters_is_refused_where_the_class_is_defined(name):
    with pytest.raises(TypeError, match=r"^Odd\.name is '.*', but a name has lower-case letters, digits and"):
        type("Odd", (BaseLangGraphAgent,), {"name": name, "description": "Does odd things."})


@pytest.mark.parametrize("name", ["odd", "odd-agent", "odd-2", "2-odd", "o"])
def test_a_name_of_lower_case_letters_digits_and_hyphens_is_taken(name):
    assert (
        type("Odd", (BaseLangGraphAgent,), {"name": name, "description": "Does odd things."}).__name__
        == "Odd"
    )


async def test_a_tool_may_be_marked_without_parentheses(tmp_path):
    class Bare(Namer):
        @agent_tool
        async def birds(self) -> str:
            """Tell the names of birds."""
            return "Heron"

    (tool,) = built(await Bare(_runtime(tmp_path)).tools())
    assert (tool.name, tool.description) == ("birds", "Tell the names of birds.")
    assert await tool.ainvoke({}) == "Heron"
