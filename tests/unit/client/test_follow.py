"""Following a task whose stream ended or broke, against a real server in this process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.e2e.cli.scripted_agent import ScriptedAgent, Turn, serve
from utils.a2a_common.client.delegation.task_view import TaskView
from utils.a2a_common.client.stream.events import AgentAway, PeerEvent, StatusChanged
from utils.a2a_common.client.stream.follow import follow_message, follow_task
from utils.a2a_common.client.stream.message import user_message
from utils.a2a_common.client.stream.patience import PATIENCE, Patience
from utils.a2a_common.client.transport.connection import Connection, fetch_card, http_client
from utils.a2a_common.client.transport.errors import (
    AgentBusy,
    ConnectionLost,
    NoProgress,
    OutcomeUnclear,
    failure_of,
)
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION, resubscribe_payload

pytestmark = pytest.mark.listens

IMPATIENT = Patience(first_wait=0.01, away_seconds=0.1, quiet_seconds=0.3, pause_seconds=0.01)


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


async def test_a_stream_that_ends_because_the_agent_stops_is_taken_up_after_the_time_that_it_names() -> None:
    async def stopping(turn: Turn) -> None:
        await turn.task()
        await turn.status("working", metadata={ACTIVITY_EXTENSION: resubscribe_payload(0.05)})

    async with serve(ScriptedAgent(stopping)) as url, connected(url) as connection:
        events = follow_message(connection, user_message("go", context_id="c"), patience=IMPATIENT)
        waits = [event async for event in _until_given_up(events) if isinstance(event, AgentAway)]
    assert waits == [AgentAway(0.05, busy=False)]


async def _until_given_up(events: AsyncIterator[PeerEvent]) -> AsyncIterator[PeerEvent]:
    with suppress(NoProgress):
        async for event in events:
            yield event


async def test_an_answer_without_task_or_message_tells_nothing_of_what_was_done() -> None:
    async def nothing(turn: Turn) -> None:
        del turn

    agent = ScriptedAgent(nothing)
    async with serve(agent) as url, connected(url) as connection:
        with pytest.raises(OutcomeUnclear) as caught:
            await said(connection, IMPATIENT)
    assert "without a task or a message" in str(caught.value.lost)
    assert len(agent.seen) == 1


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


async def test_an_agent_that_restarts_is_sent_the_message_until_it_is_back_and_the_wait_is_told() -> None:
    agent, transport = ScriptedAgent(answering), Lossy(6, httpx.ConnectError)
    patience = replace(IMPATIENT, restart_seconds=30)
    async with serve(agent) as url, connected(url, transport) as connection:
        message = user_message("go", context_id="c")
        events = [event async for event in follow_message(connection, message, patience=patience)]
    waits = [event for event in events if isinstance(event, AgentAway)]
    assert (len(agent.seen), transport.sends) == (1, 7)
    assert [event.busy for event in waits] == [False] * 6


async def test_an_agent_that_does_not_come_back_from_its_restart_is_out_of_reach() -> None:
    agent, transport = ScriptedAgent(answering), Lossy(10_000, httpx.ConnectError)
    async with serve(agent) as url, connected(url, transport) as connection:
        with pytest.raises(ConnectionLost):
            await said(connection, replace(IMPATIENT, restart_seconds=0.1))
    assert not agent.seen


async def test_a_message_that_may_have_been_sent_is_looked_for_until_its_agent_is_back() -> None:
    class Away(httpx.AsyncHTTPTransport):
        looks = 0

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            looks = b"ListTasks" in request.content
            self.looks += looks
            if looks and self.looks <= 2:
                raise httpx.ConnectError("nobody is there")
            return await super().handle_async_request(request)

    agent, transport = ScriptedAgent(answering), Away()
    async with serve(agent) as url, connected(url, transport) as connection:
        message = user_message("go", context_id="c")
        async for _ in follow_message(connection, message):
            pass
        task = TaskView()
        async for event in follow_message(
            connection, message, maybe_sent=True, patience=replace(IMPATIENT, away_seconds=30)
        ):
            task.apply(event)
    assert (task.state, len(agent.seen), transport.looks) == ("completed", 1, 3)


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


PAST = "Wed, 21 Oct 2015 07:28:00 GMT"


class Refusing(httpx.AsyncHTTPTransport):
    """Answers the first sends as a busy agent does; they do not arrive."""

    def __init__(self, times: int, *, status: int = 503, after: str = "0") -> None:
        super().__init__()
        self._left, self._status, self._after = times, status, after
        self.bodies: list[bytes] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if b"SendStreamingMessage" in request.content or b'"SendMessage"' in request.content:
            self.bodies.append(request.content)
            if len(self.bodies) <= self._left:
                error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "Busy."}}
                return httpx.Response(self._status, json=error, headers={"Retry-After": self._after})
        return await super().handle_async_request(request)


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize(("status", "after"), [(503, "0"), (429, "0"), (503, PAST)])
async def test_a_busy_agent_is_sent_the_same_message_again_after_the_time_that_it_names(
    *, streaming: bool, status: int, after: str
) -> None:
    agent, transport = ScriptedAgent(answering), Refusing(4, status=status, after=after)
    task, waits, message = TaskView(), list[AgentAway](), user_message("go", context_id="c")
    async with serve(agent, streaming=streaming) as url, connected(url, transport) as connection:
        async for event in follow_message(connection, message):
            task.apply(event)
            waits += [event] if isinstance(event, AgentAway) else []
    assert (task.state, task.text(), len(agent.seen)) == ("completed", "Here it is.", 1)
    assert waits == [AgentAway(0.2, busy=True)] * 4  # more often than a message is sent that gets lost
    assert all(message.message_id.encode() in body for body in transport.bodies)


async def test_an_agent_that_stays_busy_is_no_dead_agent() -> None:
    agent, transport = ScriptedAgent(answering), Refusing(99, after="7")
    async with serve(agent) as url, connected(url, transport) as connection:
        with pytest.raises(AgentBusy) as caught:
            await said(connection, Patience(busy_seconds=5))
    assert caught.value.retry_after == 7
    failure = failure_of("scripted", caught.value)
    assert (type(failure).__name__, failure.code, failure.retryable) == (
        "DelegationFailed",
        "sub_agent_busy",
        True,
    )


class Restarting(httpx.AsyncHTTPTransport):
    """Ends the first stream after its first event, and then is out of reach for some requests."""

    def __init__(self, refused: int) -> None:
        super().__init__()
        self._refused, self._cut = refused, False
        self.sends = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.sends += b"SendStreamingMessage" in request.content
        if self._cut and self._refused:
            self._refused -= 1
            raise httpx.ConnectError("it restarts")
        response = await super().handle_async_request(request)
        if "event-stream" in response.headers.get("content-type", "") and not self._cut:
            self._cut = True
            response.stream = _FirstEvent(response.stream)
        return response


class _FirstEvent(httpx.AsyncByteStream):
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            yield piece
            return

    async def aclose(self) -> None:
        await self._inner.aclose()


async def test_a_task_whose_agent_restarts_is_taken_up_again_and_nothing_is_sent_twice() -> None:
    agent, transport, task, away = ScriptedAgent(answering), Restarting(8), TaskView(), list[AgentAway]()
    patience = Patience(first_wait=0.001, pause_seconds=0.01)
    async with serve(agent) as url, connected(url, transport) as connection:
        async for event in follow_message(connection, user_message("go", context_id="c"), patience=patience):
            task.apply(event)
            away += [event] if isinstance(event, AgentAway) else []
    assert (task.state, task.text()) == ("completed", "Here it is.")
    assert (transport.sends, len(agent.seen)) == (1, 1)
    assert [each.busy for each in away] == [False] * 8


async def test_a_task_that_is_known_is_followed_without_a_message() -> None:
    agent = ScriptedAgent(answering)
    async with serve(agent) as url, connected(url) as connection:
        first = await said(connection)
        again = TaskView()
        async for event in follow_message(
            connection, user_message("go", context_id="c"), known_task=first.task_id
        ):
            again.apply(event)
    assert (again.task_id, again.text(), len(agent.seen)) == (first.task_id, "Here it is.", 1)


class Dies(httpx.AsyncHTTPTransport):
    """A line that brings the beginning of the first stream, and then neither a word nor an end."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        method = json.loads(request.content or b"{}").get("method", "")
        answer = await super().handle_async_request(request)
        self.asked.append(method)
        if method != "SendStreamingMessage":
            return answer
        return httpx.Response(answer.status_code, headers=answer.headers, stream=_Held(answer.stream))


