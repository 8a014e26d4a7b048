"""A decision in a fixed form: each provider is made to call the form, and one that cannot be is asked once more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from pydantic import BaseModel, ConfigDict

from utils.errors import InvalidRequest, ModelUnavailable
from utils.llm.decision import decide
from utils.testing.scripted_model import ScriptedModel
from utils.testing.strict_provider import Call, ChatRequest, Reply, StrictProvider, Wire

QUESTION = [HumanMessage('Is tea good? Answer with JSON alone, such as {"verdict": "no"}.')]
FORCED = {
    "openai": {"tool_choice": "required"},
    "openai-compatible": {"tool_choice": "required"},
    "aws-bedrock": {"toolConfig": {"toolChoice": {"any": {}}}},
    "anthropic": {"tool_choice": {"type": "any"}},
    "google-gemini": {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
}
Made = Callable[..., BaseChatModel]


class Taste(BaseModel):
    """Say whether it is good."""

    model_config = ConfigDict(title="give_verdict")

    verdict: Literal["yes", "no"]


def holds(body: object, wanted: object) -> bool:
    """Whether a JSON value contains another one."""
    if isinstance(wanted, dict):
        return isinstance(body, dict) and all(holds(body.get(key), value) for key, value in wanted.items())
    return body == wanted


@pytest.mark.listens
@pytest.mark.parametrize("provider", FORCED)
async def test_each_provider_is_made_to_call_the_form(
    provider: str, double: StrictProvider, model_of: Made
) -> None:
    double.reset(lambda _: Reply(calls=[Call("a" * 9, "give_verdict", {"verdict": "yes"})]))
    decision = await decide(model_of(provider), QUESTION, Taste)
    assert decision.value == Taste(verdict="yes")
    assert holds(double.requests[0].body, FORCED[provider])
    assert double.rejections == []


async def test_a_server_that_refuses_to_force_a_call_is_asked_once_without(
    double: StrictProvider, model_of: Made
) -> None:
    refusal = b'{"error": {"message": "Only tool_choice auto and none are supported.", "type": "invalid_request_error"}}'

    def brain(request: ChatRequest) -> Reply | Wire:
        if "tool_choice" in request.body:
            return Wire([refusal], status=400, content_type="application/json")
        return Reply('Sure: {"verdict": "no"}')

    double.reset(brain)
    decision = await decide(model_of("openai-compatible"), QUESTION, Taste)
    assert decision.value == Taste(verdict="no")
    assert [request.body.get("tool_choice") for request in double.requests] == ["required", None]


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ('{"verdict": "yes"}', "yes"),
        ('Here it is:\n```json\n{"verdict": "no"}\n```', "no"),
        ('<think>{"verdict": "no"}</think>{"verdict": "yes"}', "yes"),
        ('<tool_call>{"name": "give_verdict", "arguments": {"verdict": "yes"}}</tool_call>', "yes"),
        ('{"verdict": "perhaps"}', None),
        ("yes", None),
        ("}{", None),
    ],
)
async def test_an_answer_in_text_is_read_or_is_no_decision(said: str, verdict: str | None) -> None:
    decision = await decide(ScriptedModel(script=[said]), QUESTION, Taste)
    assert (decision.value and decision.value.verdict) == verdict


async def test_a_provider_that_is_down_or_refuses_twice_is_told_by_a_typed_error() -> None:
    with pytest.raises(ModelUnavailable):
        await decide(ScriptedModel(script=[ModelUnavailable("down")]), QUESTION, Taste)
    refusing = ScriptedModel(script=[InvalidRequest("no"), InvalidRequest("no")])
    with pytest.raises(InvalidRequest):
        await decide(refusing, QUESTION, Taste)
