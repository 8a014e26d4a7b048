"""An agent that goes away after it took the user's answer is not answered a second time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from langchain_core.tools import BaseTool, tool

from tests.e2e.agents.peers import Answer, connected, message
from tests.e2e.delegation.teams import Asker, model, results, supervising
from tests.e2e.delegation.test_restarting import UNSEEN, restarting
from utils.a2a_common.client.delegation import remote_agent
from utils.a2a_common.client.transport.sentences import MAY_HAVE_DONE_IT
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


class Working(Asker):
    """An agent that works for long on what it was answered."""

    begun: asyncio.Event

    async def tools(self) -> Sequence[BaseTool]:
        @tool
        async def work() -> str:
            """Work."""
            self.begun.set()
            await asyncio.Event().wait()
            return "Done."

        return [*await super().tools(), work]


async def test_an_agent_that_took_the_answer_and_then_went_away_is_not_asked_to_take_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient = replace(remote_agent._PATIENCE, away_seconds=0.5)
    monkeypatch.setattr(remote_agent, "_PATIENCE", impatient)
    Working.begun = asyncio.Event()
    supervisor = model([calls(call("asker", request="Find places")), "I do not know."])
    asks = [calls(call("where")), calls(call("work"))]
    async with (
        restarting(Working, tmp_path, asks) as asker,
        supervising({"asker": asker.url}, supervisor, UNSEEN) as url,
        connected(url) as client,
    ):
        asked = Answer([event async for event in client.send_message(message("Find places near me"))])
        reply = message("07103", context_id=asked.context_id, task_id=asked.task_id)

        async def answered() -> Answer:
            return Answer([event async for event in client.send_message(reply)])

        answering = asyncio.create_task(answered())
        await Working.begun.wait()
        await asker.stop()
        answer = await answering
    assert answer.state == "failed", answer.last_words
    problem = json.loads(results(supervisor, 1)[0])
    assert (problem["error"], problem["retryable"]) == ("unknown_outcome", False)
    assert answer.last_words == f"The answer of the asker agent was lost. {MAY_HAVE_DONE_IT}"
