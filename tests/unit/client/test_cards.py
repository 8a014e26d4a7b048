"""Where a card is read, what of it can be used, and what its agent is told of what is taken."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from a2a.types.a2a_pb2 import AgentCard, AgentInterface, AgentSkill
from starlette.requests import Request
from starlette.responses import Response

from tests.unit.client.test_follow import connected
from tests.unit.client.test_unreadable import Speaker, speaking, task_of
from utils.a2a_common.client.delegation.remote_agents import ClientPool
from utils.a2a_common.client.stream.follow import follow_message
from utils.a2a_common.client.stream.message import user_message
from utils.a2a_common.client.transport.card_address import card_address
from utils.a2a_common.client.transport.connection import fetch_card
from utils.a2a_common.client.transport.interfaces import accepted_modes, unusable
from utils.errors import SubAgentUnavailable

USUAL = "/.well-known/agent-card.json"


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("http://a.example", f"http://a.example{USUAL}"),
        ("http://a.example/a2a/", f"http://a.example/a2a{USUAL}"),
        (f"http://a.example{USUAL}", f"http://a.example{USUAL}"),
        ("http://a.example/.well-known/agent.json", "http://a.example/.well-known/agent.json"),
        (f"http://a.example{USUAL}?assistant_id=7", f"http://a.example{USUAL}?assistant_id=7"),
        ("http://a.example/a2a?assistant_id=7", f"http://a.example/a2a{USUAL}?assistant_id=7"),
        ("http://a.example/cards/weather.json", "http://a.example/cards/weather.json"),
    ],
)
def test_a_card_is_read_at_its_own_address_or_below_that_of_its_agent(given: str, read: str) -> None:
    assert card_address(given) == read


async def test_the_whole_address_of_a_card_is_asked_for() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(200, json={"name": "seven"})

    address = f"http://a.example{USUAL}?assistant_id=7"
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        card = await fetch_card(http, address)
    assert (card.name, asked) == ("seven", [address])


def _card(*bindings: str, **more: Any) -> AgentCard:
    offered = [AgentInterface(url="https://a.example", protocol_binding=each) for each in bindings]
    return AgentCard(supported_interfaces=offered, **more)


def test_a_card_of_grpc_alone_cannot_be_used_and_says_why() -> None:
    assert unusable(_card("HTTP+JSON", "GRPC")) == ""
    assert unusable(_card("GRPC")) == "It offers GRPC alone; agents are called over JSON-RPC or HTTP+JSON."


async def test_an_agent_that_offers_grpc_alone_is_not_to_be_tried_again() -> None:
    with pytest.raises(SubAgentUnavailable, match="offers GRPC alone") as caught:
        async with ClientPool(1_000).connection("far", _card("GRPC")):
            pass
    assert not caught.value.retryable


def test_all_that_an_agent_offers_is_taken_after_text_and_data() -> None:
    pictures = AgentSkill(output_modes=["image/png", "text/plain"])
    card = _card(default_output_modes=["application/pdf"], skills=[pictures])
    taken = ["text/markdown", "text/plain", "application/json", "application/pdf", "image/png", "*/*"]
    assert accepted_modes(card) == taken


class _Asked(Speaker):
    configuration: dict[str, Any] | None = None

    async def rpc(self, request: Request) -> Response:
        asked = await request.json()
        self.configuration = asked["params"].get("configuration")
        return await super().rpc(request)


@pytest.mark.listens
@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
async def test_a_message_names_what_is_taken_of_an_answer() -> None:
    agent = _Asked([{"task": task_of("COMPLETED", "", "done")}], [])
    async with speaking(agent) as url, connected(url) as connection:
        async for _ in follow_message(connection, user_message("go", context_id="c")):
            pass
    assert agent.configuration is not None
    assert "text/markdown" in agent.configuration["acceptedOutputModes"]
