"""A question of the model itself waits for its answer, and goes on with it, at the HTTP level."""

from __future__ import annotations

import pytest

from agents.github.agent import GitHubAgent
from agents.github.testing.server import run_github_server
from tests.e2e.agents.peers import ask, connected
from utils.llm.embedded import EmbeddedChatModel
from utils.testing.live_agent import running_agent

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


async def test_a_question_of_the_offline_model_ends_as_input_required_and_its_answer_completes_the_request() -> (
    None
):
    with run_github_server() as github:
        environ = {"GITHUB_API_URL": github.url}
        async with (
            running_agent(GitHubAgent, environ=environ, model=EmbeddedChatModel(None)) as url,
            connected(url) as client,
        ):
            asked = await ask(client, "List the closed issues")
            assert github.recorder.requests == []
            done = await ask(
                client, "octocat/hello-world", task_id=asked.task_id, context_id=asked.context_id
            )
    assert (asked.state, asked.text) == ("input_required", "")
    assert asked.last_words == "Which repository do you mean? Please name it as owner/repository."
    assert done.state == "completed"
    assert "issues** — octocat/hello-world, closed" in done.text
