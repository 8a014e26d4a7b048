"""What the clients of Anthropic and Google raise, and the HTTP clients below them."""

from __future__ import annotations

import anthropic
import httpx
import httpx2
import pytest
from botocore.eventstream import ChecksumMismatch
from google.auth import exceptions as google_auth
from google.genai import errors as google
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_google_genai.chat_models import ChatGoogleGenerativeAIError

from utils.errors import (
    AuthFailed,
    ContentRefused,
    ContextOverflow,
    InvalidRequest,
    ModelFailure,
    ModelSlow,
    ModelUnavailable,
    OrphanedToolCall,
    RateLimited,
)
from utils.llm import classify as rows
from utils.llm.classify import classify, facts_of, matching_marker
from utils.settings import ModelProvider
from utils.testing.strict_provider import Fault, FaultKind, StrictProvider

CLAUDE, GEMINI, VERTEX = "anthropic", "google-gemini", "gcp-vertexai"
_REQUEST = httpx2.Request("POST", "https://api.anthropic.com/v1/messages")
TOOL = {"type": "function", "function": {"name": "search", "description": "Search.", "parameters": {"type": "object", "properties": {}}}}  # fmt: skip
CALL = {"name": "search", "args": {}, "id": "toolu_1", "type": "tool_call"}


def says(message: str, status: int = 400) -> Fault:
    return Fault.refusing(message, status)


def of_anthropic(kind: type[anthropic.APIStatusError], status: int, message: str) -> Exception:
    return kind(message, response=httpx2.Response(status, request=_REQUEST), body=None)


ANSWERED: list[tuple[str, str, Fault | FaultKind, type[ModelFailure]]] = [
    ("too many requests", CLAUDE, FaultKind.RATE_LIMITED, RateLimited),
    ("too many requests", GEMINI, FaultKind.RATE_LIMITED, RateLimited),
    ("unauthorised", CLAUDE, FaultKind.UNAUTHORISED, AuthFailed),
    ("gemini key", GEMINI, FaultKind.UNAUTHORISED, InvalidRequest),
    ("forbidden", CLAUDE, FaultKind.FORBIDDEN, AuthFailed),
    ("forbidden", VERTEX, FaultKind.FORBIDDEN, AuthFailed),
    ("not found", CLAUDE, FaultKind.MODEL_NOT_FOUND, InvalidRequest),
    ("not found", GEMINI, FaultKind.MODEL_NOT_FOUND, InvalidRequest),
    ("anthropic credits", CLAUDE, FaultKind.QUOTA, InvalidRequest),
    ("gemini prepayment", GEMINI, FaultKind.QUOTA, InvalidRequest),
    ("anthropic overloaded", CLAUDE, FaultKind.OVERLOADED, ModelUnavailable),
    ("anthropic server error", CLAUDE, FaultKind.SERVER_ERROR, ModelUnavailable),
    ("google server error", GEMINI, FaultKind.SERVER_ERROR, ModelUnavailable),
    ("google server error", VERTEX, FaultKind.OVERLOADED, ModelUnavailable),
    ("anthropic refused", CLAUDE, says("tools: something"), ContentRefused),
    ("google refused", GEMINI, says("Something is wrong."), ContentRefused),
    ("anthropic prompt too long", CLAUDE, says("prompt is too long: 210000 tokens > 200000 maximum"), ContextOverflow),
    ("payload too large", CLAUDE, FaultKind.REQUEST_TOO_LARGE, ContextOverflow),
    ("gemini input token count", GEMINI, FaultKind.REQUEST_TOO_LARGE, ContextOverflow),
    (
        "gemini unequal calls and results",
        GEMINI,
        says("Please ensure that the number of function response parts is equal to the number of function call parts."),
        OrphanedToolCall,
    ),
]  # fmt: skip

