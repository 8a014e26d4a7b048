"""The question and the approval as an A2A client sees them, with the offline model."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import httpx
import pytest

from agents.github.agent import GitHubAgent
from tests.unit.github.conftest import TOKEN
from utils.testing.live_agent import running_agent

pytestmark = pytest.mark.listens

REQUEST = 'Comment "Thank you" on issue 5 of octocat/hello-world'


async def send(
    client: httpx.AsyncClient, *parts: dict[str, Any], task: dict[str, Any] | None = None
) -> dict[str, Any]:
    message: dict[str, Any] = {"messageId": str(uuid4()), "role": "ROLE_USER", "parts": list(parts)}
    if task:
        message |= {"taskId": task["id"], "contextId": task["contextId"]}
        message["metadata"] = task["status"]["message"]["metadata"]
    call = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
    answer = (await client.post("/", json=call, headers={"A2A-Version": "1.0"})).json()
    found: dict[str, Any] = answer["result"]["task"]
    return found


async def test_a_change_waits_for_the_clients_yes_and_is_sent_then(github):
    environ = {"GITHUB_API_URL": github.url, "GITHUB_TOKEN": TOKEN, "GITHUB_WRITE": "true"}
    async with (
        running_agent(GitHubAgent, environ=environ) as url,
        httpx.AsyncClient(base_url=url, timeout=30, trust_env=False) as client,
    ):
        task = await send(client, {"text": REQUEST})
        assert task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
        assert "POST " in str(task["status"]["message"])
        assert github.recorder.changes() == []
        stranger = await send(client, {"text": "yes"})
        assert stranger["id"] != task["id"]
        assert github.recorder.changes() == []
        ended = await send(client, {"data": {"approve": True}}, task=task)
        assert ended["id"] == task["id"]
        assert ended["status"]["state"] == "TASK_STATE_COMPLETED"
        assert "issues/5#issuecomment-1" in str(ended["artifacts"])
    assert len(github.recorder.changes()) == 1


async def test_a_no_over_the_wire_ends_the_task_and_changes_nothing(github):
    environ = {"GITHUB_API_URL": github.url, "GITHUB_TOKEN": TOKEN, "GITHUB_WRITE": "true"}
    async with (
        running_agent(GitHubAgent, environ=environ) as url,
        httpx.AsyncClient(base_url=url, timeout=30, trust_env=False) as client,
    ):
        task = await send(client, {"text": REQUEST})
        ended = await send(client, {"text": "better not"}, task=task)
        assert ended["status"]["state"] == "TASK_STATE_COMPLETED"
        assert "Nothing was sent" in str(ended["artifacts"])
    assert github.recorder.changes() == []
