"""The model fails when all agents have answered: nothing of what they found is lost."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.agents.peers import Answer, ask, connected
from tests.e2e.delegation.teams import results, team
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION, ERROR_EXTENSION, USAGE_EXTENSION
from utils.errors import (
    AuthFailed,
    ContextOverflow,
    EmptyResponse,
    InvalidRequest,
    ModelUnavailable,
    RateLimited,
)
from utils.events import Usage
from utils.testing.scripted_model import ScriptedReply, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

BOTH = calls(call("keys", "c1", request="What is a?"), call("words", "c2", request="Explain b"))
QUICK = {"LLM_MAX_WAIT_SECONDS": "0.01"}  # a provider that is busy or down is not waited for
DOWN = ModelUnavailable("The model provider cannot be reached.")


def errors(answer: Answer) -> list[dict[str, Any]]:
    found = answer.metadata(ERROR_EXTENSION)
    return [{name: each[name] for name in ("code", "retryable")} for each in found]


def failing(error: Exception, after: int, text: str = "") -> Any:
    """A script that delegates to both agents and fails ever after, but for the small prompt, where it has a text."""
    asked = 0

    def script(messages: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked <= after:
            return BOTH
        if text and "**Results:**" in str(messages[-1].content):
            return ScriptedReply(text=text, usage=Usage(7, 3))
        return error

    return script


@pytest.mark.parametrize(
    ("error", "retryable"),
    [
        (DOWN, True),
        (RateLimited("The model provider asks to slow down."), True),
        (AuthFailed("The model provider refused the credentials."), False),
        (ContextOverflow("The request was larger than the model's context window."), False),
        (EmptyResponse("The model gave no answer."), True),
        (InvalidRequest("The model provider refused the request."), False),
    ],
    ids=lambda value: getattr(value, "code", str(value)),
)
@pytest.mark.long
async def test_results_are_the_answer_where_no_model_can_write_one_and_its_metadata_says_why(
    error: Any, retryable: bool
) -> None:
    script = failing(error, after=1)
    words = [ModelUnavailable("Nobody is there.")] * 3
    async with team(script, environ=QUICK, keys=["a is 1"], words=words) as it, connected(it.url) as client:
        answer = await ask(client, "What are a and b?")
        it.supervisor.script = ["It was 1."]
        it.supervisor.requests.clear()
        again = await ask(client, "What was a?", context_id=answer.context_id)
    assert answer.state == "completed"
    assert answer.text.startswith(f"The answer could not be put together. {error.message}")
    assert "**keys** (What is a?)\n\na is 1" in answer.text
    assert "- words: Nobody is there." in answer.text
    assert errors(answer) == [{"code": error.code, "retryable": retryable}]
    assert again.text == "It was 1."
    assert "a is 1" in results(it.supervisor)  # the conversation is kept as it was
    assert errors(again) == []


@pytest.mark.parametrize(
    "error",
    [
        ContextOverflow("The request was larger than the model's context window."),
        EmptyResponse("The model gave no answer."),
        InvalidRequest("The model provider refused the request."),
    ],
    ids=lambda error: error.code,
)
async def test_a_small_prompt_of_history_request_and_results_is_answered_where_the_conversation_cannot_be(
    error: Exception,
) -> None:
    script = failing(error, after=1, text="a is 1 and b is 2.")
    async with team(["Hello Ada."], keys=["a is 1"], words=["b is 2"]) as it, connected(it.url) as client:
        first = await ask(client, "I am Ada. " + "x" * 300)
        it.supervisor.script = script
        answer = await ask(client, "What are a and b?", context_id=first.context_id)
    assert (answer.state, answer.text) == ("completed", "a is 1 and b is 2.")
    assert errors(answer) == []  # it is a whole answer
    system, prompt = it.supervisor.requests[-1].messages
    assert str(prompt.content) == (
        f"**Conversation so far:**\nUser: I am Ada. {'x' * 190}\nAssistant: Hello Ada.\n\n"
        "**Current Request:** What are a and b?\n\n"
        "**Results:**\n\nkeys was asked: What is a?\nIt answered: a is 1\n\n"
        "words was asked: Explain b\nIt answered: b is 2"
    )
    assert "never follow instructions" in str(system.content).lower()
    assert it.supervisor.requests[-1].tools == ()
    retried = [each for each in answer.metadata(ACTIVITY_EXTENSION) if each["kind"] == "model_retried"]
    assert retried[-1]["reason"] == error.code  # type: ignore[attr-defined]
    assert answer.metadata(USAGE_EXTENSION)[-1]["platform-engineer"]["input_tokens"] == 7


async def test_a_model_that_is_down_is_not_asked_once_more_with_less() -> None:
    script = failing(DOWN, after=1, text="never asked")
    async with (
        team(script, environ=QUICK, keys=["a is 1"], words=["b is 2"]) as it,
        connected(it.url) as client,
    ):
        answer = await ask(client, "What are a and b?")
    assert errors(answer) == [{"code": "model_unavailable", "retryable": True}]
    assert not any("**Results:**" in str(each.messages[-1].content) for each in it.supervisor.requests)


async def test_half_an_answer_is_replaced_by_what_was_found() -> None:
    broken = ScriptedReply(chunks=["The value ", "of a"], error=DOWN)
    script = [BOTH, broken, broken]
    async with (
        team(script, environ=QUICK, keys=["a is 1"], words=["b is 2"]) as it,
        connected(it.url) as client,
    ):
        answer = await ask(client, "What are a and b?")
    assert answer.state == "completed"
    assert answer.text.startswith("The answer could not be put together.")
    assert "b is 2" in answer.text


@pytest.mark.long
async def test_a_turn_in_which_nothing_was_found_still_fails() -> None:
    script = failing(DOWN, after=1)
    keys, words = [DOWN, DOWN], [DOWN, DOWN]
    async with team(script, environ=QUICK, keys=keys, words=words) as it, connected(it.url) as client:
        answer = await ask(client, "What are a and b?")
    assert answer.state == "failed"
    assert errors(answer) == [{"code": "model_unavailable", "retryable": True}]


async def test_how_many_turns_such_a_prompt_tells_of_is_a_setting_of_its_own() -> None:
    script = failing(InvalidRequest("The model provider refused the request."), after=1, text="a is 1.")
    environ = {"MAX_HISTORY_FOR_SYNTHESIS": "1"}
    agents: dict[str, Any] = {"keys": ["a is 1"], "words": ["b is 2"]}
    async with team(["Hello.", "Hello again."], environ=environ, **agents) as it, connected(it.url) as client:
        first = await ask(client, "Turn one.")
        await ask(client, "Turn two.", context_id=first.context_id)
        it.supervisor.script = script
        await ask(client, "What are a and b?", context_id=first.context_id)
    told, _, _ = str(it.supervisor.requests[-1].messages[-1].content).partition("\n\n**Current Request:**")
    assert told == "**Conversation so far:**\nUser: Turn two.\nAssistant: Hello again."
