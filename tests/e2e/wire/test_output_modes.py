"""`acceptedOutputModes`: what a client does not take is refused or left out, before any work is done."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest

from tests.e2e.agents.peers import Keys
from tests.e2e.wire.agents import echo
from tests.e2e.wire.wiring import HEADERS, message, serving, state
from utils.a2a_common.protocol.extensions import PLAN_EXTENSION
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import AgentEvent, Completed, InputRequired, PlanStep, PlanUpdated, StepStatus, TextDelta
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

FORM = {"type": "object", "properties": {"city": {"type": "string"}}}


class Planner(Keys):
    """Says a plan and an answer, or asks when it is told to."""

    name = "planner"

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        yield PlanUpdated([PlanStep("1", "Look", "keys", StepStatus.COMPLETED, 1)])
        yield TextDelta("**Here.**")
        yield InputRequired("Which?", "keys", FORM) if request.text == "ask" else Completed()


def sending(modes: list[str], text: str = "hi") -> dict[str, Any]:
    return {"message": message(text), "configuration": {"acceptedOutputModes": modes}}


@pytest.mark.parametrize("modes", [["image/png"], ["application/json"], ["text/html", "audio/*"], ["", "x"]])
async def test_a_client_that_accepts_nothing_of_what_the_card_offers_is_refused(modes: list[str]) -> None:
    async with serving(echo) as wire:
        for method in ("SendMessage", "SendStreamingMessage"):
            answer = await wire.rpc(method, sending(modes))
            assert answer["error"]["code"] == -32005
            assert "text/plain" in answer["error"]["message"]
        for path in ("/rest/message:send", "/rest/message:stream"):
            rest = await wire.http.post(wire.url + path, json=sending(modes), headers=HEADERS)
            assert rest.status_code == 400
        old = {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "hi"}]}
        params = {"message": old, "configuration": {"acceptedOutputModes": modes}}
        assert (await wire.rpc("message/send", params, {}))["error"]["code"] == -32005
        assert wire.agent.seen == []
        assert (await wire.rpc("ListTasks"))["result"]["tasks"] == []


@pytest.mark.parametrize(
    "modes",
    [
        [],
        ["image/png", "text/plain"],
        ["*/*"],
        ["text/*"],
        ["Text/Plain; charset=utf-8"],
        ["text", "image/png"],
    ],
)
async def test_a_client_that_accepts_one_of_what_the_card_offers_is_answered(modes: list[str]) -> None:
    async with serving(echo) as wire:
        assert state((await wire.rpc("SendMessage", sending(modes)))["result"]["task"]) == "completed"


async def answer_to(modes: list[str], text: str = "hi", headers: dict[str, str] = HEADERS) -> dict[str, Any]:
    async with (
        running_agent(Planner, model=ScriptedModel.of()) as url,
        httpx.AsyncClient(trust_env=False, timeout=60) as http,
    ):
        body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": sending(modes, text)}
        task: dict[str, Any] = (await http.post(f"{url}/", json=body, headers=headers)).json()["result"][
            "task"
        ]
        return task


@pytest.mark.parametrize(
    ("modes", "shown"),
    [
        ([], {"plan": "application/json", "response": "text/markdown"}),
        (["text/plain"], {"response": "text/plain"}),
        (["text/markdown", "application/json"], {"plan": "application/json", "response": "text/markdown"}),
        (["text/*"], {"response": "text/markdown"}),
    ],
    ids=["nothing said", "plain", "markdown and json", "any text"],
)
async def test_every_part_of_an_answer_is_of_a_type_that_the_client_accepts(
    modes: list[str], shown: dict[str, str]
) -> None:
    task = await answer_to(modes, headers={**HEADERS, "A2A-Extensions": PLAN_EXTENSION})
    assert {each["artifactId"]: each["parts"][0]["mediaType"] for each in task["artifacts"]} == shown
    assert task["artifacts"][-1]["parts"][0]["text"] == "**Here.**"


async def test_a_question_to_a_client_without_json_comes_in_words_alone() -> None:
    words = {"text": "Which?"}
    with_form, without = await answer_to([], "ask"), await answer_to(["text/plain"], "ask")
    assert [part.get("data", part) for part in with_form["status"]["message"]["parts"]] == [
        words, {"form": FORM, "origin": "keys"},
    ]  # fmt: skip
    assert without["status"]["message"]["parts"] == [words]
