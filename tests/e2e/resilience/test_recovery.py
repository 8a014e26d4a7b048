"""What a provider does to an agent, and what the user sees of it: every provider's client, real HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from a2a.client import Client
from structlog.testing import capture_logs

from tests.e2e.agents.peers import Answer, ask, connected
from tests.e2e.resilience.desk import PROVIDERS, QUICK, Desk, by_request
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION, ERROR_EXTENSION
from utils.testing.live_agent import running_agent
from utils.testing.strict_provider import ChatRequest, Fault, FaultKind, Reply, StrictProvider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

ORPHANS = {
    "openai": "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: call_1",
    "aws-bedrock": "Expected toolResult blocks at messages.2.content for the following Ids: tooluse_1",
}


@asynccontextmanager
async def desk(double: StrictProvider, provider: str, **environ: str) -> AsyncIterator[Client]:
    settings = {**double.environment(provider), **QUICK, **environ}
    async with running_agent(Desk, environ=settings) as url, connected(url) as client:
        yield client


def retried(answer: Answer) -> list[str]:
    return [each["reason"] for each in answer.metadata(ACTIVITY_EXTENSION) if each["kind"] == "model_retried"]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_window_that_is_smaller_than_believed_is_learnt_and_the_question_answered(
    double: StrictProvider, provider: str
) -> None:
    double.reset(by_request, window=2_500)
    async with desk(double, provider, MAX_CONTEXT_TOKENS="100000", LLM_MAX_OUTPUT_TOKENS="200") as client:
        first = await ask(client, "long 600")
        for _ in range(2):
            await ask(client, "long 600", context_id=first.context_id)
        refused = len(double.rejections)
        last = await ask(client, "what did I say?", context_id=first.context_id)
    assert refused, "the test must overflow"
    assert {rejection.rule for rejection in double.rejections} == {"window"}
    assert last.state == "completed"
    assert "what did I say?" in last.text
    assert len(double.rejections) - refused <= 1, "the limit was learnt before"


async def test_small_requests_that_are_refused_as_too_long_do_not_cost_the_agent_its_window(
    double: StrictProvider,
) -> None:
    double.reset(by_request)
    too_long = Fault.refusing("Input is too long for requested model.", 400)
    async with desk(double, "openai") as client:
        for _ in range(6):
            double.fail_next(too_long)
            answer = await ask(client, "hello")
            assert answer.text == "You said: hello"
        assert (await ask(client, "long 600")).state == "completed"


@pytest.mark.parametrize("provider", ["openai", "aws-bedrock"])
async def test_a_provider_that_finds_an_orphan_is_asked_once_more(
    double: StrictProvider, provider: str
) -> None:
    double.reset(by_request)
    code = "ValidationException" if provider == "aws-bedrock" else None
    async with desk(double, provider) as client:
        double.fail_next(Fault.refusing(ORPHANS[provider], 400, code))
        answer = await ask(client, "hello")
    assert answer.text == "You said: hello"
    assert retried(answer) == ["orphaned_tool_call"]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_empty_stream_is_asked_for_again(double: StrictProvider, provider: str) -> None:
    double.reset(by_request)
    async with desk(double, provider) as client:
        double.fail_next(FaultKind.EMPTY)
        answer = await ask(client, "hello")
    assert answer.text == "You said: hello"
    expected = (
        "model_unavailable" if provider == "aws-bedrock" else "empty_response"
    )  # a stream without its end
    assert retried(answer) == [expected]


async def test_a_model_that_stays_empty_fails_with_a_sentence_and_loses_nothing(
    double: StrictProvider,
) -> None:
    double.reset(by_request)
    async with desk(double, "openai") as client:
        double.fail_next(FaultKind.EMPTY, FaultKind.EMPTY)
        failed = await ask(client, "hello")
        next_one = await ask(client, "again", context_id=failed.context_id)
    assert failed.state == "failed"
    assert failed.metadata(ERROR_EXTENSION)[0]["code"] == "empty_response"
    assert failed.last_words == "The model answered with nothing."
    assert next_one.text == "You said: hello / again"


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_busy_provider_is_waited_for_and_the_user_is_told(
    double: StrictProvider, provider: str
) -> None:
    double.reset(by_request)
    async with desk(double, provider) as client:
        double.fail_next(*[Fault(FaultKind.RATE_LIMITED, retry_after=0.01)] * 3)
        answer = await ask(client, "hello")
    assert answer.text == "You said: hello"
    assert retried(answer) == ["rate_limited"] * 3


async def test_a_provider_that_asks_for_more_time_than_there_is_fails_at_once(double: StrictProvider) -> None:
    double.reset(by_request)
    async with desk(double, "openai", LLM_MAX_WAIT_SECONDS="5") as client:
        double.fail_next(Fault(FaultKind.RATE_LIMITED, retry_after=600))
        answer = await ask(client, "hello")
    assert answer.state == "failed"
    assert answer.metadata(ERROR_EXTENSION)[0]["code"] == "rate_limited"
    assert answer.metadata(ERROR_EXTENSION)[0]["retryable"]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_broken_stream_is_replaced_by_the_whole_answer(double: StrictProvider, provider: str) -> None:
    double.reset(by_request)
    async with desk(double, provider) as client:
        double.fail_next(Fault(FaultKind.BROKEN, text="Half of an"))
        answer = await ask(client, "hello")
    assert answer.state == "completed"
    assert answer.text == "You said: hello"


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.long
async def test_a_provider_that_is_down_fails_clearly_and_the_conversation_is_kept(
    double: StrictProvider, provider: str
) -> None:
    double.reset(by_request)
    async with desk(double, provider) as client:
        first = await ask(client, "I am Ada")
        double.fail_next(FaultKind.OVERLOADED, FaultKind.SERVER_ERROR, FaultKind.OVERLOADED)
        failed = await ask(client, "are you there?", context_id=first.context_id)
        last = await ask(client, "and now?", context_id=first.context_id)
    assert failed.state == "failed"
    assert failed.metadata(ERROR_EXTENSION)[0]["code"] == "model_unavailable"
    assert last.text.replace("\n", " / ") == "You said: I am Ada / are you there? / and now?"
    assert double.rejections == []


async def test_the_fallback_model_answers_where_the_model_is_down(double: StrictProvider) -> None:
    def names(request: ChatRequest) -> Reply | Fault:
        return Fault(FaultKind.OVERLOADED) if request.model == "gpt-4o" else Reply(f"by {request.model}")

    double.reset(names)
    with capture_logs() as logs:
        async with desk(double, "openai", LLM_FALLBACK_MODEL="gpt-4.1-mini") as client:
            answer = await ask(client, "hello")
    assert answer.text == "by gpt-4.1-mini"
    assert [line["fallback"] for line in logs if line["event"] == "model.retry"] == [True]


async def test_wrong_credentials_are_told_and_not_tried_again(double: StrictProvider) -> None:
    double.reset(by_request)
    async with desk(double, "openai") as client:
        double.fail_next(FaultKind.UNAUTHORISED)
        answer = await ask(client, "hello")
    assert answer.metadata(ERROR_EXTENSION)[0]["code"] == "auth_failed"
    assert double.requests == []
