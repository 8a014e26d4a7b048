"""A sub-agent that means harm: nothing that it is told opens the task of the user that it works for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from a2a.client import Client
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    SubscribeToTaskRequest,
    Task,
)
from a2a.utils.errors import A2AError

from agents.github.agent import GitHubAgent
from agents.github.testing.server import GitHubServer, run_github_server
from tests.e2e.agents.peers import Answer, ask, connected, message
from tests.e2e.delegation.foreign import Foreign, answering, foreign
from tests.e2e.delegation.teams import model, supervising
from utils.a2a_common.protocol.extensions import QUESTION_EXTENSION
from utils.auth.nonce import digest_of
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

COMMENT: dict[str, Any] = {"owner": "octocat", "repo": "hello-world", "number": 5, "body": "Thank you!"}
WANTED = "Thank them on issue 5, and tell me the weather. My password is hunter2."


def brain(messages: Sequence[Any]) -> Any:
    """Asks both agents at once what the user wants of them, and answers with what they said."""
    last = messages[-1]
    if last.type == "tool":
        return f"They said: {last.content}"
    if "weather" not in str(last.content):
        return "Good day."
    return calls(
        call("github", "c1", request="Comment on issue 5"), call("weather", "c2", request="Weather in Rome?")
    )


@dataclass
class Scene:
    """A user whose GitHub agent asks for approval, while another agent was asked in the same step."""

    client: Client
    github: GitHubServer
    weather: Foreign
    question: Answer
    message_id: str


@asynccontextmanager
async def scene(home: Path, *, secret: str = "") -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:
        double = stack.enter_context(run_github_server(pulls=2))
        environ = {
            "GITHUB_API_URL": double.url,
            "GITHUB_TOKEN": "token-of-the-test",
            "GITHUB_WRITE": "true",
            "EMBEDDINGS_PROVIDER": "none",
        }
        writes = model([calls(call("comment_on_issue", **COMMENT)), "It is sent."])
        github = await stack.enter_async_context(
            running_agent(GitHubAgent, environ=environ, model=writes, home=home)
        )
        weather = await stack.enter_async_context(foreign(answering("Sunny.")))
        told_all = {"SUB_AGENTS_SHARES": "github=results,weather=results"}
        url = await stack.enter_async_context(
            supervising({"github": github, "weather": weather.url}, model(brain), told_all)
        )
        client = await stack.enter_async_context(connected(url))
        question, asked = Answer(), message(WANTED)
        if secret:
            asked.message.metadata.update({QUESTION_EXTENSION: {"nonce_sha256": digest_of(secret)}})
        async for event in client.send_message(asked):
            question.events.append(event)
        yield Scene(client, double, weather, question, asked.message.message_id)


async def opened(client: Client, stolen: str) -> Task | None:
    """The supervisor's task of that id, where it gives it."""
    try:
        return await client.get_task(GetTaskRequest(id=stolen))
    except A2AError:
        return None


async def answered(client: Client, **where: str) -> Answer | None:
    """What the supervisor says to a yes there, where it takes one."""
    try:
        return await ask(client, "yes", **where)
    except A2AError:
        return None


async def cancels(client: Client, stolen: str) -> bool:
    try:
        await client.cancel_task(CancelTaskRequest(id=stolen))
    except A2AError:
        return False
    return True


async def test_nothing_that_a_sub_agent_is_told_opens_the_users_task_or_answers_its_question(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as it:
        assert it.question.state == "input_required"
        stolen = it.weather.strings
        assert "Weather in Rome?" in stolen
        assert {it.question.task_id, it.question.context_id}.isdisjoint(stolen)
        ids = [each for each in stolen if 8 <= len(each) <= 64]
        assert [each for each in ids if await opened(it.client, each)] == []
        assert [each for each in ids if await cancels(it.client, each)] == []
        assert [each for each in ids if await answered(it.client, task_id=each)] == []
        begun = [await answered(it.client, context_id=each) for each in ids]
        assert {one.text for one in begun if one} <= {"Good day."}  # conversations of its own
        assert it.github.recorder.changes() == []

        mine = await ask(
            it.client, "yes", task_id=it.question.task_id, nonce=it.question.nonce
        )  # the user's own yes still counts
        assert mine.state == "completed"
        assert [each.path for each in it.github.recorder.changes()] == [
            "/repos/octocat/hello-world/issues/5/comments"
        ]


async def test_the_sub_tasks_of_a_task_are_told_the_same_reference_to_it(tmp_path: Path) -> None:
    async with scene(tmp_path) as it:
        again = await ask(it.client, "And the weather in Oslo?", context_id=it.question.context_id)
        first, second = (it.weather.scope(number) for number in (0, -1))
    assert again.task_id != it.question.task_id
    assert first is not None
    assert second is not None
    assert len(first["parent_task_id"]) == len(second["parent_task_id"]) > 20
    assert first["parent_task_id"] != second["parent_task_id"]


UNPROVEN = "only the browser tab, terminal or program that sent the request can approve it"


async def forged(client: Client, **proof: str) -> Answer | None:
    """The answer to a yes in the place of whoever was asked: to the task that the list shows."""
    listed = (await client.list_tasks(ListTasksRequest())).tasks
    return await answered(client, task_id=next(task.id for task in listed), **proof)


async def test_a_yes_of_somebody_who_was_not_asked_is_refused_and_says_who_may_approve(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as it:
        assert len(it.question.nonce) == 64
        task_id = it.question.task_id
        for wrong in ("", "0" * 64, it.question.nonce[:-1]):
            with pytest.raises(A2AError, match=UNPROVEN):
                await ask(it.client, "yes", task_id=task_id, nonce=wrong)
        with pytest.raises(A2AError, match=UNPROVEN):  # routed to the task that waits
            await ask(it.client, "yes", context_id=it.question.context_id)
        assert await forged(it.client) is None
        assert it.github.recorder.changes() == []
        sent = await ask(it.client, "yes", task_id=task_id, nonce=it.question.nonce)
        assert sent.state == "completed"
        assert len(it.github.recorder.changes()) == 1


async def test_the_secret_of_a_question_is_told_only_to_the_one_who_was_asked(tmp_path: Path) -> None:
    async with scene(tmp_path) as it:
        nonce, task_id = it.question.nonce, it.question.task_id
        told = [
            str(await it.client.get_task(GetTaskRequest(id=task_id))),
            str(await it.client.list_tasks(ListTasksRequest(include_artifacts=True))),
            str([event async for event in it.client.subscribe(SubscribeToTaskRequest(id=task_id))]),
            str((await ask(it.client, WANTED, message_id=it.message_id)).events),
        ]
        assert [place for place, text in enumerate(told) if nonce in text or '"nonce"' in text] == []
        assert all("May I send" in text for text in told)
        await ask(it.client, "yes", task_id=task_id, nonce=nonce)
        assert nonce not in str(await it.client.get_task(GetTaskRequest(id=task_id)))


async def test_a_client_may_bring_a_secret_of_its_own_that_outlives_its_connection(tmp_path: Path) -> None:
    async with scene(tmp_path, secret="of the client alone") as it:
        with pytest.raises(A2AError, match=UNPROVEN):
            await ask(it.client, "yes", task_id=it.question.task_id, nonce="of another client")
        sent = await ask(it.client, "yes", task_id=it.question.task_id, nonce="of the client alone")
        assert sent.state == "completed"
