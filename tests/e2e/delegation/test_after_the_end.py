"""The end of a sub-task is its end, whatever its agent sends after it, and what it sends of other tasks is not its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.agents.peers import ask, connected
from tests.e2e.delegation.hostile import TASK, Body, Hostile, hostile
from tests.e2e.delegation.teams import model, results, supervising
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


def artifact(text: str, *, append: bool = False, **ids: str) -> dict[str, Any]:
    of = {"taskId": "t1", "contextId": "c1"} | ids
    return {
        "artifactUpdate": of | {"artifact": {"artifactId": "a", "parts": [{"text": text}]}, "append": append}
    }


def status(state: str, text: str = "", **ids: str) -> dict[str, Any]:
    of = {"taskId": "t1", "contextId": "c1"} | ids
    said = {"messageId": "m9", "role": "ROLE_AGENT", "parts": [{"text": text}]}
    stands = {"state": f"TASK_STATE_{state}"} | ({"message": said} if text else {})
    return {"statusUpdate": of | {"status": stands}}


def sending(*payloads: dict[str, Any], then: bytes = b"", holds: bool = False) -> Callable[[Hostile], Body]:
    async def body(agent: Hostile) -> Body:
        for payload in payloads:
            yield agent.event(payload)
        if then:
            yield then
        if holds:
            await asyncio.Event().wait()

    return body


BEGUN, ANSWER, DONE = {"task": TASK}, artifact("It is first."), status("COMPLETED")
STREAMS = {
    "more of the answer and a failure": sending(
        BEGUN, ANSWER, DONE, artifact("LATE", append=True), status("FAILED", "late fail")
    ),
    "another answer": sending(BEGUN, ANSWER, DONE, artifact("LATE")),
    "work": sending(BEGUN, ANSWER, DONE, status("WORKING", "LATE")),
    "a message": sending(
        BEGUN,
        ANSWER,
        DONE,
        {"message": {"messageId": "m8", "role": "ROLE_AGENT", "parts": [{"text": "LATE"}]}},
    ),
    "no JSON": sending(BEGUN, ANSWER, DONE, then=b"data: {LATE\r\n\r\n"),
    "nothing, without an end": sending(BEGUN, ANSWER, DONE, holds=True),
    "an answer of another task in between": sending(
        BEGUN, ANSWER, artifact("LATE", append=True, taskId="t2"), DONE
    ),
    "an answer of another context in between": sending(
        BEGUN, ANSWER, artifact("LATE", append=True, contextId="c2"), DONE
    ),
    "the end of another task in between": sending(
        BEGUN, status("FAILED", "LATE", taskId="t2", contextId="c2"), ANSWER, DONE
    ),
    "another task in between": sending(
        BEGUN,
        ANSWER,
        {"task": {"id": "t2", "contextId": "c1", "status": {"state": "TASK_STATE_FAILED"}}},
        DONE,
    ),
}


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
@pytest.mark.parametrize("body", STREAMS.values(), ids=STREAMS)
async def test_what_comes_after_the_end_or_of_another_task_changes_nothing(
    body: Callable[[Hostile], Body], binding: str
) -> None:
    supervisor = model([calls(call("odd", request="Dig")), "It says first."])
    async with (
        asyncio.timeout(60),
        hostile(body, binding=binding) as agent,
        supervising({"odd": agent.url}, supervisor) as url,
        connected(url) as client,
    ):
        answer = await ask(client, "Dig")
    assert answer.state == "completed"
    (result,) = results(supervisor, 1)
    assert "It is first." in result
    assert "LATE" not in result
    assert "late fail" not in result
    assert agent.asked == ["SendStreamingMessage"]
