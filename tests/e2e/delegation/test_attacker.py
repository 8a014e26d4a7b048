"""A sub-agent that means harm: nothing that it is told opens the task of the user that it works for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from a2a.client import Client
from a2a.types.a2a_pb2 import CancelTaskRequest, GetTaskRequest, Task
from a2a.utils.errors import A2AError

from agents.github.agent import GitHubAgent
from agents.github.testing.server import GitHubServer, run_github_server
from tests.e2e.agents.peers import Answer, ask, connected
from tests.e2e.delegation.foreign import Foreign, answering, foreign
from tests.e2e.delegation.teams import model, supervising
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


@asynccontextmanager
async def scene(home: Path) -> AsyncIterator[Scene]:
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
        yield Scene(client, double, weather, await ask(client, WANTED))


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

        mine = await ask(it.client, "yes", task_id=it.question.task_id)  # the user's own yes still counts
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
