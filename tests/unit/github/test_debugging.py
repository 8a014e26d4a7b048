"""The offline model on a real agent: why a run failed, and what is asked before a change."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from agents.github.agent import GitHubAgent
from agents.github.testing.data import FAILED_STEP
from tests.unit.github.changing import question_in, text_of
from tests.unit.github.conftest import TOKEN
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.protocol.request import AgentRequest
from utils.a2a_common.server.agent_runtime import open_runtime
from utils.events import ToolStarted


@pytest.fixture
async def agent(tmp_path: Path, github):
    environ = {
        "GITHUB_API_URL": github.url,
        "GITHUB_TOKEN": TOKEN,
        "GITHUB_WRITE": "true",
        "PLATFORM_ENGINEER_HOME": str(tmp_path),
    }
    async with AsyncExitStack() as stack:
        agent = GitHubAgent(await open_runtime("github", AgentSettings.load(environ), stack))
        yield agent
        await agent.stop()


async def events_of(agent: GitHubAgent, text: str) -> list:
    request = AgentRequest(text=text, task_id="t", context_id="c", message_id="m", thread_id=text)
    return [event async for event in agent.stream(request)]


@pytest.mark.parametrize(
    "question, asked",
    [
        ("Why did the last run on main of octocat/hello-world fail?", "branch=main"),
        ("why did the last build on main in octocat/hello-world fail", "branch=main"),
        ("Why did run 30433642 of octocat/hello-world fail?", "/actions/runs/30433642/jobs"),
        (
            "Which step failed in workflow run 30433642 of octocat/hello-world, and why?",
            "/actions/runs/30433642/",
        ),
    ],
)
async def test_why_a_run_failed_is_answered_with_step_lines_and_link(agent, github, question, asked):
    events = await events_of(agent, question)
    assert [event.tool for event in events if isinstance(event, ToolStarted)] == ["get_job_logs"]
    assert any(asked in f"{request.path}?{request.query}" for request in github.recorder.requests)
    said = text_of(events)
    assert FAILED_STEP in said
    assert 'Actual: "Grüße"' in said
    assert "Process completed with exit code 1." in said
    assert "Source: https://github.com/" in said


@pytest.mark.parametrize(
    "request_text, path",
    [
        ('Comment "Thank you" on issue 5 of octocat/hello-world', "issues/5/comments"),
        ('Create an issue "Crash at start" in octocat/hello-world', "octocat/hello-world/issues\n"),
        ("Re-run the failed jobs of run 30433642 of octocat/hello-world", "runs/30433642/rerun-failed-jobs"),
    ],
)
async def test_the_offline_model_asks_before_a_change(agent, github, request_text, path):
    question = question_in(await events_of(agent, request_text)).question
    assert path in question
    assert github.recorder.changes() == []
