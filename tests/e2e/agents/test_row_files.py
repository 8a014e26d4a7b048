"""Rows that the user wants as CSV come as a file of the answer, whole."""

from __future__ import annotations

import csv
import io

import pytest
from a2a.types.a2a_pb2 import GetTaskRequest, Task

from agents.github.agent import GitHubAgent
from agents.github.testing.server import run_github_server
from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import ask, connected
from tests.e2e.delegation.teams import supervising
from utils.llm.embedded import EmbeddedChatModel
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

LIST = call("list_pull_requests", owner="octocat", repo="hello-world")


def rows_of(task: Task) -> list[dict[str, str]]:
    """The rows of the one file of a task."""
    [part] = [part for each in task.artifacts for part in each.parts if part.media_type == "text/csv"]
    assert part.filename == "pull-requests.csv"
    return list(csv.DictReader(io.StringIO(part.raw.decode(), newline="")))


async def test_the_offline_model_shows_the_rows_and_attaches_them() -> None:
    with run_github_server(pulls=60) as github:
        async with (
            running_agent(
                GitHubAgent, environ={"GITHUB_API_URL": github.url}, model=EmbeddedChatModel(None)
            ) as url,
            connected(url) as client,
        ):
            answer = await ask(client, "List the open pull requests of octocat/hello-world as CSV")
            task = await client.get_task(GetTaskRequest(id=answer.task_id))
    assert answer.state == "completed"
    assert "Not applied" not in answer.text
    rows = rows_of(task)
    assert len(rows) == 60
    assert rows[0]["title"] in answer.text


async def test_the_file_reaches_the_supervisors_user_also_where_the_delegated_words_do_not_speak_of_it() -> (
    None
):
    asked = "Export the open pull requests of octocat/hello-world to a spreadsheet"
    with run_github_server(pulls=60) as github:
        environ = {"GITHUB_API_URL": github.url}
        one, two = (
            ScriptedModel.of(calls(LIST), "Here they are."),
            ScriptedModel.of(calls(call("github", request="List them, all of octocat/hello-world")), "Done."),
        )
        ours = {"SUB_AGENTS_SHARES": "github=results"}
        async with (
            running_agent(GitHubAgent, environ=environ, model=one) as agent,
            running_agent(
                PlatformEngineer, environ={**ours, "SUB_AGENTS": f"github={agent}"}, model=two
            ) as url,
            connected(url) as client,
        ):
            answer = await ask(client, asked)
            task = await client.get_task(GetTaskRequest(id=answer.task_id))
    assert answer.state == "completed"
    assert len(rows_of(task)) == 60


@pytest.mark.long
async def test_the_answer_of_a_supervisor_lists_a_file_of_its_agent_once() -> None:
    with run_github_server(pulls=3) as github:
        environ = {"GITHUB_API_URL": github.url}
        async with (
            running_agent(GitHubAgent, environ=environ, model=EmbeddedChatModel(None)) as agent,
            supervising({"github": agent}, None, {"SUB_AGENTS_SHARES": "github=results"}) as url,
            connected(url) as client,
        ):
            answer = await ask(client, "List the open pull requests of octocat/hello-world as CSV")
    assert answer.text.count("pull-requests.csv") == 1
    assert "3 pull requests" in answer.text
    assert answer.text.endswith("bytes), from github")


async def test_without_such_a_wish_there_is_no_file() -> None:
    with run_github_server(pulls=5) as github:
        async with (
            running_agent(
                GitHubAgent, environ={"GITHUB_API_URL": github.url}, model=EmbeddedChatModel(None)
            ) as url,
            connected(url) as client,
        ):
            answer = await ask(client, "List the open pull requests of octocat/hello-world as a table")
            task = await client.get_task(GetTaskRequest(id=answer.task_id))
    assert [each.artifact_id for each in task.artifacts] == ["response"]
    assert "Not applied" not in answer.text
