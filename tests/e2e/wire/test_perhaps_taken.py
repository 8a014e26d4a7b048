"""A message whose turn was stored before the database went away is not told as one to be sent again."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import grpc
import grpc.aio
import pytest
from a2a.types import a2a_pb2, a2a_pb2_grpc

from tests.e2e.wire.agents import Stage, echo
from tests.e2e.wire.test_push import PRIVATE
from tests.e2e.wire.test_refusals import HTTP, rpc
from tests.e2e.wire.wiring import HEADERS, Wire, message, serving, state
from utils.a2a_common.protocol.retry_later import PERHAPS_TAKEN
from utils.a2a_common.server.push.store import PushConfigs
from utils.a2a_common.tasks.entries import Entry
from utils.a2a_common.tasks.log import TaskLog
from utils.persistence.postgres.errors import DatabaseUnreachable
from utils.persistence.task_log_memory import MemoryTaskLogStore

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


class Unread(TaskLog):
    """A log of a turn that another replica runs: while the database is away, it takes turns no more and shows none."""

    def __init__(self) -> None:
        super().__init__(MemoryTaskLogStore())
        self.away = True

    async def read(
        self, task_id: str, owner: str, *, after: int = 0, stream: bool = False
    ) -> AsyncGenerator[Entry, None]:
        """Follow a task."""
        if self.away:
            raise DatabaseUnreachable("The database cannot be reached. Try again in a moment.")
        async for entry in super().read(task_id, owner, after=after, stream=stream):
            yield entry


async def only_task(wire: Wire) -> dict[str, Any]:
    (task,) = (await wire.rpc("ListTasks"))["result"]["tasks"]
    return dict(task)


@pytest.mark.parametrize("way", HTTP)
async def test_over_http_it_is_told_that_the_message_may_have_been_taken_and_as_which_task(way: str) -> None:
    path, body, headers = HTTP[way]
    async with serving(echo, log=Unread()) as wire:
        answer = await wire.http.post(f"{wire.url}{path}", json=body, headers=headers)
        task = await only_task(wire)
    assert answer.status_code == 504
    assert "Retry-After" not in answer.headers
    assert PERHAPS_TAKEN.format(task_id=task["id"]) in answer.text


async def test_a_program_reads_the_reason_and_the_task() -> None:
    path, body = rpc("SendMessage", message())
    async with serving(echo, log=Unread()) as wire:
        answer = await wire.http.post(f"{wire.url}{path}", json=body, headers=HEADERS)
        task = await only_task(wire)
    (told,) = answer.json()["error"]["data"]
    assert (told["reason"], told["metadata"]) == ("PERHAPS_TAKEN", {"task_id": task["id"]})


@pytest.mark.parametrize("streams", [False, True], ids=["one answer", "stream"])
async def test_over_grpc_the_deadline_is_exceeded(*, streams: bool) -> None:
    sent = a2a_pb2.SendMessageRequest(
        message={"message_id": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
    )
    async with (
        serving(echo, log=Unread(), settings={"GRPC_PORT": "0"}) as wire,
        grpc.aio.insecure_channel(f"127.0.0.1:{wire.app.state.grpc_port}") as channel,
    ):
        stub, version = a2a_pb2_grpc.A2AServiceStub(channel), (("a2a-version", "1.0"),)
        stream = stub.SendStreamingMessage(sent, metadata=version) if streams else None
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await (stream.read() if stream is not None else stub.SendMessage(sent, metadata=version))
    assert refused.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert "may have been taken" in (refused.value.details() or "")


async def test_sent_again_under_its_id_it_runs_once() -> None:
    ran: list[str] = []

    async def counted(stage: Stage) -> None:
        ran.append(stage.context.get_user_input())
        await echo(stage)

    log = Unread()
    path, body = rpc("SendMessage", message(messageId="again"))
    async with serving(counted, log=log) as wire:
        first = await wire.http.post(f"{wire.url}{path}", json=body, headers=HEADERS)
        log.away = False
        second = (await wire.http.post(f"{wire.url}{path}", json=body, headers=HEADERS)).json()
    assert first.status_code == 504
    assert state(second["result"]["task"]) == "completed"
    assert len(ran) == 1


class Unkept(PushConfigs):
    """Webhooks of a database that has gone away since the turn was stored."""

    async def put(self, *_asked: Any, **_more: Any) -> a2a_pb2.TaskPushNotificationConfig:
        """Store a webhook."""
        raise DatabaseUnreachable("The database cannot be reached. Try again in a moment.")


async def test_so_it_is_told_where_the_webhook_of_the_message_cannot_be_stored() -> None:
    hook = {"taskPushNotificationConfig": {"url": "http://127.0.0.1:9/"}}
    body = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "SendMessage",
        "params": {"message": message(), "configuration": hook},
    }
    async with serving(echo, push_configs=Unkept(), settings=PRIVATE) as wire:
        answer = await wire.http.post(f"{wire.url}/", json=body, headers=HEADERS)
        task = await only_task(wire)
    assert answer.status_code == 504
    assert answer.json()["error"]["data"][0]["metadata"] == {"task_id": task["id"]}
