"""A model that has results and no words for them, that loops, or that is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents.middleware import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from tests.e2e.agents.peers import Answer, Keys, ask, connected
from tests.e2e.agents.test_delegation import team
from utils.a2a_common.graph.model.call import ModelCall
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION, ERROR_EXTENSION
from utils.errors import ModelSlow
from utils.events import ModelWaited
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls
from utils.testing.strict.servers import Server, said, stream, thought
from utils.testing.strict_provider import ChatRequest, Wire, run_strict_provider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

LOOKUP = calls(call("lookup", "c1", key="a"))


def code_of(answer: Answer) -> str:
    return str(next(iter(answer.metadata(ERROR_EXTENSION)), {"code": ""})["code"])


async def test_an_agent_that_has_results_and_no_words_answers_with_the_results() -> None:
    async with (
        running_agent(Keys, model=ScriptedModel(script=[LOOKUP, "", ""])) as url,
        connected(url) as client,
    ):
        answer = await ask(client, "what is a?")
    assert (answer.state, code_of(answer)) == ("completed", "empty_response")
    assert "the value of a" in answer.text


async def test_an_agent_without_results_and_words_fails() -> None:
    async with running_agent(Keys, model=ScriptedModel(script=["", ""])) as url, connected(url) as client:
        answer = await ask(client, "what is a?")
    assert (answer.state, code_of(answer)) == ("failed", "empty_response")


async def test_a_supervisor_gets_the_results_of_a_sub_agent_that_has_no_words() -> None:
    boss = [calls(call("keys", "d1", request="what is a?")), "It is that."]
    async with team(boss, keys=[LOOKUP, "", ""]) as (url, models, _), connected(url) as client:
        answer = await ask(client, "what is a?")
    assert (answer.state, answer.text) == ("completed", "It is that.")
    told = [each for each in models["supervisor"].requests[-1].messages if isinstance(each, ToolMessage)]
    assert "the value of a" in str(told[-1].content)


async def test_a_model_that_loops_ends_after_the_second_refusal_with_the_results() -> None:
    def stubborn(messages: Sequence[BaseMessage]) -> Any:
        found = [each for each in messages if isinstance(each, ToolMessage)]
        return calls(call("lookup", f"c{len(found)}", key="a"))

    model = ScriptedModel(script=stubborn)
    async with running_agent(Keys, model=model) as url, connected(url) as client:
        answer = await ask(client, "what is a?")
    assert len(model.requests) == 5  # three that ran, two that were refused
    assert (answer.state, code_of(answer)) == ("completed", "calls_repeated")
    assert answer.text.count("the value of a") == 1
    assert "was not called" not in answer.text


async def test_reasoning_is_shown_on_demand_only() -> None:
    wire = stream(Server.VLLM, thought("The user may be wrong."), said("You are right."))
    with run_strict_provider(lambda _request: wire) as double:
        environ = double.environment("openai-compatible")
        async with running_agent(Keys, environ=environ) as url, connected(url) as client:
            answer = await ask(client, "am I right?")
    assert answer.text == "You are right."
    assert "wrong" not in str(answer.events)


class _Runtime:
    def __init__(self) -> None:
        self.written: list[ModelWaited] = []
        self.heard = asyncio.Event()

    def stream_writer(self, event: ModelWaited) -> None:
        self.written.append(event)
        self.heard.set()


async def test_that_a_model_is_waited_for_is_said_before_the_limit_ends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("utils.a2a_common.graph.model.call.FIRST_SIGN", 0.05)
    runtime = _Runtime()
    request = ModelRequest(model=ScriptedModel(script=[]), messages=[], runtime=runtime)  # type: ignore[arg-type]

    async def silent(_request: ModelRequest[Any]) -> Any:
        await asyncio.Event().wait()

    with pytest.raises(ModelSlow, match="LLM_TIMEOUT_SECONDS") as caught:
        await ModelCall(0.4, 5).awrap_model_call(request, silent)
    assert not caught.value.begun
    assert runtime.written == [ModelWaited(0.05)]


async def test_a_model_that_answers_in_time_is_not_reported() -> None:
    runtime = _Runtime()
    request = ModelRequest(model=ScriptedModel(script=[]), messages=[], runtime=runtime)  # type: ignore[arg-type]

    async def prompt(_request: ModelRequest[Any]) -> Any:
        return ModelResponse([AIMessage("yes")])

    answer: Any = await ModelCall(5, 5).awrap_model_call(request, prompt)
    assert (answer.result[0].content, runtime.written) == ("yes", [])


async def test_a_user_sees_that_a_slow_model_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("utils.a2a_common.graph.model.call.FIRST_SIGN", 0.05)

    def silent(_request: ChatRequest) -> Wire:
        return Wire([], open_end=True)

    with run_strict_provider(silent) as double:
        environ = {**double.environment("openai-compatible"), "LLM_TIMEOUT_SECONDS": "0.5"}
        async with running_agent(Keys, environ=environ) as url, connected(url) as client:
            answer = await ask(client, "am I right?")
    waited = [each for each in answer.metadata(ACTIVITY_EXTENSION) if each["kind"] == "model_waited"]
    assert [each["begun"] for each in waited] == [False]
    assert (answer.state, code_of(answer)) == ("failed", "model_slow")
