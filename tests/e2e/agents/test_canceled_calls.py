"""A task that is stopped during a call that may change something says so: a thread goes on, and what was sent is sent."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from a2a.client import Client
from a2a.types.a2a_pb2 import CancelTaskRequest, ListTasksRequest, Task, TaskState

from tests.e2e.agents.peers import Answer, ask, connected
from tests.e2e.delegation.teams import model, supervising
from tests.support.passing_time import pass_seconds
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.client.delegation import abandoned
from utils.a2a_common.client.delegation.task_view import TaskView
from utils.a2a_common.client.stream.decode import decode_task
from utils.a2a_common.graph.questions.asked_by_tools import ask_user
from utils.a2a_common.graph.tools.agent_tool import agent_tool
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION, TaskError
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

LIMIT = 60
LIMITED = {"TURN_TIMEOUT_SECONDS": str(LIMIT)}
"""A turn may take longer than a machine stalls: tests let the time pass."""


@dataclass
class Floor:
    """Where the calls of a test stand."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    let: threading.Event = field(default_factory=threading.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)


FLOORS: list[Floor] = []


@pytest.fixture
async def floor() -> AsyncIterator[Floor]:
    FLOORS.append(Floor())
    yield FLOORS[-1]
    FLOORS[-1].let.set()


class Deployer(BaseLangGraphAgent):
    """Deploys and looks, in threads and without."""

    name = "deployer"
    description = "Deploys versions."

    @agent_tool(examples=["Deploy 1.2"])
    def deploy(self, version: str) -> str:
        """Deploy a version."""
        return _in_thread(version)

    @agent_tool(read_only=True)
    def look(self, version: str) -> str:
        """Look whether a version is deployed."""
        return _in_thread(version)

    @agent_tool()
    async def send(self, version: str) -> str:
        """Send a version."""
        FLOORS[-1].begun.set()
        await asyncio.Event().wait()
        return version

    @agent_tool()
    async def asked(self, version: str) -> str:
        """Deploy a version once the user says where."""
        return ask_user("Where?").text + version


def _in_thread(version: str) -> str:
    floor = FLOORS[-1]
    floor.loop.call_soon_threadsafe(floor.begun.set)
    floor.let.wait()
    floor.loop.call_soon_threadsafe(floor.done.set)
    return version


def canceled(task: Task) -> TaskView:
    assert task.status.state == TaskState.TASK_STATE_CANCELED
    view = TaskView()
    for event in decode_task(task):
        view.apply(event)
    return view


async def stopped(client: Client, floor: Floor) -> tuple[TaskView, Answer]:
    """A task as it is told whoever cancels it, and whoever follows it."""
    following = asyncio.create_task(ask(client, "Deploy 1.2"))
    async with asyncio.timeout(60):
        await floor.begun.wait()
        task = (await client.list_tasks(ListTasksRequest())).tasks[0]
        view = canceled(await client.cancel_task(CancelTaskRequest(id=task.id)))
        return view, await following


UNKNOWN = "{} was still under way: whether it had its effect, or still has it later, is unknown. Find out before you ask again."


@pytest.mark.parametrize("tool", ["deploy", "send"])
async def test_a_task_that_is_canceled_during_a_change_says_that_its_outcome_is_unknown(
    floor: Floor, tool: str
) -> None:
    scripted = ScriptedModel(script=[calls(call(tool, version="1.2"))])
    async with running_agent(Deployer, model=scripted) as url, connected(url) as client:
        view, answer = await stopped(client, floor)
        if tool == "deploy":  # nothing could stop it
            floor.let.set()
            await floor.done.wait()
    assert view.status_text == answer.last_words == f"Canceled. {UNKNOWN.format(tool)}"
    assert isinstance(view.error, TaskError)
    assert (view.error.code, view.error.message) == ("unknown_outcome", UNKNOWN.format(tool))
    assert not view.error.retryable


async def test_a_task_that_is_canceled_while_it_only_reads_is_simply_canceled(floor: Floor) -> None:
    scripted = ScriptedModel(script=[calls(call("look", version="1.2"))])
    async with running_agent(Deployer, model=scripted) as url, connected(url) as client:
        view, answer = await stopped(client, floor)
    assert (view.status_text, view.error, answer.last_words) == ("", None, "")


