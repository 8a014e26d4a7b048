"""What an agent said in a stream that broke, where the task that is asked for afterwards shows none of it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from starlette.responses import Response

from multi_agents.platform_engineer.passed_files import BROKEN
from tests.e2e.agents.peers import ask, connected
from tests.e2e.delegation.hostile import COMPLETED, TASK, Body, Hostile, hostile
from tests.e2e.delegation.teams import model, results, supervising
from tests.support.passing_time import pass_seconds
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

HALF = {"artifactId": "a", "name": "response", "parts": [{"text": "half an answer"}]}
WHOLE = {"artifactId": "b", "name": "response", "parts": [{"text": "the whole answer"}]}


class Forgetful(Hostile):
    """Breaks its stream off after half an answer; its task is what a test says."""

    task: dict[str, Any]
    looked: asyncio.Event

    def _answer(self, method: str) -> Response:
        if method == "GetTask":
            self.looked.set()
            return Response(self.wrapped(self.task), media_type="application/json")
        if method == "SubscribeToTask":
            error = {"code": -32004, "message": "Streams are not taken up again."}
            told = {"jsonrpc": "2.0", "id": self.answered_id(), "error": error}
            return Response(json.dumps(told), media_type="application/json")
        return super()._answer(method)


async def half(agent: Hostile) -> Body:
    yield agent.event({"task": TASK})
    yield agent.event({"artifactUpdate": {"taskId": "t1", "contextId": "c1", "artifact": HALF}})


async def told(
    monkeypatch: pytest.MonkeyPatch,
    task: dict[str, Any],
    looked: asyncio.Event | None = None,
    **environ: str,
) -> str:
    """What the supervisor's model is told of such an agent; `looked` is set once its task is looked at."""
    monkeypatch.setattr(Forgetful, "task", task, raising=False)
    monkeypatch.setattr(Forgetful, "looked", looked or asyncio.Event(), raising=False)
    supervisor = model([calls(call("odd", request="Dig")), "So it is."])
    async with (
        hostile(half, made=Forgetful) as agent,
        supervising({"odd": agent.url}, supervisor, environ) as url,
        connected(url) as client,
    ):
        await ask(client, "Dig")
    return results(supervisor, 1)[0]


async def test_it_is_the_answer_of_a_task_that_ended_and_the_model_is_told_that_the_stream_broke(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert await told(monkeypatch, COMPLETED) == f"half an answer\n\n{BROKEN}"


async def test_the_message_of_the_end_stands_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    message = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "That was all."}]}
    ended = TASK | {"status": {"state": "TASK_STATE_COMPLETED", "message": message}}
    assert await told(monkeypatch, ended) == f"half an answer\n\nThat was all.\n\n{BROKEN}"


async def test_artifacts_of_the_task_itself_stand_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await told(monkeypatch, COMPLETED | {"artifacts": [WHOLE]}) == "the whole answer"


async def test_it_is_quoted_where_the_task_does_not_end_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = asyncio.Event()
    telling = asyncio.create_task(told(monkeypatch, TASK, looked, SUB_AGENT_TIMEOUT_SECONDS="60"))
    await looked.wait()
    pass_seconds(60)
    problem = json.loads(await telling)
    assert problem["error"] == "deadline_exceeded"
    assert 'It said: "half an answer"' in problem["note"]