class _Held(httpx.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield chunk
            await asyncio.Event().wait()

    async def aclose(self) -> None:
        await self._stream.aclose()


QUICK_TO_LOOK = replace(PATIENCE, silent_seconds=0.05)


@pytest.mark.parametrize("text", ["go", "go, and ask me"])
async def test_what_became_of_a_task_behind_a_line_that_died_without_a_word_is_found(text: str) -> None:
    async def working(turn: Turn) -> None:
        await turn.task()
        await asyncio.sleep(0)  # the beginning goes out alone
        if "ask" in turn.text:
            await turn.status("input_required", "Which one?")
            return
        await turn.chunk("Here it is.", append=False)
        await turn.status("completed")

    line = Dies()
    async with serve(ScriptedAgent(working)) as url, connected(url, line) as connection:
        task = TaskView()
        message = user_message(text, context_id="c")
        async with asyncio.timeout(60):
            async for event in follow_message(connection, message, patience=QUICK_TO_LOOK):
                task.apply(event)
    assert task.text() == ("Which one?" if "ask" in text else "Here it is.")
    assert line.asked.count("SendStreamingMessage") == 1


async def test_a_task_that_is_silent_for_long_keeps_its_stream() -> None:
    looked = asyncio.Event()

    async def silent(turn: Turn) -> None:
        await turn.task()
        await looked.wait()
        await turn.chunk("Here it is.", append=False)
        await turn.status("completed")

    class Looks(httpx.AsyncHTTPTransport):
        looks, subscribed = 0, 0

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            method = json.loads(request.content or b"{}").get("method", "")
            self.looks += method == "GetTask"
            self.subscribed += method == "SubscribeToTask"
            if self.looks == 3:
                looked.set()
            return await super().handle_async_request(request)

    line = Looks()
    async with serve(ScriptedAgent(silent)) as url, connected(url, line) as connection:
        task = await said(connection, QUICK_TO_LOOK)
    assert task.text() == "Here it is."
    assert line.subscribed == 0
