"""A change that was made while the storage failed: the end of the task does not ask anybody to try again."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from a2a.types.a2a_pb2 import GetTaskRequest

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import ask, connected
from tests.e2e.delegation.teams import supervising
from tests.e2e.wire.test_storage_faults import locked
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.tools.agent_tool import agent_tool
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.persistence import database
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(120)]


class Deployer(BaseLangGraphAgent):
    """Deploys and looks, each when it is let."""

    name = "deployer"
    description = "Deploys."

    def __init__(self, runtime: AgentRuntime) -> None:
        super().__init__(runtime)
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()
        MADE.append(self)

    @agent_tool()
    async def deploy(self, version: str) -> str:
        """Deploy a version."""
        return await self._when_let(f"{version} is deployed")

    @agent_tool(approval="deploy a version")
    async def deploy_approved(self, version: str) -> str:
        """Deploy a version once that is approved."""
        return await self._when_let(f"{version} is deployed")

    @agent_tool(read_only=True)
    async def look(self, version: str) -> str:
        """Look whether a version is deployed."""
        return await self._when_let(f"{version} is there")

    async def _when_let(self, result: str) -> str:
        self.begun.set()
        await self.go_on.wait()
        return result


MADE: list[Deployer] = []


@pytest.mark.parametrize(
    ("tool", "code", "sentence"),
    [
        ("deploy", "unknown_outcome", "What deploy returned could not be stored"),
        ("look", "storage_failed", "Another program holds a file of this agent, so nothing can be stored"),
    ],
)
@pytest.mark.long
async def test_a_task_whose_storage_failed_after_a_change_began_ends_with_an_unknown_outcome(
    tmp_path: Path, tool: str, code: str, sentence: str
) -> None:
    model = ScriptedModel(script=[calls(call(tool, version="1.2")), " ".join(map(str, range(3_000)))])
    async with running_agent(Deployer, home=tmp_path, model=model) as url, connected(url) as client:
        answering = asyncio.create_task(ask(client, "deploy 1.2"))
        await MADE[-1].begun.wait()
        with locked(tmp_path / "deployer" / "tasks.sqlite"):
            MADE[-1].go_on.set()
            answer = await answering
        stored = await client.get_task(GetTaskRequest(id=answer.task_id))
    assert answer.state == "failed"
    error = answer.metadata(ERROR_EXTENSION)[0]
    assert error["code"] == code
    assert len(error["trace_id"]) == 32
    assert error["retryable"] is (code == "storage_failed")
    assert sentence in answer.last_words
    assert sentence in stored.status.message.parts[0].text
    assert "Try again" not in answer.last_words


def deploying(tool: str) -> ScriptedModel:
    return ScriptedModel(script=[calls(call(tool, version="1.2")), "It is done."])


@pytest.mark.parametrize(
    ("tool", "sentence"),
    [
        (
            "deploy_approved",
            "What deployer returned could not be stored: whether the change was made is unknown",
        ),
        (
            "deploy",
            "deployer may have done what was asked for: if that was a change, check whether it was made",
        ),
    ],
    ids=["the agent was told the yes", "the agent was asked"],
)
async def test_a_supervisor_whose_storage_failed_while_its_agent_was_at_a_change_asks_nobody_to_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, sentence: str
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.2)
    top = ScriptedModel(script=[calls(call("deployer", request="Deploy 1.2")), "Deployed."])
    async with (
        running_agent(Deployer, model=deploying(tool)) as agent,
        supervising({"deployer": agent}, top, home=tmp_path) as url,
        connected(url) as client,
    ):
        said, named = "Deploy 1.2", {}
        if tool == "deploy_approved":
            asked = await ask(client, said)
            said = "yes"
            named = {"task_id": asked.task_id, "context_id": asked.context_id, "nonce": asked.nonce}
        answering = asyncio.create_task(ask(client, said, **named))
        await MADE[-1].begun.wait()
        with locked(tmp_path / PlatformEngineer.name / "tasks.sqlite"):
            MADE[-1].go_on.set()
            answer = await answering
    assert answer.state == "failed"
    error = answer.metadata(ERROR_EXTENSION)[0]
    assert (error["code"], error["retryable"]) == ("unknown_outcome", False)
    assert sentence in answer.last_words
    assert "ry again" not in answer.last_words


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Let a file take no change of a task, as one on a disk with a fault."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=20)) as other:
        other.execute("CREATE TRIGGER fault BEFORE INSERT ON tasks BEGIN SELECT RAISE(FAIL, 'disk'); END")
        try:
            yield
        finally:
            other.execute("DROP TRIGGER fault")


async def test_a_yes_that_the_agent_cannot_store_comes_back_with_its_question_and_counts_when_it_is_said_again(
    tmp_path: Path,
) -> None:
    top = ScriptedModel(script=[calls(call("deployer", request="Deploy 1.2")), "Deployed."])
    async with (
        running_agent(Deployer, model=deploying("deploy_approved"), home=tmp_path) as agent,
        supervising({"deployer": agent}, top) as url,
        connected(url) as client,
    ):
        asked = await ask(client, "Deploy 1.2")
        named = {"task_id": asked.task_id, "context_id": asked.context_id}
        with refusing(tmp_path / Deployer.name / "tasks.sqlite"):
            again = await ask(client, "yes", nonce=asked.nonce, **named)
        assert again.state == "input_required"
        assert "The deployer agent can store nothing right now, so it took no message" in again.last_words
        assert "It still waits for your answer; nothing was done with it" in again.last_words
        assert not MADE[-1].begun.is_set()
        MADE[-1].go_on.set()
        done = await ask(client, "yes", nonce=again.nonce, **named)
    assert done.state == "completed"
    assert MADE[-1].begun.is_set()