async def test_a_task_that_is_canceled_while_it_asks_before_a_change_is_simply_canceled() -> None:
    scripted = ScriptedModel(script=[calls(call("asked", version="1.2"))])
    async with running_agent(Deployer, model=scripted) as url, connected(url) as client:
        waiting = await ask(client, "Deploy 1.2")
        view = canceled(await client.cancel_task(CancelTaskRequest(id=waiting.task_id)))
    assert view.error is None


async def test_a_turn_that_takes_too_long_during_a_change_asks_nobody_to_try_again(floor: Floor) -> None:
    scripted = ScriptedModel(script=[calls(call("deploy", version="1.2"))])
    async with running_agent(Deployer, model=scripted, environ=LIMITED) as url, connected(url) as client:
        asking = asyncio.create_task(ask(client, "Deploy 1.2"))
        await floor.begun.wait()
        pass_seconds(LIMIT)
        answer = await asking
    assert answer.state == "failed"
    assert answer.last_words == f"This took longer than it may. {UNKNOWN.format('deploy')}"


@pytest.mark.parametrize(
    ("tool", "code", "words"),
    [
        ("deploy", "unknown_outcome", "deploy had been called: whether the change was made is unknown."),
        ("look", "deadline_exceeded", "Nothing is lost: ask for a part of it, or try again."),
    ],
)
async def test_a_turn_that_takes_too_long_after_a_call_that_ended_advises_a_retry_only_if_that_changed_nothing(
    floor: Floor, tool: str, code: str, words: str
) -> None:
    floor.let.set()
    asked = asyncio.Event()
    never = ScriptedReply(text="Done.", started=asked, gate=asyncio.Event())
    scripted = ScriptedModel(script=[calls(call(tool, version="1.2")), never])
    async with running_agent(Deployer, model=scripted, environ=LIMITED) as url, connected(url) as client:
        asking = asyncio.create_task(ask(client, "Deploy 1.2"))
        await asked.wait()
        pass_seconds(LIMIT)
        answer = await asking
    assert floor.done.is_set()
    assert answer.metadata(ERROR_EXTENSION)[0]["code"] == code
    assert answer.last_words.startswith(f"This took longer than it may. {words}")


ASKED = "deployer may have done what was asked for: if that was a change, check whether it was made before you ask again."


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ({"gate": asyncio.Event()}, "This took longer than it may."),
        ({"error": RuntimeError("the model's client failed")}, "Internal error in the agent."),
    ],
    ids=["takes too long", "crashes"],
)
async def test_a_supervisor_that_fails_after_it_asked_an_agent_asks_nobody_simply_to_try_again(
    floor: Floor, end: dict[str, Any], words: str
) -> None:
    floor.let.set()
    below = ScriptedModel(script=[calls(call("deploy", version="1.2")), "It is deployed."])
    asked = asyncio.Event()
    top = model([calls(call("deployer", request="Deploy 1.2")), ScriptedReply(started=asked, **end)])
    async with (
        running_agent(Deployer, model=below) as agent,
        supervising({"deployer": agent}, top, LIMITED) as url,
        connected(url) as client,
    ):
        asking = asyncio.create_task(ask(client, "Deploy 1.2"))
        await asked.wait()
        if "gate" in end:
            pass_seconds(LIMIT)
        answer = await asking
    assert floor.done.is_set()
    error = answer.metadata(ERROR_EXTENSION)[0]
    assert (error["code"], error["retryable"]) == ("unknown_outcome", False)
    assert answer.last_words.startswith(words)
    assert ASKED in answer.last_words
    assert "ry again" not in answer.last_words


async def test_a_supervisor_that_is_canceled_tells_what_its_agent_does_not_know(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        abandoned, "CANCEL_SECONDS", LIMIT
    )  # of an agent that does not answer nothing is told
    below, top = (
        ScriptedModel(script=[calls(call("deploy", version="1.2"))]),
        model([calls(call("deployer", request="Deploy 1.2"))]),
    )
    async with (
        running_agent(Deployer, model=below) as agent,
        supervising({"deployer": agent}, top) as url,
        connected(url) as client,
    ):
        view, answer = await stopped(client, floor)
    assert view.error is not None
    assert view.error.code == "unknown_outcome"
    assert view.status_text == answer.last_words
    assert view.status_text.startswith("Canceled. The deployer agent was stopped during something")
    assert f'It said: "{UNKNOWN.format("deploy")}"' in view.status_text
