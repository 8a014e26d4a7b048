"""What an author says of an agent stands on its card, and is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.wire.ways import WAYS, answer, asking, served
from tests.e2e.wire.wiring import HEADERS, message
from utils.a2a_common import BaseLangGraphAgent
from utils.a2a_common.protocol.card_options import CardOptions
from utils.errors import SettingsError
from utils.testing.scripted_model import ScriptedModel

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

EXTENSION = "https://billing.example/ext/invoice/v1"


class Billing(BaseLangGraphAgent):
    """An agent that says all that its card can say."""

    name = "billing"
    description = "Writes invoices."
    input_modes = ("text/plain", "image/*")
    output_modes = ("text/markdown", "application/pdf")
    options = CardOptions(
        documentation_url="https://billing.example/docs",
        icon_url="https://billing.example/icon.svg",
        grpc_url="https://billing.example:443",
        streaming=False,
        push_notifications=False,
        extensions={EXTENSION: "The number of an invoice."},
        security_schemes={"key": {"httpAuthSecurityScheme": {"scheme": "bearer"}}},
        security=[{"key": ["invoices"]}],
    )

    def card_options(self) -> CardOptions:
        return self.options


class Demanding(Billing):
    options = CardOptions(extensions={EXTENSION: "Needed."}, required_extensions=[EXTENSION])


class Wrong(Billing):
    options = CardOptions(security_schemes={"key": {"no such scheme": {}}})


async def card_of(url: str) -> dict[str, Any]:
    async with httpx.AsyncClient(trust_env=False) as http:
        card: dict[str, Any] = (await http.get(f"{url}/.well-known/agent-card.json")).json()
        return card


async def test_the_card_says_what_the_author_says(tmp_path: Path) -> None:
    async with served(Billing, ScriptedModel.of(), tmp_path) as place:
        card = await card_of(place.url)
    assert card["documentationUrl"] == "https://billing.example/docs"
    assert card["iconUrl"] == "https://billing.example/icon.svg"
    assert card["defaultInputModes"] == ["text/plain", "image/*"]
    assert card["defaultOutputModes"] == ["text/markdown", "application/pdf"]
    assert card["securitySchemes"]["key"]["httpAuthSecurityScheme"] == {"scheme": "bearer"}
    assert card["securityRequirements"] == [{"schemes": {"key": {"list": ["invoices"]}}}]
    grpc = [each for each in card["supportedInterfaces"] if each["protocolBinding"] == "GRPC"]
    assert [(each["url"], each["protocolVersion"]) for each in grpc] == [
        ("https://billing.example:443", "1.0"),
        ("https://billing.example:443", "0.3"),
    ]
    declared = {each["uri"]: each["description"] for each in card["capabilities"]["extensions"]}
    assert declared[EXTENSION] == "The number of an invoice."


async def test_what_an_agent_does_not_offer_is_refused(tmp_path: Path) -> None:
    async with (
        served(Billing, ScriptedModel.of(), tmp_path) as place,
        httpx.AsyncClient(trust_env=False, headers=HEADERS) as http,
    ):
        body = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {"message": message()}}
        assert (await http.post(f"{place.url}/", json=body)).json()["error"]["code"] == -32004
        body["method"], body["params"] = "ListTaskPushNotificationConfigs", {"taskId": "x"}
        assert (await http.post(f"{place.url}/", json=body)).json()["error"]["code"] == -32003


async def test_an_agent_of_the_usual_kind_offers_streams_and_no_grpc(tmp_path: Path) -> None:
    class Usual(BaseLangGraphAgent):
        name = "usual"
        description = "Does the usual."

    async with served(Usual, ScriptedModel.of(), tmp_path) as place:
        card = await card_of(place.url)
    assert card["capabilities"]["streaming"] is card["capabilities"]["pushNotifications"] is True
    assert {each["protocolBinding"] for each in card["supportedInterfaces"]} == {"JSONRPC", "HTTP+JSON"}
    assert "securitySchemes" not in card


async def test_a_pattern_of_input_modes_takes_what_it_matches(tmp_path: Path) -> None:
    from a2a.types.a2a_pb2 import Part

    model = ScriptedModel.of("Seen.")
    async with served(Billing, model, tmp_path) as place, place.client(WAYS[0], streaming=False) as client:
        await answer(client, asking("Look", Part(raw=b"\x89PNG", filename="a.png", media_type="image/png")))
    assert '"a.png" (image/png, 4 bytes) came along' in str(model.requests[0].messages[-1].content)


async def test_an_extension_that_an_agent_requires_is_required(tmp_path: Path) -> None:
    async with (
        served(Demanding, ScriptedModel.of("Here."), tmp_path) as place,
        httpx.AsyncClient(trust_env=False, headers=HEADERS) as http,
    ):
        body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message()}}
        assert (await http.post(f"{place.url}/", json=body)).json()["error"]["code"] == -32008
        told = await http.post(f"{place.url}/", json=body, headers={"A2A-Extensions": EXTENSION})
        assert told.json()["result"]["task"]["status"]["state"] == "TASK_STATE_COMPLETED"


async def test_a_security_scheme_that_the_protocol_does_not_know_is_a_sentence_at_the_start(
    tmp_path: Path,
) -> None:
    with pytest.raises(SettingsError, match="The security schemes of the billing agent"):
        async with served(Wrong, ScriptedModel.of(), tmp_path):
            pass
