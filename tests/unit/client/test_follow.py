"""Following a task whose stream ended or broke, against a real server in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx
import pytest

from tests.e2e.cli.scripted_agent import ScriptedAgent, Turn, serve
from utils.a2a_common.client.connection import Connection, fetch_card, http_client
from utils.a2a_common.client.events import PeerEvent, StatusChanged
from utils.a2a_common.client.follow import PATIENCE, Patience, follow_message, follow_task
from utils.a2a_common.client.message import user_message
from utils.a2a_common.client.peer_errors import ConnectionLost, NoProgress
from utils.a2a_common.client.task_view import TaskView

IMPATIENT = Patience(first_wait=0.01, quiet_seconds=0.3, pause_seconds=0.01)


@asynccontextmanager
async def connected(url: str, transport: httpx.AsyncBaseTransport | None = None) -> AsyncIterator[Connection]:
    async with httpx.AsyncClient(transport=transport) if transport else http_client(url) as http:
        yield Connection.open("scripted", await fetch_card(http, url), http)


async def said(connection: Connection, patience: Patience = PATIENCE) -> TaskView:
    """The task that comes of one message."""
    task = TaskView()
    async for event in follow_message(connection, user_message("go", context_id="c"), patience=patience):
        task.apply(event)
    return task


async def answering(turn: Turn) -> None:
    await turn.task()
    await turn.chunk("Here it is.", append=False)
    await turn.status("completed")


async def test_a_task_that_nobody_works_on_is_given_up_after_a_while() -> None:
    async def leaving(turn: Turn) -> None:
        await turn.task()
        await turn.status("working")

    async with serve(ScriptedAgent(leaving)) as url, connected(url) as connection:
        with pytest.raises(NoProgress, match="is not finished"):
            await said(connection, IMPATIENT)


async def test_an_answer_without_task_or_message_is_an_error() -> None:
    async def nothing(turn: Turn) -> None:
        del turn

    async with serve(ScriptedAgent(nothing)) as url, connected(url) as connection:
        with pytest.raises(NoProgress, match="without a task or a message"):
            await said(connection, IMPATIENT)


async def test_an_agent_that_went_away_is_reported_as_lost_once_it_was_looked_for() -> None:
    async def hanging(turn: Turn) -> None:
        await turn.task()
        await asyncio.Event().wait()

    async with serve(ScriptedAgent(hanging)) as url, connected(url) as connection:
        events = follow_message(connection, user_message("go", context_id="c"))
        task_id = await _first_task(events)
        await events.aclose()
        card = connection.card
    async with http_client(url) as http:
        gone = Connection.open("scripted", card, http)
        with pytest.raises(ConnectionLost):
            async for _ in follow_task(gone, task_id, patience=IMPATIENT):
                pass


async def _first_task(events: AsyncIterator[PeerEvent]) -> str:
    async for event in events:
        if isinstance(event, StatusChanged):
            return event.task_id
    raise AssertionError("there was no status")


class Lossy(httpx.AsyncHTTPTransport):
    """Loses the answers to the first sends; the requests arrive."""

    def __init__(self, lost: int, error: Callable[[str], Exception] = httpx.ReadError) -> None:
        super().__init__()
        self._lost, self._error = lost, error
        self.sends = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        sends = b"SendStreamingMessage" in request.content or b'"SendMessage"' in request.content
        self.sends += sends
        if sends and self.sends <= self._lost and isinstance(self._error("x"), httpx.ConnectError):
            raise self._error("nobody is there")
        response = await super().handle_async_request(request)
        if sends and self.sends <= self._lost:
            await response.aread()
            raise self._error("the line broke")
        return response


@pytest.mark.parametrize("streaming", [True, False])
async def test_a_message_whose_answer_was_lost_is_found_by_its_id_and_not_sent_again(
    *, streaming: bool
) -> None:
    agent, transport = ScriptedAgent(answering), Lossy(1)
    async with serve(agent, streaming=streaming) as url, connected(url, transport) as connection:
        task = await said(connection, IMPATIENT)
    assert (task.state, task.text()) == ("completed", "Here it is.")
    assert len(agent.seen) == transport.sends == 1


async def test_a_message_that_reached_nobody_is_sent_again() -> None:
    agent, transport = ScriptedAgent(answering), Lossy(2, httpx.ConnectError)
    async with serve(agent) as url, connected(url, transport) as connection:
        task = await said(connection, IMPATIENT)
    assert (task.state, len(agent.seen), transport.sends) == ("completed", 1, 3)


async def test_an_agent_that_does_not_stream_is_asked_for_its_task() -> None:
    agent = ScriptedAgent(answering)
    async with serve(agent, streaming=False) as url, connected(url) as connection:
        task = await said(connection, IMPATIENT)
    assert (task.state, task.text(), len(agent.seen)) == ("completed", "Here it is.", 1)


@pytest.mark.parametrize("streaming", [True, False])
async def test_the_reply_to_a_question_is_followed_to_its_own_end(*, streaming: bool) -> None:
    async def asking(turn: Turn) -> None:
        await turn.task()
        if turn.text == "go":
            await turn.status("input_required", "Which one?")
            return
        await turn.chunk(f"You said {turn.text}.", append=False)
        await turn.status("completed")

    async with serve(ScriptedAgent(asking), streaming=streaming) as url, connected(url) as connection:
        asked = await said(connection)
        assert (asked.waits, asked.question) == (True, "Which one?")
        states = []
        reply = user_message("that one", context_id=asked.context_id, task_id=asked.task_id)
        async for event in follow_message(connection, reply):
            states += [event.state] if isinstance(event, StatusChanged) else []
    assert states == ["completed"]
