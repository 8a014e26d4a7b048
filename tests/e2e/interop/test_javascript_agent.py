"""An agent on the JavaScript SDK works as a sub-agent, over each binding that it serves HTTP with."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from a2a.types.a2a_pb2 import GetTaskRequest, Task

from tests.e2e.agents.peers import Answer, ask, connected
from tests.e2e.delegation.teams import handing_on, results
from tests.e2e.interop.program import serving

pytestmark = [pytest.mark.servers, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(params=["JSONRPC", "HTTP+JSON"], scope="module", loop_scope="module")
async def agent(request: pytest.FixtureRequest) -> AsyncIterator[str]:
    async with serving("server.mjs", request.param) as url:
        yield url


async def answered(agent: str, said: str) -> tuple[Answer, Task, str]:
    """What a user saw, the supervisor's stored task, and what its model was told of the sub-agent."""
    async with handing_on("javascript", agent, said) as (url, script), connected(url) as client:
        answer = await ask(client, f"Please {said}")
        return answer, await client.get_task(GetTaskRequest(id=answer.task_id)), results(script)[0]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("echo this", "You said echo this"),
        ("pieces", "".join(f"piece {at}. " for at in range(100)).strip()),
        ("message", "A message alone."),
        ("last", "The answer is in the last state."),
        ("fail", "The disk is full."),
    ],
)
async def test_the_supervisors_model_is_told_what_it_answers(agent: str, said: str, told: str) -> None:
    answer, _, result = await answered(agent, said)
    assert answer.state == ("failed" if said == "fail" else "completed")
    assert told in result


async def test_its_file_reaches_the_user_byte_for_byte(agent: str) -> None:
    _, task, _ = await answered(agent, "file")
    files = [part for artifact in task.artifacts for part in artifact.parts if part.HasField("raw")]
    assert [(file.filename, file.raw) for file in files] == [("all.bin", bytes(range(256)))]


async def test_its_question_is_the_users_and_the_answer_goes_on_with_its_task(agent: str) -> None:
    async with handing_on("javascript", agent, "ask") as (url, script), connected(url) as client:
        asked = await ask(client, "Please ask")
        assert (asked.state, asked.last_words) == ("input_required", "Which colour?")
        answer = await ask(client, "Blue", task_id=asked.task_id, context_id=asked.context_id)
        assert answer.state == "completed"
        assert "You said Blue" in results(script)[0]
