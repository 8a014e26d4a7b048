"""A conversation that called a tool which is offered no more goes on, also where the provider takes no call of a tool that is not declared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from langchain_core.tools import BaseTool, tool
from pydantic import BaseModel

from tests.e2e.agents.peers import ask, connected
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.testing.live_agent import running_agent
from utils.testing.strict_provider import Call, ChatRequest, Reply, run_strict_provider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"It rains in {city}."


@tool
def clock() -> str:
    """The time."""
    return "Noon."


class Early(BaseLangGraphAgent):
    """An agent as it was."""

    name = "reporter"
    description = "Reports."

    async def tools(self) -> Sequence[BaseTool]:
        return [weather, clock]


class Late(Early):
    """The same after an upgrade: it has a tool less."""

    async def tools(self) -> Sequence[BaseTool]:
        return [clock]


class Bare(Early):
    """The same without any tool of its own."""

    async def tools(self) -> Sequence[BaseTool]:
        return []


def brain(request: ChatRequest) -> Reply:
    last = request.messages[-1]
    if last.role != "tool" and ("eather" in request.last_user_text):
        return Reply("", [Call(f"c{len(request.messages)}", "weather", {"city": "Oslo"})])
    return Reply(f"Answered after {last.role}.")


@pytest.mark.parametrize("later", [Late, Bare])
@pytest.mark.parametrize("provider", ["openai", "aws-bedrock", "anthropic", "google-gemini"])
async def test_the_conversation_goes_on_and_a_call_of_the_tool_is_answered(
    tmp_path: Path, provider: str, later: type[BaseLangGraphAgent]
) -> None:
    with run_strict_provider() as double:
        double.reset(brain)
        environ = double.environment(provider)
        async with running_agent(Early, home=tmp_path, environ=environ) as url, connected(url) as client:
            first = await ask(client, "Weather?")
            assert first.text == "Answered after tool."
        async with running_agent(later, home=tmp_path, environ=environ) as url, connected(url) as client:
            plain = await ask(client, "Thanks.", context_id=first.context_id)
            assert (plain.state, plain.text) == ("completed", "Answered after user.")
            again = await ask(client, "The weather once more.", context_id=first.context_id)
            assert again.text == "Answered after tool."
        assert double.rejections == []


class Verdict(BaseModel):
    """Whether it is safe."""

    safe: bool


class Judge(Early):
    """An agent whose answers have a form."""

    name = "judge"
    description = "Judges."
    answer_schema = Verdict


async def test_a_form_that_is_filled_by_a_tool_is_no_tool_that_was_withdrawn(tmp_path: Path) -> None:
    with run_strict_provider() as double:
        double.reset(
            lambda request: Reply("", [Call(f"c{len(request.messages)}", "Verdict", {"safe": True})])
        )
        environ = double.environment("google-gemini")
        async with running_agent(Judge, home=tmp_path, environ=environ) as url, connected(url) as client:
            first = await ask(client, "Safe?")
            second = await ask(client, "And now?", context_id=first.context_id)
        assert [first.state, second.state] == ["completed", "completed"]
        declared = [each.name for each in double.requests[-1].tools]
        assert double.rejections == []
    assert declared.count("Verdict") == 1
