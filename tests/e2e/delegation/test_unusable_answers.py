"""An agent that answers with something that is not A2A was reached, and the sentence says so."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.responses import Response
from structlog.testing import capture_logs

from tests.e2e.agents.peers import ask, connected
from tests.e2e.delegation.hostile import COMPLETED, Body, Hostile, hostile
from tests.e2e.delegation.teams import model, results, supervising
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


class Babbling(Hostile):
    """Says one thing to each message, and knows no other request."""

    def _answer(self, method: str) -> Response:
        if method in ("SendStreamingMessage", "SendMessage"):
            return super()._answer(method)
        refused = {"code": -32601, "message": "Method not found"}
        return Response(
            json.dumps({"jsonrpc": "2.0", "id": self.answered_id(), "error": refused}),
            200,
            media_type="application/json",
        )


class Mistaken(Hostile):
    """Answers each message under the id of another request."""

    def answered_id(self) -> Any:
        """Another id."""
        return "b0a1c7d8-0000-4000-8000-000000000000"


def saying(words: bytes):
    async def body(agent: Hostile) -> Body:
        yield words.replace(b"ASKED", json.dumps(agent.answered_id()).encode())

    return body


RPC = b'{"jsonrpc": "2.0", "id": ASKED, "result": %s}'
ANSWERS = {
    "no JSON": b"data: {not json\r\n\r\n",
    "a list": b"data: [1, 2]\r\n\r\n",
    "no result": b'data: {"jsonrpc": "2.0", "id": ASKED}\r\n\r\n',
    "a result of another form": b"data: " + RPC % b'{"task": 5}' + b"\r\n\r\n",
    "a field that A2A does not know the type of": b"data: " + RPC % b'{"task": {"id": []}}' + b"\r\n\r\n",
    "bytes that are no text": b'data: {"jsonrpc": "\xff\xfe"}\r\n\r\n',
}


@pytest.mark.parametrize("words", ANSWERS.values(), ids=ANSWERS)
async def test_a_stream_that_is_not_a2a_is_told_from_an_agent_that_cannot_be_reached(words: bytes) -> None:
    supervisor = model([calls(call("odd", request="Dig")), "It said something odd."])
    async with (
        hostile(saying(words), made=Babbling) as agent,
        supervising({"odd": agent.url}, supervisor) as url,
        connected(url) as client,
    ):
        with capture_logs() as logs:
            await ask(client, "Dig")
    problem = json.loads(results(supervisor, 1)[0])
    assert problem["message"].startswith("The odd agent answered with something that is not A2A. ")
    assert (problem["error"], problem["retryable"]) == ("unknown_outcome", False)
    told = {each["event"] for each in logs}
    assert "delegation.refused" in told
    assert told.isdisjoint({"tool.crashed", "delegation.unreachable"})


@pytest.mark.parametrize("streaming", [True, False], ids=["stream", "one answer"])
async def test_an_answer_with_the_id_of_another_request_is_refused_and_nothing_of_it_is_taken(
    streaming: bool,
) -> None:
    said = {"task": COMPLETED | {"artifacts": [{"artifactId": "a", "parts": [{"text": "of somebody else"}]}]}}
    supervisor = model([calls(call("odd", request="Dig")), "It said something odd."])

    async def body(agent: Hostile) -> Body:
        yield agent.event(said) if streaming else agent.wrapped(said)

    async with (
        hostile(body, streaming=streaming, made=Mistaken) as agent,
        supervising({"odd": agent.url}, supervisor) as url,
        connected(url) as client,
    ):
        with capture_logs() as logs:
            await ask(client, "Dig")
    problem = json.loads(results(supervisor, 1)[0])
    assert problem["error"] == "protocol_violation"
    assert "a different JSON-RPC id" in problem["message"]
    assert "of somebody else" not in results(supervisor, 1)[0]
    assert "tool.crashed" not in {each["event"] for each in logs}


async def test_half_of_a_character_in_a_stream_is_replaced_and_crashes_nothing() -> None:
    said = {"task": COMPLETED | {"artifacts": [{"artifactId": "a", "parts": [{"text": "bad \ud83d text"}]}]}}
    supervisor = model([calls(call("odd", request="Dig")), "It said something odd."])

    async def body(agent: Hostile) -> Body:
        yield agent.event(said)

    async with (
        hostile(body) as agent,
        supervising({"odd": agent.url}, supervisor) as url,
        connected(url) as client,
    ):
        with capture_logs() as logs:
            await ask(client, "Dig")
    assert "bad \ufffd text" in results(supervisor, 1)[0]
    assert "tool.crashed" not in {each["event"] for each in logs}
