from __future__ import annotations

import re
from pathlib import Path

import pytest
from langchain_core.language_models import FakeListChatModel
from langgraph.checkpoint.memory import InMemorySaver

from agents.github.agent import GitHubAgent
from agents.github.settings import GitHubSettings
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.protocol.request import AgentRequest
from utils.errors import ChangeRefused, SettingsError
from utils.events import Completed, Failed
from utils.messages.results import Items, parse_result
from utils.testing.scripted_model import ScriptedModel, call, calls

SHARED_WORDS = {"total", "note", "source"}


@pytest.fixture
async def agent(tmp_path: Path, github):
    runtime = AgentRuntime(
        home=tmp_path,
        settings=AgentSettings.load({"GITHUB_API_URL": github.url}),
        model=FakeListChatModel(responses=["done"]),
        checkpointer=InMemorySaver(),
    )
    agent = GitHubAgent(runtime)
    await agent.start()
    yield agent
    await agent.stop()


async def test_the_prompt_names_only_tools_and_arguments_that_exist(agent):
    tools = await agent.tools()
    known = {tool.name for tool in tools} | {name for tool in tools for name in tool.args} | SHARED_WORDS
    named = set(re.findall(r"`([^`]+)`", agent.system_prompt()))
    assert named
    assert named <= known


async def test_descriptions_name_only_arguments_that_exist(agent):
    for tool in await agent.tools():
        schema = tool.args_schema.model_json_schema()
        assert set(schema["properties"]) == set(tool.args)
        for name, argument in schema["properties"].items():
            assert argument.get("description"), f"{tool.name}.{name} has no description"


async def test_every_tool_has_five_different_examples(agent):
    seen: set[str] = set()
    for tool in await agent.tools():
        examples = tool.metadata["examples"]
        assert len(examples) >= 5
        assert seen.isdisjoint(examples)
        seen.update(examples)


async def test_the_card_offers_what_the_tools_do(agent):
    assert [skill.id for skill in agent.skills] == [tool.name for tool in await agent.tools()]
    assert all(skill.examples for skill in agent.skills)


async def test_an_answer_of_a_tool_reads_from_the_configured_github(agent, github):
    tool = next(tool for tool in await agent.tools() if tool.name == "list_pull_requests")
    assert '"total":60' in await tool.ainvoke({"owner": "octocat", "repo": "hello-world"})
    assert github.recorder.requests


async def test_no_tool_writes(agent, github):
    names = [tool.name for tool in await agent.tools() if not tool.metadata["changes"]]
    assert all(name.startswith(("get_", "list_", "search_")) for name in names)
    (refuse,) = [tool for tool in await agent.tools() if tool.name not in names]
    with pytest.raises(ChangeRefused):
        await refuse.ainvoke({})
    assert github.recorder.requests == []


@pytest.mark.parametrize(
    "variable, value",
    [("GITHUB_API_URL", "api.github.com"), ("GITHUB_TIMEOUT_SECONDS", "0"), ("GITHUB_MAX_ITEMS", "many")],
)
def test_a_wrong_setting_is_named(variable, value):
    with pytest.raises(SettingsError) as caught:
        GitHubSettings.load({variable: value})
    assert caught.value.variable == variable


def test_an_empty_token_is_no_token():
    assert GitHubSettings.load({"GITHUB_TOKEN": " "}).token is None
    assert GitHubSettings.load({}).api_url == "https://api.github.com"


async def answer_of(agent: GitHubAgent, text: str) -> list[object]:
    request = AgentRequest(text=text, task_id="t", context_id="c", message_id="m", thread_id="th")
    return [event async for event in agent.stream(request)]


def scripted_agent(tmp_path: Path, url: str, *script: object) -> tuple[GitHubAgent, ScriptedModel]:
    model = ScriptedModel(script=list(script))
    runtime = AgentRuntime(
        home=tmp_path,
        settings=AgentSettings.load({"GITHUB_API_URL": url, "GITHUB_MAX_RETRIES": "0"}),
        model=model,
        checkpointer=InMemorySaver(),
    )
    return GitHubAgent(runtime), model


async def test_a_model_sees_the_projected_rows_of_a_call(tmp_path, github):
    calling = calls(call("list_pull_requests", owner="octocat", repo="hello-world"))
    agent, model = scripted_agent(tmp_path, github.url, calling, "There are 60.")
    events = await answer_of(agent, "How many open pull requests?")
    await agent.stop()
    assert isinstance(events[-1], Completed)
    shown = parse_result(str(model.requests[1].messages[-1].content))
    assert isinstance(shown, Items)
    assert shown.total == 60


async def test_a_github_that_is_down_fails_the_turn_as_unavailable(tmp_path):
    calling = calls(call("list_pull_requests", owner="octocat", repo="hello-world"))
    agent, _ = scripted_agent(tmp_path, "http://127.0.0.1:9", calling, "I could not read it.")
    events = await answer_of(agent, "List the open pull requests")
    await agent.stop()
    assert isinstance(events[-1], Failed)
    assert events[-1].code == "upstream_unavailable"
    assert "GitHub cannot be reached" in events[-1].message
