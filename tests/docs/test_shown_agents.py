"""Every agent that a page shows is served, and its example requests reach its tools with the offline model."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import pytest

from tests.docs.blocks import Block, all_blocks
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.agent_tool import AgentTool
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION
from utils.testing.contract.client import Seen, client_of
from utils.testing.live_agent import running_agent

pytestmark = pytest.mark.listens

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
    (block,) = [one for one in BLOCKS if "class Deploys" in one.text]
    with _module_of(block) as module:
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


def _tools(agent: type[BaseLangGraphAgent]) -> list[AgentTool]:
    return [one for one in vars(agent).values() if isinstance(one, AgentTool)]


def _began(seen: Seen) -> list[str]:
    """The tools that were begun in a turn."""
    told = [
        event.get("statusUpdate", {}).get("metadata", {}).get(ACTIVITY_EXTENSION, {}) for event in seen.events
    ]
    return [one["tool"] for one in told if one.get("kind") == "tool_started"]
