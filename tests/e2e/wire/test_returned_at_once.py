"""`returnImmediately` at an agent that may answer with a message: there is a task at once, which ends with the message."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest
from a2a.client import ClientConfig, create_client
from a2a.types.a2a_pb2 import CancelTaskRequest, GetTaskRequest, ListTasksRequest, Task, TaskState

from tests.e2e.agents.peers import message
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.client.transport.connection import http_client
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import AgentEvent, MessageAnswer, TextPart
from utils.testing.live_agent import running_agent

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


class Slow(BaseLangGraphAgent):
    """Says nothing until it is let, and then all at once."""

    name = "slow"
    description = "Answers late."
    answers_with_message = True
    let: asyncio.Event

    async def build(self) -> None: ...

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        await self.let.wait()
        yield MessageAnswer([TextPart("Here it is.")])


@pytest.mark.parametrize("canceled", [False, True])
async def test_a_task_is_there_at_once_and_can_be_canceled_or_followed_to_its_message(canceled: bool) -> None:
    Slow.let = asyncio.Event()
    async with running_agent(Slow) as url, http_client(url) as http:
        client = await create_client(url, ClientConfig(httpx_client=http, streaming=False))
        request = message("Find it.")
        request.configuration.return_immediately = True
        async with asyncio.timeout(30):
            (answer,) = [event async for event in client.send_message(request)]
            assert answer.task.status.state in (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING)
            assert [each.id for each in (await client.list_tasks(ListTasksRequest())).tasks] == [
                answer.task.id
            ]
            if canceled:
                task = await client.cancel_task(CancelTaskRequest(id=answer.task.id))
                assert task.status.state == TaskState.TASK_STATE_CANCELED
                return
            Slow.let.set()
            task = Task()
            while task.status.state != TaskState.TASK_STATE_COMPLETED:
                task = await client.get_task(GetTaskRequest(id=answer.task.id))
        assert [part.text for part in task.status.message.parts] == ["Here it is."]