RAISED: list[tuple[str, Exception, type[ModelFailure]]] = [
    ("anthropic overloaded in a stream", anthropic.APIError("overloaded_error: Overloaded", _REQUEST, body=None), ModelUnavailable),
    ("anthropic error in stream", anthropic.APIError("broken", _REQUEST, body=None), ModelUnavailable),
    ("anthropic timed out", anthropic.APITimeoutError(_REQUEST), ModelSlow),
    ("anthropic connection", anthropic.APIConnectionError(request=_REQUEST), ModelUnavailable),
    ("anthropic client", anthropic.AnthropicError("no key"), InvalidRequest),
    ("google api", google.APIError(0, {"message": "broken"}), ModelUnavailable),
    ("google web page", google.UnknownApiResponseError("Raw response: <!DOCTYPE html><html>"), InvalidRequest),
    ("google unreadable answer", google.UnknownApiResponseError("Raw response: {"), ModelUnavailable),
    ("aws stream damaged", ChecksumMismatch(1, 2), ModelUnavailable),
    ("google client", ChatGoogleGenerativeAIError("no such role"), InvalidRequest),
    ("google no credentials", google_auth.DefaultCredentialsError("none"), AuthFailed),
    ("google refresh", google_auth.RefreshError("expired"), AuthFailed),
    ("google sign-in unreachable", google_auth.TransportError("down"), ModelUnavailable),
    ("http timed out", httpx.ReadTimeout("slow"), ModelSlow),
    ("http 2 timed out", httpx2.ReadTimeout("slow"), ModelSlow),
    ("http cannot connect", httpx.ConnectError("refused"), ModelUnavailable),
    ("http 2 cannot connect", httpx2.ConnectError("refused"), ModelUnavailable),
    ("http broke off", httpx.RemoteProtocolError("gone"), ModelUnavailable),
    ("http 2 broke off", httpx2.RemoteProtocolError("gone"), ModelUnavailable),
]  # fmt: skip


def row_of(error: BaseException) -> str | None:
    row = matching_marker(facts_of(error))
    return row.name if row else None


async def _streamed(model: BaseChatModel) -> list[object]:
    return [piece async for piece in model.astream("x")]


@pytest.mark.parametrize("case", ANSWERED, ids=lambda case: f"{case[0]}, {case[1]}")
async def test_a_row_recognises_what_the_client_makes_of_an_answer(double: StrictProvider, model_of, case):
    row, provider, fault, failure = case
    for streamed in (False, True):
        double.fail_next(fault)
        model = model_of(provider)
        with pytest.raises(Exception) as caught:
            await (_streamed(model) if streamed else model.ainvoke("x"))
        assert row_of(caught.value) == row
        assert type(classify(caught.value)) is failure


@pytest.mark.parametrize(("row", "error", "failure"), RAISED)
def test_a_row_recognises_what_a_client_raises_itself(row, error, failure):
    assert row_of(error) == row
    assert type(classify(error)) is failure


def test_a_failure_that_was_raised_within_a_clients_request_is_that_failure():
    page = InvalidRequest("A web page came.")
    wrapped = anthropic.APIConnectionError(request=_REQUEST)
    wrapped.__cause__ = page
    outer = RuntimeError("again")
    outer.__cause__ = wrapped
    assert classify(outer) is page


def test_the_limit_of_gemini_is_learnt():
    said = "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."
    error = google.ClientError(400, {"error": {"message": said, "code": 400}})
    failure = classify(error)
    assert isinstance(failure, ContextOverflow)
    assert failure.limit == 1_048_576


@pytest.mark.parametrize(("provider", "limit"), [(CLAUDE, 30), (GEMINI, 30)])
async def test_a_request_over_the_window_of_the_double_is_an_overflow(
    double: StrictProvider, model_of, provider, limit
):
    double.window = 30
    with pytest.raises(Exception) as caught:
        await model_of(provider).ainvoke("word " * 100)
    failure = classify(caught.value)
    assert isinstance(failure, ContextOverflow)
    assert failure.limit == limit


@pytest.mark.parametrize("provider", [CLAUDE, GEMINI])
async def test_a_call_without_its_result_is_an_orphan(double: StrictProvider, model_of, provider):
    history = [HumanMessage("x"), AIMessage("", tool_calls=[CALL]), HumanMessage("y")]
    with pytest.raises(Exception) as caught:
        await model_of(provider).bind_tools([TOOL]).ainvoke(history)
    assert isinstance(classify(caught.value), OrphanedToolCall)


@pytest.mark.parametrize(
    "provider", [one.value for one in ModelProvider if one is not ModelProvider.EMBEDDED]
)
async def test_the_module_of_each_providers_exceptions_is_a_foreign_one(
    double: StrictProvider, model_of, provider
):
    double.fail_next(says("Something is wrong."))
    with pytest.raises(Exception) as caught:
        await model_of(provider).ainvoke("x")
    assert f"{type(caught.value).__module__}.".startswith(rows._FOREIGN)
