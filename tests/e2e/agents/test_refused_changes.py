"""A request for a change that an agent does not make ends its task as failed, with a sentence, at the HTTP level."""

from __future__ import annotations

import pytest

from agents.github.agent import GitHubAgent
from tests.e2e.agents.peers import ask, connected
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.llm.embedded import EmbeddedChatModel
from utils.testing.github_server import run_github_server
from utils.testing.live_agent import running_agent

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


@pytest.mark.parametrize(
    "request_text",
    [
        'Open an issue in octocat/hello-world titled "Disk full"',
        "Can you close issue 5 of octocat/hello-world?",
    ],
)
async def test_a_change_that_is_not_possible_is_never_a_completed_task(request_text: str) -> None:
    with run_github_server() as github:
        environ = {"GITHUB_API_URL": github.url}
        async with (
            running_agent(GitHubAgent, environ=environ, model=EmbeddedChatModel(None)) as url,
            connected(url) as client,
        ):
            answer = await ask(client, request_text)
        assert github.recorder.requests == []
    assert answer.state == "failed"
    assert answer.metadata(ERROR_EXTENSION)[0]["code"] == "change_refused"
    assert "GITHUB_WRITE=true" in answer.last_words
