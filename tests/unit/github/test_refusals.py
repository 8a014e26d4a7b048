"""A request for a change that the agent does not make is refused with what is possible, and nothing is sent or shown."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agents.github.agent import GitHubAgent
from tests.unit.github.conftest import TOKEN
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.protocol.request import AgentRequest
from utils.embeddings.cache import CachedEmbedder
from utils.embeddings.minilm import MiniLmEmbedder
from utils.events import Completed, Failed, InputRequired, TextDelta
from utils.llm.embedded import EmbeddedChatModel

READ_ONLY = "I can only read GitHub, so nothing was changed. GITHUB_WRITE=true lets me comment"
OTHER = "I cannot make this change, so nothing was changed on GitHub."
CHANGES = [
    'Open an issue in octocat/hello-world titled "Disk full" with the body "No space left"',
    "Create an issue in octocat/hello-world: disk full",
    'Comment "Thank you" on issue 1347 of octocat/hello-world',
    "re-run the last workflow run of octocat/hello-world",
]
NEVER = [
    "Can you close issue 5 of octocat/hello-world",
    "merge pull request 2 of octocat/hello-world",
    "close issue 1",
    "please delete the branch topic of octocat/hello-world",
    "add the label bug to issue 1347 in octocat/hello-world",
    "assign issue 1347 of octocat/hello-world to mona",
]

_ids = count(1)


@pytest.fixture(scope="module")
def embedder():
    return CachedEmbedder(MiniLmEmbedder(), None)


@pytest.fixture
async def ask(tmp_path: Path, github, embedder):
    """Asks an agent on the offline model, in one conversation; keyword arguments are environment variables."""
    agents: dict[str, GitHubAgent] = {}

    async def asked(text: str, write: str = "false"):
        if write not in agents:
            environ = {"GITHUB_API_URL": github.url, "GITHUB_TOKEN": TOKEN, "GITHUB_WRITE": write}
            runtime = AgentRuntime(
                home=tmp_path,
                settings=AgentSettings.load(environ),
                model=EmbeddedChatModel(embedder),
                checkpointer=InMemorySaver(),
            )
            agents[write] = GitHubAgent(runtime)
            await agents[write].start()
        number = next(_ids)
        request = AgentRequest(
            text=text,
            task_id=f"task-{number}",
            context_id="context",
            message_id=f"message-{number}",
            thread_id="thread",
        )
        events = [event async for event in agents[write].stream(request)]
        return "".join(event.text for event in events if isinstance(event, TextDelta)), events[-1]

    yield asked
    for agent in agents.values():
        await agent.close()


@pytest.mark.parametrize("request_text", [*CHANGES, *NEVER])
async def test_without_the_setting_every_change_is_refused_and_nothing_is_read(ask, github, request_text):
    _, end = await ask(request_text)
    assert isinstance(end, Failed)
    assert (end.code, end.message[: len(READ_ONLY)]) == ("change_refused", READ_ONLY)
    assert github.recorder.requests == []


@pytest.mark.parametrize("request_text", NEVER)
async def test_with_the_setting_other_changes_are_still_refused(ask, github, request_text):
    _, end = await ask(request_text, write="true")
    assert isinstance(end, Failed)
    assert (end.code, end.message[: len(OTHER)]) == ("change_refused", OTHER)
    assert github.recorder.requests == []


@pytest.mark.parametrize(
    "request_text, shown",
    [
        (CHANGES[0], "Disk full"),
        (CHANGES[2], "Thank you"),
        ("Re-run the failed jobs of workflow run 29679449 of octocat/hello-world", "29679449"),
    ],
)
async def test_with_the_setting_the_three_changes_ask_before_they_are_sent(ask, github, request_text, shown):
    _, end = await ask(request_text, write="true")
    assert isinstance(end, InputRequired)
    assert shown in end.question
    assert github.recorder.changes() == []


async def test_a_row_that_was_listed_is_not_shown_in_place_of_its_change(ask, github):
    await ask("List the open pull requests of octocat/hello-world")
    github.recorder.requests.clear()
    _, end = await ask("merge the second one")
    assert isinstance(end, Failed)
    assert github.recorder.requests == []


async def test_what_can_be_read_is_read_and_the_change_beside_it_is_refused(ask):
    text, end = await ask(
        "List the open pull requests of octocat/hello-world and close issue 5 of octocat/hello-world"
    )
    assert isinstance(end, Completed)
    assert "pull requests" in text
    assert READ_ONLY in text


@pytest.mark.parametrize(
    "request_text",
    [
        "open issues of octocat/hello-world",
        "Open README.md of octocat/hello-world",
        "merged pull requests of octocat/hello-world",
    ],
)
async def test_a_request_to_read_is_no_change(ask, github, request_text):
    _, end = await ask(request_text)
    assert isinstance(end, Completed)
    assert github.recorder.requests
