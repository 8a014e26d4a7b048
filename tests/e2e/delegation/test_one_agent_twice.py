"""Requests to the same agent in one reply of the model: each has its own question, its own answer, and its own result."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from a2a.client import Client
from a2a.types.a2a_pb2 import TaskState
from langchain_core.messages import BaseMessage

from agents.github.agent import GitHubAgent
from agents.github.testing.server import GitHubServer, run_github_server
from tests.e2e.agents.peers import Answer, ask, connected
from tests.e2e.delegation.teams import Asker, Team, model, results, supervising, team, writing_to
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

COMPLETED = TaskState.TASK_STATE_COMPLETED


def asking(messages: Sequence[BaseMessage]) -> Any:
    """The asker's model: it asks where, and tells what it was told."""
    return f"Found. {messages[-1].text}" if messages[-1].type == "tool" else calls(call("where"))


def requests(agent: str, count: int, words: str) -> Any:
    """So many calls of one agent in one reply."""
    return calls(*(call(agent, f"c{n}", request=f"{words} {n}") for n in range(1, count + 1)))


async def answered(client: Client, first: Answer, *replies: str) -> list[Answer]:
    """Answer the questions of a task one after the other; all answers of the agent, with the first."""
    given = [first]
    for reply in replies:
        assert given[-1].state == "input_required"
        given.append(await ask(client, reply, task_id=first.task_id))
    return given


async def states(it: Team) -> list[tuple[int, int]]:
    """The state of each task of the asker, and how many messages the user sent to it."""
    return [(each.status.state, sum(m.role == 1 for m in each.history)) for each in await it.tasks("asker")]


@pytest.mark.parametrize("count", [2, 3])
async def test_each_of_several_requests_to_one_agent_gets_the_answer_to_its_own_question(count: int) -> None:
    cities = ["Rome", "Oslo", "Lima"][:count]
    script = [requests("asker", count, "A hotel in town"), "All are found."]
    async with team(script, asker=asking) as it, connected(it.url) as client:
        *asked, last = await answered(client, await ask(client, "Find hotels"), *cities)
        assert await states(it) == [(COMPLETED, 2)] * count
    assert [answer.last_words for answer in asked] == ["Which city?"] * count
    assert (last.state, last.text) == ("completed", "All are found.")
    assert results(it.supervisor) == [f"Found. The user said {city}" for city in cities]


async def test_a_request_that_follows_one_that_asked_nothing_goes_into_the_same_conversation() -> None:
    script = [requests("asker", 2, "Say hello"), "Both said hello."]
    async with team(script, asker=["Hello.", "Hello again."]) as it, connected(it.url) as client:
        assert (await ask(client, "Say hello twice")).text == "Both said hello."
        assert len({task.context_id for task in await it.tasks("asker")}) == 1


async def test_a_supervisor_that_starts_again_between_question_and_answer_loses_none_of_them(
    tmp_path: Path,
) -> None:
    script = ScriptedModel(script=[requests("asker", 2, "A hotel in town")])
    later = ScriptedModel(script=["Both are found."])
    async with running_agent(Asker, model=model(asking)) as asker:
        it = Team("", {}, {"asker": asker})
        async with supervising({"asker": asker}, script, home=tmp_path) as url, connected(url) as client:
            first = await ask(client, "Find hotels")
        async with supervising({"asker": asker}, later, home=tmp_path) as url, connected(url) as client:
            *_, last = await answered(client, first, "Rome", "Oslo")
        assert await states(it) == [(COMPLETED, 2)] * 2
    assert last.text == "Both are found."
    assert results(later) == ["Found. The user said Rome", "Found. The user said Oslo"]


def commenting(messages: Sequence[BaseMessage]) -> Any:
    """The GitHub agent's model: a comment on the issue that the request names."""
    if messages[-1].type == "tool":
        return messages[-1].text
    number = int(str(messages[-1].content).split("number ")[1][0])
    return calls(
        call("comment_on_issue", owner="octocat", repo="hello-world", number=number, body=f"Thanks {number}")
    )


@asynccontextmanager
async def github_team(github: GitHubServer) -> AsyncIterator[tuple[Client, ScriptedModel]]:
    """A supervisor that has its GitHub agent comment on two issues in one reply."""
    script = ScriptedModel(script=[requests("github", 2, "Comment on issue number"), "That is all."])
    async with (
        running_agent(GitHubAgent, model=model(commenting), environ=writing_to(github)) as agent,
        supervising({"github": agent}, script, {"SUB_AGENTS_TRUST": "github=own"}) as url,
        connected(url) as client,
    ):
        yield client, script


@pytest.mark.parametrize(
    ("replies", "sent"),
    [(["yes", "yes"], [1, 2]), (["no", "yes"], [2]), (["yes", "no"], [1]), (["no", "no"], [])],
)
async def test_of_two_changes_each_is_made_that_was_approved_and_no_other(
    replies: list[str], sent: list[int]
) -> None:
    with run_github_server(pulls=2) as github:
        async with github_team(github) as (client, script):
            answer = await ask(client, "Say thanks on issues 1 and 2")
            task_id, asked = answer.task_id, []
            for reply in replies:
                asked.append(answer.last_words)
                answer = await ask(client, reply, task_id=task_id, nonce=answer.nonce)
        paths = [each.path for each in github.recorder.changes()]
    assert [re.findall(r"comment on #(\d)", words)[0] for words in asked] == ["1", "2"]
    assert answer.text == "That is all."
    assert paths == [f"/repos/octocat/hello-world/issues/{number}/comments" for number in sent]
    assert not any("sub_agent_refused" in result for result in results(script))
