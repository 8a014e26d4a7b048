"""What a model is sent when a client asks: its instruction names only tools that are offered with it."""

from __future__ import annotations

import re

import pytest

from agents.github.agent import GitHubAgent
from agents.rag.agent import RagAgent
from agents.template.agent import TemplateAgent
from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.agents.test_delegation import until_ready
from tests.style.test_prompts import FIELDS, QUOTED, SNAKE
from utils.a2a_common import BaseLangGraphAgent
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, ScriptedRequest

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

QUIET = {"EMBEDDINGS_PROVIDER": "none", "RAG_SOURCES": "none"}
_LISTED = re.compile(r"says what it can do: (.+)$", re.MULTILINE)


def unknown_names(request: ScriptedRequest) -> set[str]:
    """Names in the instruction of a model request that none of its tools or their arguments has."""
    known = set(FIELDS)
    for offered in request.tools:
        function = offered["function"]
        known |= {function["name"], *function["parameters"].get("properties", {})}
    instruction = str(request.messages[0].content)
    assert request.messages[0].type == "system"
    return {*QUOTED.findall(instruction), *SNAKE.findall(instruction)} - known


@pytest.mark.parametrize("agent", [GitHubAgent, RagAgent, TemplateAgent])
async def test_an_agents_prompt_names_only_tools_that_its_model_is_offered(
    agent: type[BaseLangGraphAgent],
) -> None:
    model = ScriptedModel.of("Hello.")
    async with running_agent(agent, environ=QUIET, model=model) as url, connected(url) as client:
        assert (await ask(client, "hello")).state == "completed"
    assert model.requests[0].tools
    assert unknown_names(model.requests[0]) == set()


async def test_the_supervisors_prompt_names_just_the_agents_that_its_model_is_offered() -> None:
    model = ScriptedModel.of("Hello.")
    async with running_agent(Keys, model=ScriptedModel.of()) as keys:
        environ = {"SUB_AGENTS": f"keys={keys},gone=http://127.0.0.1:9", "SUB_AGENT_WAIT_SECONDS": "0"}
        async with running_agent(PlatformEngineer, environ=environ, model=model) as url:
            await until_ready(url)
            async with connected(url) as client:
                assert (await ask(client, "hello")).state == "completed"
    request = model.requests[0]
    assert unknown_names(request) == set()
    (listed,) = _LISTED.findall(str(request.messages[0].content))
    assert listed.split(", ") == ["keys"] == [tool["function"]["name"] for tool in request.tools]
