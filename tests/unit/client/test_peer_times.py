"""A time of a status without a zone is read as UTC, and nothing else of an answer is touched."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.client.test_follow import IMPATIENT
from tests.unit.client.test_unreadable import BEGUN, Speaker, speaking, task_of
from utils.a2a_common.client.delegation.task_view import TaskView
from utils.a2a_common.client.stream.follow import follow_message
from utils.a2a_common.client.stream.message import user_message
from utils.a2a_common.client.transport.connection import Connection, fetch_card, http_client
from utils.a2a_common.client.transport.limits import PeerLimits
from utils.a2a_common.client.transport.times import in_utc

BARE = "2026-11-28T14:25:00.342014"


def _status(time: str) -> dict[str, Any]:
    return {"state": "TASK_STATE_COMPLETED", "timestamp": time}


@pytest.mark.parametrize(
    "answer",
    [
        {"jsonrpc": "2.0", "id": 1, "result": {"task": {"id": "t", "status": _status(BARE)}}},
        {"jsonrpc": "2.0", "id": 1, "result": {"kind": "task", "status": _status(BARE)}},
        {"result": {"tasks": [{"status": _status(BARE)}, {"status": _status("2026-11-28T14:25:00")}]}},
        {"statusUpdate": {"taskId": 't "}{', "status": _status(BARE)}},
        {"task": {"artifacts": [{"parts": [{"text": 'a "timestamp": "x'}]}], "status": _status(BARE)}},
    ],
)
def test_a_time_of_a_status_gets_its_zone(answer: dict[str, Any]) -> None:
    body = json.dumps(answer).encode()
    read = json.loads(in_utc(body))
    assert json.dumps(read).replace('Z"', '"') == body.decode()
    assert json.dumps(read).count('Z"') == body.count(b'"2026-')


def test_so_does_each_of_several_events_of_a_stream() -> None:
    event = json.dumps({"result": {"statusUpdate": {"status": _status(BARE)}}})
    stream = f': "a comment\n\nevent: message\ndata: {event}\n\ndata: {event}\n\n'
    assert in_utc(stream.removeprefix(': "a comment\n\n').encode()).count(b'014Z"') == 2


@pytest.mark.parametrize(
    "answer",
    [
        {"task": {"status": _status(f"{BARE}Z")}},
        {"task": {"status": _status(f"{BARE}+02:00")}},
        {"task": {"status": _status("today")}},
        {"task": {"metadata": {"status": _status(BARE)}}},
        {"task": {"artifacts": [{"parts": [{"data": {"status": {"timestamp": BARE}}}]}]}},
        {"task": {"timestamp": BARE}},
        {"task": {"artifacts": [{"parts": [{"text": json.dumps({"status": _status(BARE)})}]}]}},
    ],
)
def test_everything_else_stays_as_it_came(answer: dict[str, Any]) -> None:
    body = json.dumps(answer).encode()
    assert in_utc(body) == body


def test_a_time_deeper_than_any_status_stands_stays_as_it_came_so_that_no_depth_takes_long() -> None:
    body = b'{"status": ' * 7 + json.dumps(_status(BARE)).encode() + b"}" * 7
    assert in_utc(body) == body


@pytest.mark.listens
@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
async def test_the_task_of_an_agent_that_sends_such_times_is_read() -> None:
    shown = task_of("COMPLETED", "", "done")
    shown["status"]["timestamp"] = BARE
    begun = {"task": BEGUN["task"] | {"status": {"state": "TASK_STATE_SUBMITTED", "timestamp": BARE}}}
    agent = Speaker([begun, {"task": shown}], [])
    task = TaskView()
    async with speaking(agent) as url, http_client(url, PeerLimits("odd")) as http:
        connection = Connection.open("odd", await fetch_card(http, url), http)
        async for event in follow_message(connection, user_message("go", context_id="c"), patience=IMPATIENT):
            task.apply(event)
    assert task.text() == "done"
    assert agent.asked == ["SendStreamingMessage"]
