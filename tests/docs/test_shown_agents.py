"""Every agent that a page shows is served, and its example requests reach its tools with the offline model."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.blocks import Block, all_blocks
from tests.preloaded import process as preloaded
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.tools.agent_tool import AgentTool
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION
from utils.testing.contract.client import Seen, client_of
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.listens

SECONDS = 280
ENVIRON = {
    "EMBEDDINGS_PROVIDER": "none",
    "SUB_AGENTS": "nobody=http://127.0.0.1:9",
    "SUB_AGENT_WAIT_SECONDS": "0",
}
BLOCKS = [
    block
    for block in all_blocks("python")
    if "file" not in block.options
    and ("(BaseLangGraphAgent)" in block.text or "(PlatformEngineer)" in block.text)
]


@contextmanager
def _module_of(block: Block) -> Iterator[ModuleType]:
    """A block that has run as a module of its own, where the types of its tools are looked up."""
    module = ModuleType(f"shown_{block.line}")
    sys.modules[module.__name__] = module
    exec(compile(block.text, str(block), "exec"), vars(module))
    yield module
    del sys.modules[module.__name__]


@pytest.fixture
def shown(block: Block) -> Iterator[list[type[BaseLangGraphAgent]]]:
    """The agents that a block defines."""
    with _module_of(block) as module:
        yield [
            value
            for value in vars(module).values()
            if isinstance(value, type)
            and issubclass(value, BaseLangGraphAgent)
            and value.__module__ == module.__name__
        ]


def test_pages_show_agents() -> None:
    assert any("class Deploys" in block.text for block in BLOCKS)


@pytest.mark.parametrize("block", BLOCKS, ids=str)
async def test_an_agent_of_a_page_starts_and_each_example_reaches_its_tool(
    block: Block, shown: list[type[BaseLangGraphAgent]]
) -> None:
    assert shown
    for agent in shown:
        if agent.answer_schema is not None:
            continue  # it needs a model that fills forms, as the page says
        async with running_agent(agent, environ=ENVIRON) as url, client_of(url) as client:
            assert (await client.card())["name"] == agent.name
            for tool in _tools(agent):
                for example in tool.examples:
                    seen = await client.ask(example)
                    assert _began(seen) == [tool.name], f"{example!r} ended with {seen.events[-1]}"


async def test_the_page_s_agent_asks_before_a_change_and_makes_it() -> None:
    with _module_of(_showing("class Deploys")) as module:
        async with running_agent(module.Deploys, environ=ENVIRON) as url, client_of(url) as client:
            asked = await client.ask("Restart billing")
            question = asked.events[-1]["statusUpdate"]["status"]["message"]
            of_the_change = {"contextId": asked.task["contextId"], "taskId": asked.task["id"]}
            done = await client.ask("yes", metadata=question["metadata"], **of_the_change)
            which = await client.ask("Which version of billing runs?")
            told = await client.ask("staging", contextId=which.task["contextId"], taskId=which.task["id"])
    assert "May I restart a service?" in question["parts"][0]["text"]
    assert '"service": "billing"' in question["parts"][0]["text"]
    assert "billing was restarted." in done.text
    assert "billing 1.2 in staging" in told.text


async def test_the_page_s_state_of_its_own_bears_two_calls_in_one_reply() -> None:
    model = ScriptedModel.of(
        calls(call("put", thing="tea"), call("put", thing="milk")),
        "Both are in it.",
        calls(call("put", thing="bread")),
        calls(call("look")),
        "Three things.",
    )
    with _module_of(_showing("class Shop")) as module:
        async with running_agent(module.Shop, environ=ENVIRON, model=model) as url, client_of(url) as client:
            both = await client.ask("Put tea and milk into the basket")
            further = await client.ask("Put bread into it. What is in it?", context_id=both.task["contextId"])
    assert (both.states[-1], both.text) == ("completed", "Both are in it.")
    assert (further.states[-1], further.text) == ("completed", "Three things.")
    assert model.requests[-1].messages[-1].text == "tea, milk, bread"


@pytest.mark.processes
@pytest.mark.parametrize(
    "settings",
    [
        pytest.param("", id="none"),
        pytest.param("[pytest]\nasyncio_mode = auto\n", id="auto", marks=pytest.mark.long),
    ],
)
@pytest.mark.long
def test_the_page_s_contract_test_runs_outside_the_repository_whatever_the_settings_of_pytest(
    tmp_path: Path, settings: str
) -> None:
    (tmp_path / "pytest.ini").write_text(settings or "[pytest]\n", "utf-8")
    (tmp_path / "test_namer.py").write_text(_showing("(AgentContract)").text, "utf-8")
    chosen = ["-k", "card or crash_of_the_model or question_waits", "-p", "no:cacheprovider", "-q"]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV"))}
    done = preloaded.run(["-m", "pytest", *chosen, "test_namer.py"], cwd=tmp_path, env=env, timeout=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


def _showing(text: str) -> Block:
    """The one block of the pages' agents that holds a text."""
    (block,) = [one for one in BLOCKS if text in one.text]
    return block


def _tools(agent: type[BaseLangGraphAgent]) -> list[AgentTool]:
    return [one for one in vars(agent).values() if isinstance(one, AgentTool)]


def _began(seen: Seen) -> list[str]:
    """The tools that were begun in a turn."""
    told = [
        event.get("statusUpdate", {}).get("metadata", {}).get(ACTIVITY_EXTENSION, {}) for event in seen.events
    ]
    return [one["tool"] for one in told if one.get("kind") == "tool_started"]
