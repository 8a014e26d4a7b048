"""What an agent sends and nobody can read is never dropped in silence: the task itself is looked at, else it is an error."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.unit.client.test_follow import IMPATIENT, connected
from utils.a2a_common.client.delegation.task_view import TaskView
from utils.a2a_common.client.stream.follow import follow_message
from utils.a2a_common.client.stream.message import user_message
from utils.a2a_common.client.stream.patience import Patience
from utils.a2a_common.client.transport.errors import NoProgress, OutcomeUnclear, UnusableAnswer, failure_of
from utils.testing.live_server import loopback_socket, running

pytestmark = [pytest.mark.listens, pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]

Json = dict[str, Any]


def _status(state: str, words: str = "") -> Json:
    said = {"message": {"messageId": f"m-{words}", "role": "ROLE_AGENT", "parts": [{"text": words}]}}
    return {"state": f"TASK_STATE_{state}"} | (said if words else {})


def task_of(state: str, words: str = "", *artifacts: str, history: Sequence[Json] = ()) -> Json:
    made = [{"artifactId": each, "name": each, "parts": [{"text": each}]} for each in artifacts]
    return {
        "id": "t",
        "contextId": "c",
        "status": _status(state, words),
        "artifacts": made,
        "history": [*history],
    }


def _said(role: str, words: str) -> Json:
    return {"messageId": f"h-{words}", "role": f"ROLE_{role}", "parts": [{"text": words}]}


BEGUN = {"task": task_of("SUBMITTED")}
COMPLETED = {"statusUpdate": {"taskId": "t", "contextId": "c", "status": _status("COMPLETED")}}
UNWRAPPED = [
    {"taskId": "t", "contextId": "c", "kind": "status-update", "status": _status("WORKING", "on it")},
    {
        "taskId": "t",
        "contextId": "c",
        "artifact": {"artifactId": "a", "parts": [{"text": "the answer"}]},
    },
]
WRONG_FILE = {"artifactId": "f", "parts": [{"raw": 5}]}
REFUSED = {"code": -32601, "message": "Method not found"}


class Speaker:
    """Says the same in each stream, and shows its task as the test says.

    Attributes:
        asked: The methods that were called.
    """

    def __init__(
        self, said: Sequence[Json], shown: Sequence[Json], renewed: Sequence[Json] | None = ()
    ) -> None:
        self._said, self._shown, self._renewed = said, [*shown], renewed
        self.url = ""
        self.asked: list[str] = []

    async def card(self, _request: Request) -> Response:
        own = {"url": f"{self.url}/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        return JSONResponse(
            {"name": "odd", "supportedInterfaces": [own], "capabilities": {"streaming": True}}
        )

    async def rpc(self, request: Request) -> Response:
        asked = await request.json()
        self.asked.append(asked["method"])
        match asked["method"]:
            case "SendStreamingMessage":
                return self._stream(self._said, asked["id"])
            case "SubscribeToTask" if self._renewed is not None:
                return self._stream(self._renewed, asked["id"])
            case "GetTask" if self._shown:
                shown = self._shown.pop(0) if len(self._shown) > 1 else self._shown[0]
                return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": shown})
            case _:
                return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "error": REFUSED})

    @staticmethod
    def _stream(said: Sequence[Json], id_: str) -> Response:
        events = [json.dumps({"jsonrpc": "2.0", "id": id_, "result": each}) for each in said]
        return Response("".join(f"data: {each}\n\n" for each in events), media_type="text/event-stream")


@asynccontextmanager
async def speaking(agent: Speaker) -> AsyncIterator[str]:
    listener = loopback_socket()
    agent.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    routes = [
        Route("/.well-known/agent-card.json", agent.card),
        Route("/", agent.rpc, methods=["POST"]),
    ]
    async with running(Starlette(routes=routes), listener=listener):
        yield agent.url


async def told(agent: Speaker, patience: Patience = IMPATIENT) -> TaskView:
    """What comes of one message to it."""
    task = TaskView()
    async with speaking(agent) as url, connected(url) as connection:
        async for event in follow_message(connection, user_message("go", context_id="c"), patience=patience):
            task.apply(event)
    return task


async def test_a_task_whose_stream_held_what_nobody_can_read_is_looked_at_before_it_counts_as_completed() -> (
    None
):
    agent = Speaker([BEGUN, *UNWRAPPED, COMPLETED], [task_of("COMPLETED", "", "the answer")])
    assert (await told(agent)).text() == "the answer"
    assert agent.asked == ["SendStreamingMessage", "GetTask"]


async def test_where_the_task_has_no_artifact_the_last_words_of_its_agent_are_the_answer() -> None:
    history = [_said("USER", "go"), _said("AGENT", "the answer")]
    shown = task_of("COMPLETED", "Task completed successfully", history=history)
    view = await told(Speaker([BEGUN, *UNWRAPPED], [shown]))
    assert view.text() == "the answer\nTask completed successfully"


async def test_a_question_is_not_told_with_what_its_agent_said_before() -> None:
    history = [_said("USER", "go"), _said("AGENT", "on it")]
    view = await told(Speaker([BEGUN, *UNWRAPPED], [task_of("INPUT_REQUIRED", "Which?", history=history)]))
    assert (view.waits, view.question) == (True, "Which?")


@pytest.mark.parametrize("shown", [[], [task_of("COMPLETED")]], ids=["does not show it", "shows no answer"])
async def test_an_answer_that_nobody_can_read_is_an_error_where_the_task_does_not_hold_it(
    shown: list[Json],
) -> None:
    with pytest.raises(OutcomeUnclear) as caught:
        await told(Speaker([BEGUN, *UNWRAPPED, COMPLETED], shown))
    assert isinstance(caught.value.lost, UnusableAnswer)
    failure = failure_of("odd", caught.value)
    assert "not A2A" in failure.message
    assert "neither a task nor a message" in failure.message


async def test_an_answer_of_which_nothing_can_be_read_is_told_as_that() -> None:
    with pytest.raises(OutcomeUnclear) as caught:
        await told(Speaker(UNWRAPPED, []))
    assert isinstance(caught.value.lost, UnusableAnswer)


async def test_a_task_that_cannot_be_read_is_asked_for_once_more_and_no_longer() -> None:
    shown = task_of("COMPLETED") | {"artifacts": [WRONG_FILE]}
    agent = Speaker([BEGUN], [shown])
    with pytest.raises(OutcomeUnclear) as caught:
        await told(agent, replace(IMPATIENT, away_seconds=3_600))
    assert agent.asked == ["SendStreamingMessage", "GetTask", "GetTask"]
    assert "raw" in failure_of("odd", caught.value).message


async def test_one_that_can_be_read_the_second_time_is_the_answer() -> None:
    wrong = task_of("COMPLETED") | {"artifacts": [WRONG_FILE]}
    assert (await told(Speaker([BEGUN], [wrong, task_of("COMPLETED", "", "fine")]))).text() == "fine"


async def test_a_task_that_shows_no_change_while_each_of_its_streams_ends_at_once_is_given_up() -> None:
    agent = Speaker([BEGUN], [task_of("WORKING")], renewed=[{"task": task_of("WORKING")}])
    patience = replace(IMPATIENT, quiet_seconds=3_600, left_seconds=0.2)
    with pytest.raises(NoProgress, match="ended its stream"):
        await told(agent, patience)
    assert agent.asked.count("GetTask") < 12  # each wait is longer than the one before


async def test_one_that_changes_is_followed_to_its_end() -> None:
    steps = [task_of("WORKING", f"step {number}") for number in range(30)]
    agent = Speaker(
        [BEGUN], [*steps, task_of("COMPLETED", "", "done")], renewed=[{"task": task_of("WORKING")}]
    )
    patience = replace(IMPATIENT, quiet_seconds=3_600, left_seconds=1.0)
    assert (await told(agent, patience)).text() == "done"


async def test_one_whose_agent_offers_no_stream_to_take_up_is_looked_at_until_the_deadline() -> None:
    agent = Speaker([BEGUN], [*[task_of("WORKING")] * 6, task_of("COMPLETED", "", "done")], renewed=None)
    patience = replace(IMPATIENT, quiet_seconds=3_600, left_seconds=0.0)
    assert (await told(agent, patience)).text() == "done"
