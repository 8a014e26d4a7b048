"""A sub-agent that is no agent of ours wants its user to log in: there and back, in one remote task."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from a2a.types.a2a_pb2 import Message, Part, Role, TaskState, TaskStatus, TaskStatusUpdateEvent
from google.protobuf import json_format, struct_pb2

from tests.e2e.agents.peers import ask, connected
from tests.e2e.delegation.teams import model, results, supervising
from tests.e2e.wire.agents import Stage, card
from tests.e2e.wire.wiring import serving
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION
from utils.testing.live_server import loopback_socket
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

PLEASE = "Please log in at https://login.example.com/device and tell me when you have."
WHERE = {"url": "https://login.example.com/device", "code": "ABCD-1234"}


async def vault(stage: Stage) -> None:
    """Asks for a login, and reads its secret once it is told that there was one."""
    await stage.task()
    if stage.context.get_user_input() == "done":
        await stage.chunk("The secret is 7.", append=False, last=True)
        await stage.status(TaskState.TASK_STATE_COMPLETED)
        return
    parts = [Part(text=PLEASE), Part(data=json_format.ParseDict(WHERE, struct_pb2.Value()))]
    said = Message(message_id=str(uuid4()), role=Role.ROLE_AGENT, parts=parts)
    status = TaskStatus(state=TaskState.TASK_STATE_AUTH_REQUIRED, message=said)
    task_id, context_id = stage.context.task_id, stage.context.context_id
    await stage.queue.enqueue_event(
        TaskStatusUpdateEvent(status=status, task_id=task_id, context_id=context_id)
    )


async def test_a_login_that_a_sub_agent_asks_for_reaches_the_user_and_the_reply_the_same_remote_task() -> (
    None
):
    listener = loopback_socket()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    top = model([calls(call("vault", "c1", request="Read the secret")), "It is 7."])
    async with (
        serving(vault, shown=card(url=url), listener=listener) as sub,
        supervising({"vault": url}, top) as supervisor,
    ):
        async with connected(supervisor) as client:
            asked = await ask(client, "What is the secret?")
        async with connected(supervisor) as client:  # the user was away to log in
            answer = await ask(client, "done", task_id=asked.task_id, context_id=asked.context_id)
    assert asked.state == "auth_required"
    assert asked.last_words.startswith(f"{PLEASE}\n\nThis data came with the question:")
    assert "code: ABCD-1234" in asked.last_words
    shown = asked.events[-1].status_update.status.message.parts[1].data
    assert json_format.MessageToDict(shown) == WHERE
    ends: list[Any] = [
        each for each in asked.metadata(ACTIVITY_EXTENSION) if each["kind"] == "delegation_finished"
    ]
    assert [each["state"] for each in ends] == ["auth-required"]
    assert (answer.state, answer.text) == ("completed", "It is 7.")
    assert results(top) == ["The secret is 7."]
    assert [context.get_user_input() for context in sub.agent.seen] == ["Read the secret", "done"]
    assert len({context.task_id for context in sub.agent.seen}) == 1
