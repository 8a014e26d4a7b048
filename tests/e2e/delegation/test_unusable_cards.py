"""An agent that cannot be called with its card: a sentence, no crash, and nothing is sent to it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.e2e.agents.peers import ask, connected
from tests.e2e.delegation.foreign import answering, foreign
from tests.e2e.delegation.hostile import Body, Hostile, hostile
from tests.e2e.delegation.teams import model, results, supervising
from utils.a2a_common import BaseLangGraphAgent
from utils.a2a_common.protocol.card_options import CardOptions
from utils.a2a_common.protocol.extensions import PLAN_EXTENSION, QUESTION_EXTENSION
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


def interface(url: str, binding: str = "JSONRPC", version: str = "1.0") -> dict[str, Any]:
    return {"url": url, "protocolBinding": binding, "protocolVersion": version}


UNUSABLE: list[list[dict[str, Any]]] = [
    [],
    [interface("grpc.example.com:443", "GRPC")],
    [interface("ftp://127.0.0.1/")],
    [interface("")],
    [interface("http://[")],
    [interface("OWN", version="some")],
]


EXTENSIONS = {"urn:other:signed": True, "urn:other:optional": False, QUESTION_EXTENSION: True}
"""What a card declares, and whether it is required."""


async def silent(_agent: Hostile) -> Body:
    yield b""


@pytest.mark.parametrize("interfaces", UNUSABLE)
async def test_an_agent_whose_card_names_no_usable_address_is_said_to_be_so(
    interfaces: list[dict[str, Any]],
) -> None:
    supervisor = model([calls(call("flood", request="Dig")), "It cannot be used."])
    async with hostile(silent) as agent:
        agent.interfaces = [{**each, "url": each["url"].replace("OWN", agent.url)} for each in interfaces]
        async with supervising({"flood": agent.url}, supervisor) as url, connected(url) as client:
            await ask(client, "Dig")
    problem = json.loads(results(supervisor, 1)[0])
    assert problem["error"] == "sub_agent_unavailable"
    assert problem["message"].startswith("The flood agent cannot be called. It names no ")
    assert agent.asked == []


async def test_an_agent_that_requires_an_extension_that_is_not_spoken_here_is_not_asked() -> None:
    supervisor = model([calls(call("flood", request="Dig")), "It cannot be used."])
    async with hostile(silent) as agent:
        agent.extensions = [{"uri": uri, "required": required} for uri, required in EXTENSIONS.items()]
        async with supervising({"flood": agent.url}, supervisor) as url, connected(url) as client:
            await ask(client, "Dig")
    problem = json.loads(results(supervisor, 1)[0])
    assert problem["error"] == "sub_agent_unavailable"
    assert problem["message"].startswith(
        'The flood agent cannot be called. Its card requires an extension of A2A that is not spoken here: "urn:other:signed".'
    )
    assert agent.asked == []


class Strict(BaseLangGraphAgent):
    name = "strict"
    description = "Digs."

    def card_options(self) -> CardOptions:
        return CardOptions(required_extensions=[PLAN_EXTENSION, QUESTION_EXTENSION])


async def test_what_an_agent_of_ours_requires_is_declared_to_it() -> None:
    supervisor = model([calls(call("strict", request="Dig")), "So it is."])
    async with (
        running_agent(Strict, model=ScriptedModel.of("Dug.")) as strict,
        supervising({"strict": strict}, supervisor) as url,
        connected(url) as client,
    ):
        await ask(client, "Dig")
    assert "Dug." in results(supervisor, 1)[0]


async def test_a_card_that_names_another_origin_sends_nothing_there_unless_that_is_allowed() -> None:
    async with hostile(silent) as agent, foreign(answering("Sunny.")) as elsewhere:
        agent.interfaces = [interface(f"{elsewhere.url}/")]
        for allowed in ("", elsewhere.url):
            supervisor = model([calls(call("flood", request="Dig")), "So it is."])
            settings = {"SUB_AGENT_ORIGINS": allowed}
            async with (
                supervising({"flood": agent.url}, supervisor, settings) as url,
                connected(url) as client,
            ):
                await ask(client, "Dig")
            assert ("SUB_AGENT_ORIGINS" in results(supervisor, 1)[0]) is (not allowed)
            assert len(elsewhere.messages) == (1 if allowed else 0)
        assert agent.asked == []
