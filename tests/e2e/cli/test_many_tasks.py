"""An agent lists a hundred tasks at once; a conversation that is older is found all the same."""

from __future__ import annotations

import asyncio

import pytest

from multi_agents.cli.chat.conversations import conversations_of
from multi_agents.cli.peer.connection import connect
from tests.e2e.cli.command import run
from tests.e2e.cli.scripted_agent import ScriptedAgent, Turn, serve
from utils.a2a_common.client.stream.follow import follow_message
from utils.a2a_common.client.stream.message import user_message

OLDER = 105


async def answering(turn: Turn) -> None:
    await turn.task()
    await turn.status("completed", f"You said {turn.text}.")


@pytest.mark.timeout(600)  # a hundred turns
@pytest.mark.long
async def test_a_conversation_before_the_last_hundred_requests_is_listed_and_gone_on_with(tmp_path):
    async with serve(ScriptedAgent(answering)) as url:
        async with connect(url) as peer:
            for context, count in (("first-of-all", 1), ("long-one", OLDER)):
                for number in range(count):
                    message = user_message(f"{context} {number}", context_id=context)
                    async for _ in follow_message(peer.connection, message):
                        pass
            found = await asyncio.wait_for(conversations_of(peer), 60)
            listed = await peer.connection.list_tasks(limit=OLDER)
        done = await run("chat", "--url", url, "--resume", "first", home=tmp_path)
    assert [(one.context_id, one.requests) for one in found] == [("long-one", OLDER), ("first-of-all", 1)]
    assert len(listed) == len({task.id for task in listed}) == OLDER
    assert "> first-of-all 0" in done.err
