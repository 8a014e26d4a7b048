"""A message whose answer was lost is sent again only where it certainly did not arrive, or would be known by its id."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest
from a2a.client.transports import jsonrpc
from a2a.utils.errors import JSON_RPC_ERROR_CODE_MAP
from starlette.responses import JSONResponse, Response

from tests.e2e.delegation.payer import (
    Look,
    Loss,
    Payer,
    cut,
    empty,
    listing_all,
    listing_no_messages,
    listing_nothing,
    listing_others,
    page,
    paying,
    refusing,
)
from tests.unit.client.test_follow import IMPATIENT, connected
from utils.a2a_common.client.delegation.task_view import TaskView
from utils.a2a_common.client.stream.follow import follow_message
from utils.a2a_common.client.stream.message import user_message
from utils.a2a_common.client.stream.patience import Patience
from utils.a2a_common.client.transport.errors import (
    ConnectionLost,
    FailedInside,
    OutcomeUnclear,
    RequestRefused,
    UnusableAnswer,
    failure_of,
    never_taken,
)
from utils.a2a_common.client.transport.sentences import MAY_HAVE_DONE_IT
from utils.a2a_common.client.transport.unclear import is_away
from utils.a2a_common.protocol.extensions import QUESTION_EXTENSION
from utils.a2a_common.protocol.forbidden import Forbidden
from utils.errors import SubAgentUnavailable
from utils.process_wide import install

pytestmark = [pytest.mark.listens, pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]

LOSSES: dict[str, Loss] = {
    "502 of a gateway": page(502),
    "503 that does not say when to come again": page(503),
    "504 of a gateway": page(504),
    "408": page(408),
    "200 with a page": page(200),
    "a stream that is cut": cut,
    "an empty stream": empty,
}
OURS = (QUESTION_EXTENSION,)


async def told(
    agent: Payer,
    *,
    patience: Patience = IMPATIENT,
    maybe_sent: bool = False,
    task_id: str = "",
    transport: httpx.AsyncBaseTransport | None = None,
) -> TaskView:
    """What comes of one message to an agent."""
    task, message = TaskView(), user_message("Pay bill 7", context_id="c", task_id=task_id)
    async with paying(agent) as url, connected(url, transport) as connection:
        async for event in follow_message(connection, message, maybe_sent=maybe_sent, patience=patience):
            task.apply(event)
    return task


@pytest.mark.parametrize("look", [refusing, listing_nothing, listing_no_messages])
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
async def test_no_message_is_sent_again_of_which_nobody_can_tell_whether_it_arrived(
    loss: Loss, look: Any
) -> None:
    agent = Payer(loss, look=look)
    with pytest.raises(OutcomeUnclear) as caught:
        await told(agent)
    failure = failure_of("pay", caught.value)
    assert len(agent.paid) == 1
    assert (failure.code, failure.retryable) == ("unknown_outcome", False)
    assert failure.message.endswith(MAY_HAVE_DONE_IT)


async def test_an_agent_that_does_not_stream_is_no_exception() -> None:
    agent = Payer(page(504), streaming=False)
    with pytest.raises(OutcomeUnclear):
        await told(agent)
    assert len(agent.paid) == 1


async def test_an_agent_of_protocol_0_3_cannot_list_its_tasks() -> None:
    agent = Payer(page(504), version="0.3", streaming=False)
    with pytest.raises(OutcomeUnclear):
        await told(agent)
    assert len(agent.paid) == 1


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
async def test_a_message_that_is_found_by_its_id_is_followed(loss: Loss) -> None:
    agent = Payer(loss, look=listing_all)
    assert (await told(agent)).text() == "Paid 0."
    assert len(agent.paid) == 1


@pytest.mark.parametrize("status", [301, 404, 413, 429])
async def test_a_message_that_was_refused_before_it_was_read_is_sent_again(status: int) -> None:
    agent = Payer(page(status), page(status), unpaid=True)
    assert (await told(agent)).text() == "Paid 0."
    assert len(agent.paid) == 1


async def test_one_that_is_always_refused_so_may_be_sent_later() -> None:
    with pytest.raises(UnusableAnswer) as caught:
        await told(Payer(*[page(404)] * 9, unpaid=True))
    assert isinstance(failure_of("pay", caught.value), SubAgentUnavailable)
    assert failure_of("pay", caught.value).retryable


async def test_an_agent_that_shows_the_messages_of_its_tasks_and_not_this_one_is_sent_it_again() -> None:
    agent = Payer(page(502), look=listing_others, unpaid=True)
    assert (await told(agent)).text() == "Paid 0."


async def test_an_agent_that_knows_repeated_messages_is_sent_it_again() -> None:
    agent = Payer(page(504), cut, extensions=OURS)
    assert (await told(agent)).text() == "Paid 2."
    assert len({each["messageId"] for each in agent.paid}) == 1


async def test_an_agent_that_restarts_meanwhile_is_looked_at_until_it_is_back() -> None:
    agent = Payer(cut, look=listing_all, looks=[page(502), page(503), page(504)])
    assert (await told(agent, patience=replace(IMPATIENT, away_seconds=30))).text() == "Paid 0."
    assert len(agent.paid) == 1


async def test_an_agent_that_does_not_come_back_may_have_done_its_work() -> None:
    agent = Payer(cut, looks=[page(502)] * 99)
    with pytest.raises(OutcomeUnclear) as caught:
        await told(agent)
    assert len(agent.paid) == 1
    assert is_away(failure_of("pay", caught.value))  # for its circuit breaker


@pytest.mark.parametrize("look", [refusing, listing_nothing])
async def test_a_message_that_an_earlier_process_may_have_sent_is_not_sent_again(look: Any) -> None:
    agent = Payer(look=look)
    with pytest.raises(OutcomeUnclear):
        await told(agent, maybe_sent=True)
    assert agent.asked == ["ListTasks"]


@pytest.mark.parametrize(("look", "extensions"), [(listing_others, ()), (refusing, OURS)])
async def test_one_that_the_agent_certainly_does_not_have_is_sent(look: Any, extensions: Any) -> None:
    agent = Payer(look=look, extensions=extensions)
    assert (await told(agent, maybe_sent=True)).text() == "Paid 0."


def _standing(state: str, *said: str) -> Any:
    """Shows its one task in a state, with what its user said."""
    history = [{"messageId": each, "role": "ROLE_USER", "parts": [{"text": each}]} for each in said]
    task = {"id": "t1", "contextId": "c", "status": {"state": state}, "history": history}

    def look(asked: dict[str, Any], _paid: Any) -> Response:
        return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": task})

    return look


async def test_an_answer_is_taken_for_received_where_its_task_went_on() -> None:
    agent = Payer(page(504), look=_standing("TASK_STATE_COMPLETED"))
    assert (await told(agent, task_id="t1")).state == "completed"
    assert len(agent.paid) == 1


@pytest.mark.parametrize("maybe_sent", [False, True])
async def test_an_answer_is_not_sent_again_to_a_task_that_may_ask_something_else_by_now(
    *, maybe_sent: bool
) -> None:
    agent = Payer(page(504), look=_standing("TASK_STATE_INPUT_REQUIRED"))
    with pytest.raises(OutcomeUnclear):
        await told(agent, task_id="t1", maybe_sent=maybe_sent)
    assert len(agent.paid) == (0 if maybe_sent else 1)


async def test_an_answer_that_its_waiting_task_does_not_show_among_the_others_is_sent_again() -> None:
    waits = _standing("TASK_STATE_INPUT_REQUIRED", "the request")
    agent = Payer(page(502), look=waits, unpaid=True)
    assert (await told(agent, task_id="t1")).text() == "Paid 0."


class _Gone(httpx.AsyncHTTPTransport):
    """Nobody is there any more after the first message, whose stream names the task and ends; or what `looks` gives is."""

    def __init__(self, looks: Callable[[httpx.Request], httpx.Response] | None = None) -> None:
        super().__init__()
        self._looks = looks

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if b"GetTask" in request.content or b"SubscribeToTask" in request.content:
            if self._looks is not None:
                return self._looks(request)
            raise httpx.ConnectError("nobody is there")
        response = await super().handle_async_request(request)
        if b"SendStreamingMessage" in request.content:
            text = (await response.aread()).replace(b"TASK_STATE_COMPLETED", b"TASK_STATE_WORKING")
            headers = {"Content-Type": "text/event-stream"}
            return httpx.Response(200, headers=headers, content=text)
        return response


@pytest.mark.parametrize(("extensions", "error"), [((), OutcomeUnclear), (OURS, ConnectionLost)])
async def test_an_agent_that_is_gone_with_an_open_task_may_have_done_its_work(
    extensions: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await told(Payer(extensions=extensions), transport=_Gone())


def busy() -> Response:
    """An agent that takes no request now, as while its database is away."""
    return JSONResponse({}, 503, headers={"Retry-After": "0"})


def _shows_busy(_request: httpx.Request) -> httpx.Response:
    return httpx.Response(503, json={}, headers={"Retry-After": "0"})


def _shows_page(_request: httpx.Request) -> httpx.Response:
    return httpx.Response(404, text="<html>a gateway</html>")


NOT_FOUND = {"code": -32001, "message": "Task not found"}


def _has_forgotten(request: httpx.Request) -> httpx.Response:
    asked = json.loads(request.content)
    return httpx.Response(200, json={"jsonrpc": "2.0", "id": asked["id"], "error": NOT_FOUND})


class Forgetful(Payer):
    """It has lost its tasks."""

    def _answer(self, asked: dict[str, Any]) -> Response:
        return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "error": NOT_FOUND})


async def test_a_busy_agent_that_may_have_the_message_already_is_not_said_to_have_taken_nothing() -> None:
    agent = Payer(cut, *[busy] * 99, extensions=OURS, looks=[busy] * 99)
    with pytest.raises(ConnectionLost) as caught:
        await told(agent, patience=replace(IMPATIENT, busy_seconds=0.3))
    assert not never_taken(caught.value)


async def test_a_busy_agent_that_may_have_an_answer_already_may_have_done_its_work() -> None:
    agent = Payer(cut, *[busy] * 99, extensions=OURS, looks=[busy] * 99)
    with pytest.raises(OutcomeUnclear):
        await told(agent, patience=replace(IMPATIENT, busy_seconds=0.3), task_id="t1")


LOOKS = pytest.mark.parametrize("looks", [None, _shows_busy, _shows_page], ids=["gone", "busy", "a page"])


@LOOKS
async def test_an_agent_that_does_not_show_its_task_any_more_is_not_said_to_have_taken_nothing(
    looks: Any,
) -> None:
    with pytest.raises(ConnectionLost) as caught:
        await told(Payer(extensions=OURS), transport=_Gone(looks))
    assert not never_taken(caught.value)


@pytest.mark.parametrize("maybe_sent", [False, True])
@LOOKS
async def test_an_agent_that_took_an_answer_and_does_not_tell_of_it_may_have_done_its_work(
    looks: Any, *, maybe_sent: bool
) -> None:
    with pytest.raises(OutcomeUnclear) as caught:
        await told(Payer(extensions=OURS), transport=_Gone(looks), task_id="t1", maybe_sent=maybe_sent)
    failure = failure_of("pay", caught.value)
    assert (failure.code, failure.retryable) == ("unknown_outcome", False)
    assert failure.message.endswith(MAY_HAVE_DONE_IT)


@pytest.mark.parametrize(("task_id", "error"), [("", ConnectionLost), ("t1", OutcomeUnclear)])
@pytest.mark.parametrize("later", [page(504), page(404)], ids=["lost again", "not taken"])
async def test_an_answer_that_was_lost_at_each_try_may_have_been_carried_out_and_a_request_is_made_again(
    later: Loss, task_id: str, error: type[Exception]
) -> None:
    agent = Payer(cut, *[later] * 9, extensions=OURS, looks=[page(502)] * 99)
    with pytest.raises(error):
        await told(agent, task_id=task_id)


async def test_an_agent_that_lost_its_tasks_after_it_took_an_answer_may_have_done_its_work() -> None:
    with pytest.raises(OutcomeUnclear):
        await told(Payer(extensions=OURS), transport=_Gone(_has_forgotten), task_id="t1")


@pytest.mark.parametrize("maybe_sent", [False, True])
async def test_an_agent_that_lost_its_tasks_and_may_have_taken_an_answer_before_may_have_done_its_work(
    *, maybe_sent: bool
) -> None:
    lost = [] if maybe_sent else [cut]
    with pytest.raises(OutcomeUnclear):
        await told(Forgetful(*lost, extensions=OURS), task_id="t1", maybe_sent=maybe_sent)


async def test_an_agent_that_has_lost_its_tasks_before_an_answer_came_says_so() -> None:
    with pytest.raises(RequestRefused) as caught:
        await told(Forgetful(extensions=OURS), task_id="t1")
    assert caught.value.unknown_task


class Failing(Payer):
    """Answers each message with an error of JSON-RPC."""

    def __init__(
        self, code: int, *, streaming: bool = True, look: Look = refusing, extensions: Sequence[str] = ()
    ) -> None:
        super().__init__(streaming=streaming, look=look, extensions=extensions)
        self._code = code

    def _answer(self, asked: dict[str, Any]) -> Response:
        error = {"code": self._code, "message": "Server error"}
        return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "error": error})


@pytest.mark.parametrize("streaming", [True, False], ids=["stream", "one answer"])
@pytest.mark.parametrize("code", [-32000, -32010, -32099])
async def test_a_server_error_without_a_meaning_in_a2a_is_no_refusal(
    monkeypatch: pytest.MonkeyPatch, code: int, streaming: bool
) -> None:
    install()
    known = {code: kind for kind, code in JSON_RPC_ERROR_CODE_MAP.items()}
    assert Forbidden in JSON_RPC_ERROR_CODE_MAP
    # as in a process that served before it asked anybody
    monkeypatch.setattr(jsonrpc, "_JSON_RPC_ERROR_CODE_TO_A2A_ERROR", known)
    with pytest.raises(OutcomeUnclear) as caught:
        await told(Failing(code, streaming=streaming))
    message = failure_of("pay", caught.value).message
    assert f'"JSON-RPC Error {code}: Server error"' in message
    assert MAY_HAVE_DONE_IT in message


@pytest.mark.parametrize("streaming", [True, False], ids=["stream", "one answer"])
@pytest.mark.parametrize("code", [-32603, -32006])
async def test_an_agent_that_failed_over_a_message_may_have_done_its_work(code: int, streaming: bool) -> None:
    with pytest.raises(OutcomeUnclear) as caught:
        await told(Failing(code, streaming=streaming))
    failure = failure_of("pay", caught.value)
    assert failure.message.startswith("The pay agent had an internal error.")
    assert failure.message.endswith(MAY_HAVE_DONE_IT)
    assert (failure.code, is_away(failure)) == ("unknown_outcome", False)


async def test_an_agent_that_failed_over_a_message_is_not_sent_it_again() -> None:
    agent = Failing(-32603, look=listing_others)
    with pytest.raises(OutcomeUnclear):
        await told(agent)
    assert len(agent.paid) == 1


async def test_a_request_that_an_agent_of_ours_failed_over_changed_nothing_and_an_answer_may_have() -> None:
    agent = Failing(-32603, extensions=OURS)
    with pytest.raises(FailedInside) as caught:
        await told(agent)
    assert failure_of("pay", caught.value).code == "delegation_failed"
    with pytest.raises(OutcomeUnclear):
        await told(agent, task_id="t")
    assert len(agent.paid) == 2


async def test_the_task_of_a_message_that_an_agent_failed_over_is_found() -> None:
    agent = Failing(-32603, look=listing_all)
    assert (await told(agent)).text() == "Paid 0."
    assert len(agent.paid) == 1


@pytest.mark.parametrize("streaming", [True, False], ids=["stream", "one answer"])
@pytest.mark.parametrize("code", [-32700, -32600, -32601, -32602, -32001, -32004, -32005, -32008, -32009])
async def test_an_error_by_which_a2a_refuses_a_message_proves_that_nothing_was_done(
    code: int, streaming: bool
) -> None:
    with pytest.raises(RequestRefused) as caught:
        await told(Failing(code, streaming=streaming))
    assert not isinstance(caught.value, FailedInside)
