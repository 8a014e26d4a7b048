from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver

from agents.github.agent import GitHubAgent
from agents.github.tools import SPECS
from agents.github.tools.arguments import SHARED_ARGUMENTS
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings

MOST_CHARACTERS = 9_600


@pytest.fixture
async def agent(tmp_path: Path, request):
    runtime = AgentRuntime(
        home=tmp_path,
        settings=AgentSettings.load({"GITHUB_WRITE": getattr(request, "param", "false")}),
        model=FakeListChatModel(responses=["done"]),
        checkpointer=InMemorySaver(),
    )
    agent = GitHubAgent(runtime)
    await agent.start()
    yield agent
    await agent.stop()


def sent(tool) -> dict[str, Any]:
    schema: dict[str, Any] = convert_to_openai_tool(tool)["function"]["parameters"]
    return schema


async def test_all_schemas_together_are_short(agent):
    await agent.build()
    schemas = [convert_to_openai_tool(tool) for tool in agent._built.tools]
    assert len(schemas) == len(SPECS) + 1
    assert len(json.dumps(schemas)) <= MOST_CHARACTERS


@pytest.mark.parametrize("agent", ["true"], indirect=True)
async def test_no_argument_is_lost_and_each_is_explained_somewhere(agent):
    explained = set(re.findall(r"`([^`]+)`", agent.system_prompt()))
    for tool in await agent.tools():
        schema, whole = sent(tool), tool.args_schema.model_json_schema()
        assert set(schema["properties"]) == set(whole["properties"])
        assert schema.get("required", []) == whole.get("required", [])
        for name, shape in schema["properties"].items():
            assert "type" in shape
            assert shape.get("description") or shape.get("enum") or name in explained, f"{tool.name}.{name}"


async def test_an_argument_that_may_be_left_out_is_no_choice_of_null(agent):
    assert "null" not in json.dumps([sent(tool) for tool in await agent.tools()])


async def test_choices_keep_their_values_and_their_default(agent):
    tool = next(tool for tool in await agent.tools() if tool.name == "list_pull_requests")
    assert sent(tool)["properties"]["state"] == {
        "default": "open",
        "enum": ["open", "closed", "merged", "all"],
        "type": "string",
    }


async def test_a_bound_that_is_not_sent_still_holds(agent):
    tool = next(tool for tool in await agent.tools() if tool.name == "list_pull_requests")
    assert "maximum" not in sent(tool)["properties"]["limit"]
    with pytest.raises(ValueError, match="less than or equal to 1000"):
        await tool.ainvoke({"owner": "octocat", "repo": "hello-world", "limit": 5_000})


def test_only_arguments_that_the_prompt_explains_are_sent_bare():
    prompt = (Path(__file__).parents[3] / "agents/github/prompts/system.md").read_text("utf-8")
    choices = {"state", "sort"}
    assert set(re.findall(r"`([^`]+)`", prompt)) >= SHARED_ARGUMENTS - choices
