"""A sub-agent keeps conversations for a shorter time than the supervisor: a question that it has deleted is answered plainly."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from tests.e2e.agents.peers import Answer, connected, message
from tests.e2e.delegation.teams import Asker, model, supervising
from utils.a2a_common.client.transport.sentences import SUB_AGENT_FORGOT
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

HEADERS = {"A2A-Version": "1.0"}


async def until_deleted(url: str) -> None:
    """Wait until an agent has no task any more."""
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http, asyncio.timeout(60):
        body = {"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {}}
        while (await http.post("/", json=body, headers=HEADERS)).json()["result"].get("tasks"):
            await asyncio.sleep(0.02)


async def test_an_answer_to_a_question_that_its_agent_has_deleted_tells_the_user_so_and_what_to_do(
    tmp_path: Path,
) -> None:
    script = [calls(call("asker", request="Find places")), "There are no places."]
    short = {"RETENTION_DAYS": "0.000001", "RETENTION_LOOK_SECONDS": "1"}
    async with (
        running_agent(Asker, model=model([calls(call("where"))]), home=tmp_path, environ=short) as asker,
        supervising({"asker": asker}, model(script), {}) as url,
        connected(url) as client,
    ):
        asked = Answer([event async for event in client.send_message(message("Find places near me"))])
        await until_deleted(asker)
        reply = message("07103", context_id=asked.context_id, task_id=asked.task_id)
        answer = Answer([event async for event in client.send_message(reply)])
    assert answer.state == "failed"
    assert answer.last_words == SUB_AGENT_FORGOT.format(agent="asker")
    assert "question_gone" in str(answer.events[-1].status_update.metadata)
