"""Each row of the table recognises what a real client raises; nothing else is taken for a model's failure."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass

import botocore.exceptions
import httpx
import httpx2
import openai
import pytest
from langchain_aws.chat_models.bedrock_converse import BedrockContextOverflowError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from tests.models.setup_errors import SETUP_ERRORS, SetupError
from tests.models.table.set_up import sent
from tests.unit.llm.test_classify_more import ANSWERED, RAISED
from utils.errors import (
    AuthFailed,
    ContentRefused,
    ContextOverflow,
    EmptyResponse,
    InvalidRequest,
    ModelFailure,
    ModelSlow,
    ModelUnavailable,
    OrphanedToolCall,
    RateLimited,
)
from utils.llm.classify import MARKERS, classify, facts_of, matching_marker
from utils.llm.factory import create_chat_model
from utils.llm.overflow import OVERFLOWS
from utils.settings import LLMSettings
from utils.testing.strict_provider import Fault, FaultKind, StrictProvider, Wire

OPENAI, COMPATIBLE, AZURE, BEDROCK = "openai", "openai-compatible", "azure-openai", "aws-bedrock"
VALIDATION = "ValidationException"
TOOL = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Search.",
        "parameters": {"type": "object", "properties": {}},
    },
}
LONG = "word " * 100
CALL = {"name": "search", "args": {}, "id": "call_1", "type": "tool_call"}


@dataclass(frozen=True)
class Case:
    row: str
    provider: str
    fault: FaultKind | Fault
    failure: type[ModelFailure]
    stream: bool = False

    def model(self, model_of: Callable[..., BaseChatModel]) -> BaseChatModel:
        return model_of(self.provider, hasty=self.fault is FaultKind.STALL)

    def __str__(self) -> str:
        return f"{self.row} ({self.provider}{', streamed' if self.stream else ''})"


def said(message: str, status: int = 400, code: str | None = None) -> Fault:
    return Fault.refusing(message, status, code)


CASES = [
    Case("openai tokens per minute", OPENAI, FaultKind.REQUEST_TOO_LARGE, ContextOverflow),
    Case(
        "vllm maximum context length",
        COMPATIBLE,
        said("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."),
        ContextOverflow,
    ),
    Case("bedrock input too long", BEDROCK, said("Input is too long.", code=VALIDATION), ContextOverflow),
    Case(
        "anthropic prompt too long",
        BEDROCK,
        said("prompt is too long: 210000 tokens > 200000 maximum", code=VALIDATION),
        ContextOverflow,
    ),
    Case(
        "nova and openai input tokens exceed",
        OPENAI,
        said(
            "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 280000 tokens."
        ),
        ContextOverflow,
    ),
    Case(
        "nova and openai input tokens exceed",
        BEDROCK,
        said("Input Tokens Exceeded: Number of input tokens exceeds maximum length.", code=VALIDATION),
        ContextOverflow,
        stream=True,
    ),
    Case(
        "openai exceeds the context window",
        OPENAI,
        said("Your input exceeds the context window of this model."),
        ContextOverflow,
    ),
    Case(
        "bedrock too many input tokens",
        BEDROCK,
        said("Too many input tokens: 9", code=VALIDATION),
        ContextOverflow,
    ),
    Case(
        "sglang longer than context",
        COMPATIBLE,
        said("The input (9000 tokens) is longer than the model's context length (8192 tokens)."),
        ContextOverflow,
    ),
    Case(
        "kimi exceed model maximum",
        BEDROCK,
        said("tokens exceed model maximum", code=VALIDATION),
        ContextOverflow,
    ),
    Case(
        "llama.cpp available context size",
        COMPATIBLE,
        said("the request exceeds the available context size (4096 tokens), try increasing it"),
        ContextOverflow,
    ),
    Case(
        "litellm context window",
        COMPATIBLE,
        said("litellm.ContextWindowExceededError: too much"),
        ContextOverflow,
    ),
    Case("payload too large", COMPATIBLE, said("Request Entity Too Large", 413), ContextOverflow),
    Case(
        "openai responses call without output",
        OPENAI,
        said("No tool output found for function call call_1."),
        OrphanedToolCall,
    ),
    Case(
        "openai responses output without call",
        OPENAI,
        said("No tool call found for function call output with call_id call_1."),
        OrphanedToolCall,
    ),
    Case(
        "anthropic call without result",
        BEDROCK,
        said(
            "The model returned the following errors: messages.2: `tool_use` ids were found without `tool_result` "
            "blocks immediately after: tooluse_1.",
            code=VALIDATION,
        ),
        OrphanedToolCall,
    ),
    Case(
        "anthropic result without call",
        COMPATIBLE,
        said("messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1."),
        OrphanedToolCall,
    ),
    Case(
        "mistral unequal calls and results",
        COMPATIBLE,
        said("Not the same number of function calls and responses"),
        OrphanedToolCall,
    ),
    Case("openai quota", OPENAI, FaultKind.QUOTA, InvalidRequest),
    Case("aws quota", BEDROCK, FaultKind.QUOTA, InvalidRequest),
    Case("openai unknown model", OPENAI, FaultKind.MODEL_NOT_FOUND, InvalidRequest),
    Case("openai unknown model", OPENAI, FaultKind.FORBIDDEN, InvalidRequest),
    Case(
        "azure unknown deployment",
        AZURE,
        said("No such deployment", 404, "DeploymentNotFound"),
        InvalidRequest,
    ),
    Case("bedrock unknown model", BEDROCK, FaultKind.MODEL_NOT_FOUND, InvalidRequest),
    Case("aws unknown resource", BEDROCK, said("gone", 404, "ResourceNotFoundException"), InvalidRequest),
    Case("not found", COMPATIBLE, said("Not Found", 404), InvalidRequest),
    Case("content filter", AZURE, said("The response was filtered", 400, "content_filter"), ContentRefused),
    Case("aws access denied", BEDROCK, FaultKind.FORBIDDEN, AuthFailed),
    Case("aws unknown key", BEDROCK, FaultKind.UNAUTHORISED, AuthFailed),
    Case("aws expired token", BEDROCK, said("expired", 400, "ExpiredTokenException"), AuthFailed),
    Case("aws signature", BEDROCK, said("wrong", 403, "InvalidSignatureException"), AuthFailed),
    Case("unauthorised", OPENAI, FaultKind.UNAUTHORISED, AuthFailed),
    Case("forbidden", COMPATIBLE, said("no", 403), AuthFailed),
    Case("bedrock model not ready", BEDROCK, said("wait", 429, "ModelNotReadyException"), ModelUnavailable),
    Case("aws throttling", BEDROCK, FaultKind.RATE_LIMITED, RateLimited),
    Case("aws throttling", BEDROCK, FaultKind.ERROR_EVENT, RateLimited, stream=True),
    Case("openai rate limit", OPENAI, FaultKind.RATE_LIMITED, RateLimited),
    Case("openai rate limit", OPENAI, FaultKind.RATE_LIMITED, RateLimited, stream=True),
    Case("too many requests", COMPATIBLE, said("slow", 429), RateLimited),
    Case("bedrock internal error", BEDROCK, FaultKind.SERVER_ERROR, ModelUnavailable),
    Case("bedrock unavailable", BEDROCK, FaultKind.OVERLOADED, ModelUnavailable),
    Case("bedrock model error", BEDROCK, said("model", 424, "ModelErrorException"), ModelUnavailable),
    Case("bedrock stream error", BEDROCK, said("model", 424, "ModelStreamErrorException"), ModelUnavailable),
    Case("bedrock model timeout", BEDROCK, said("slow", 408, "ModelTimeoutException"), ModelUnavailable),
    Case("request timeout", COMPATIBLE, said("slow", 408), ModelUnavailable),
    Case("openai connection", OPENAI, FaultKind.BROKEN, ModelUnavailable),
    Case("openai connection", OPENAI, FaultKind.BROKEN, ModelUnavailable, stream=True),
    Case("openai timed out", OPENAI, FaultKind.STALL, ModelSlow),
    Case("openai timed out", OPENAI, FaultKind.STALL, ModelSlow, stream=True),
    Case("aws timed out", BEDROCK, FaultKind.STALL, ModelSlow),
    Case("aws stream broken", BEDROCK, FaultKind.STALL, ModelUnavailable, stream=True),
    Case("aws stream broken", BEDROCK, FaultKind.BROKEN, ModelUnavailable, stream=True),
    Case("bedrock stream without end", BEDROCK, FaultKind.EMPTY, ModelUnavailable, stream=True),
    Case("bedrock answer without output", BEDROCK, FaultKind.BROKEN, ModelUnavailable),
    Case("langchain stream without chunks", OPENAI, FaultKind.EMPTY, EmptyResponse, stream=True),
    Case("openai-compatible null choices", COMPATIBLE, FaultKind.NULL_CHOICES, EmptyResponse),
    Case("openai-compatible error in an answer", COMPATIBLE, said("upstream gone", 200), ModelUnavailable),
    Case("too many requests", COMPATIBLE, said("upstream is busy", 200, "429"), RateLimited),
    Case("openai server error", OPENAI, FaultKind.SERVER_ERROR, ModelUnavailable),
    Case("openai server error", OPENAI, FaultKind.OVERLOADED, ModelUnavailable),
    Case("openai server error", OPENAI, FaultKind.GATEWAY_PAGE, ModelUnavailable),
    Case("setting refused", OPENAI, said("Unsupported parameter"), InvalidRequest),
    Case("setting refused", BEDROCK, said("Invalid schema for tool", code=VALIDATION), InvalidRequest),
    Case("openai refused", OPENAI, said("Something is wrong."), ContentRefused),
    Case("openai error in stream", OPENAI, FaultKind.ERROR_EVENT, ModelUnavailable, stream=True),
    Case("aws refused", BEDROCK, said("something else", code=VALIDATION), ContentRefused),
    Case("aws server error", BEDROCK, FaultKind.GATEWAY_PAGE, ModelUnavailable),
]


def raised_by(act: Callable[[], object]) -> BaseException:
    with pytest.raises(Exception) as caught:
        act()
    return caught.value


def ask(model: BaseChatModel, *, text: str = "x", stream: bool = False) -> Callable[[], object]:
    return lambda: list(model.stream(text)) if stream else model.invoke(text)


def row_of(error: BaseException) -> str | None:
    row = matching_marker(facts_of(error))
    return row.name if row else None


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.long
def test_a_row_recognises_what_the_real_client_raises(case: Case, double: StrictProvider, model_of):
    double.fail_next(case.fault)
    error = raised_by(ask(case.model(model_of), stream=case.stream))
    failure = classify(error)
    assert (row_of(error), type(failure)) == (case.row, case.failure)
    assert failure is not None
    assert failure.__cause__ is error
    assert str(failure) == failure.message
    assert failure.message in {row.message for row in MARKERS}  # no word of the provider's


@pytest.mark.parametrize("case", [case for case in CASES if case.provider == OPENAI], ids=str)
@pytest.mark.long
async def test_asynchronous_clients_raise_the_same(case: Case, double: StrictProvider, model_of):
    double.fail_next(case.fault)
    model = case.model(model_of)
    with pytest.raises(Exception) as caught:
        [piece async for piece in model.astream("x")] if case.stream else await model.ainvoke("x")
    assert isinstance(classify(caught.value), case.failure)


@pytest.mark.parametrize("error", SETUP_ERRORS, ids=lambda error: error.row)
def test_a_wrong_set_up_is_recognised_and_the_sentence_says_what_to_change(
    error: SetupError, double: StrictProvider, model_of
):
    refused = sent(error)
    assert isinstance(refused, Fault | Wire)
    double.brain = lambda _request: refused
    raised = raised_by(ask(model_of(error.server.provider), stream=True))
    assert row_of(raised) == error.row
    assert type(classify(raised)) is InvalidRequest


def test_a_host_that_takes_no_connection_is_unreachable_and_not_slow():
    for library, row in ((httpx2, "openai cannot connect"), (httpx, "openai 2 cannot connect")):
        error = openai.APITimeoutError(request=httpx2.Request("POST", "http://127.0.0.1/v1"))
        error.__cause__ = library.ConnectTimeout("timed out")
        assert row_of(error) == row
    aws = botocore.exceptions.ConnectTimeoutError(endpoint_url="http://127.0.0.1")
    assert row_of(aws) == "aws cannot connect"


def test_a_page_instead_of_an_answer_names_the_address():
    error = ValueError("Unexpected response type from OpenAI-compatible endpoint. Expected a dict, got str.")
    assert row_of(error) == "page instead of an answer"


OWN = {
    "openai cannot connect",
    "openai 2 cannot connect",
    "aws cannot connect",
    "page instead of an answer",
    "aws timeout",
    "openai overflow code",
    "openai string too long",
    "openai call without result",
    "openai result without call",
    "bedrock call without result",
    "bedrock result without call",
    "langchain overflow type",
    "langchain stream without generations",
    "openai stream stalled",
    "responses stream server_error",
    "responses stream rate_limit_exceeded",
    "responses stream context_length_exceeded",
    "responses stream invalid_prompt",
    "responses stream image_content_policy_violation",
    "responses stream picture",
    "openai client",
    "aws unreachable",
    "aws no credentials",
    "aws partial credentials",
    "aws credentials provider",
    "aws single sign-on",
    "aws client",
}
"""Rows with a test of their own below."""


@pytest.mark.parametrize("form", ["{}: Something.", "ResponseError(code='{}', message='Something.')"])
@pytest.mark.parametrize(
    ("code", "failure"),
    [
        ("server_error", ModelUnavailable),
        ("rate_limit_exceeded", RateLimited),
        ("context_length_exceeded", ContextOverflow),
        ("invalid_prompt", ContentRefused),
        ("image_content_policy_violation", ContentRefused),
        ("invalid_image", ContentRefused),
        ("image_parse_error", ContentRefused),
        ("invalid_base64_image", ContentRefused),
        ("unsupported_image_media_type", ContentRefused),
        ("empty_image_file", ContentRefused),
    ],
)
def test_what_an_event_of_a_responses_stream_says_is_the_providers_failure(form, code, failure):
    assert type(classify(ValueError(form.format(code)))) is failure
    assert classify(ValueError(f"not {form.format(code)}")) is None


def test_every_row_has_a_test():
    sentences = {each.name for each in OVERFLOWS}  # tests/unit/llm/test_overflow.py
    known = {case.row for case in CASES} | {error.row for error in SETUP_ERRORS} | OWN | sentences
    assert {row.name for row in MARKERS} == known | {row for row, *_ in [*ANSWERED, *RAISED]}


@pytest.fixture
def narrow(double: StrictProvider):
    double.window = 30
    yield double
    double.window = 128_000


@pytest.mark.parametrize(
    ("provider", "row", "limit"),
    [
        (OPENAI, "openai overflow code", 30),
        (AZURE, "openai overflow code", 30),
        (BEDROCK, "bedrock input too long", None),
    ],
)
def test_a_request_over_the_window_is_an_overflow_with_the_limit_where_it_is_told(
    narrow, model_of, provider, row, limit
):
    for act in (ask(model_of(provider), text=LONG), ask(model_of(provider), text=LONG, stream=True)):
        error = raised_by(act)
        failure = classify(error)
        assert row_of(error) == row
        assert isinstance(failure, ContextOverflow)
        assert failure.limit == limit


UNANSWERED = [HumanMessage("x"), AIMessage("", tool_calls=[CALL]), HumanMessage("y")]
UNASKED = [
    HumanMessage("x"),
    AIMessage("", tool_calls=[CALL]),
    ToolMessage("r", tool_call_id="call_1"),
    AIMessage("done"),
    HumanMessage("y"),
    AIMessage("ok"),
    ToolMessage("r", tool_call_id="call_1"),
]


@pytest.mark.parametrize(
    ("provider", "history", "row"),
    [
        (OPENAI, UNANSWERED, "openai call without result"),
        (OPENAI, UNASKED, "openai result without call"),
        (BEDROCK, UNANSWERED, "bedrock call without result"),
        (BEDROCK, UNASKED, "bedrock result without call"),
    ],
)
def test_an_unpaired_call_or_result_is_an_orphan(double, model_of, provider, history, row):
    error = raised_by(lambda: model_of(provider).bind_tools([TOOL]).invoke(history))
    assert row_of(error) == row
    assert isinstance(classify(error), OrphanedToolCall)


def test_an_overflow_that_langchain_names_needs_no_known_words():
    told = {"Error": {"Code": "validationException", "Message": "new wording"}}
    error = BedrockContextOverflowError(told, "Converse")
    assert row_of(error) == "langchain overflow type"
    assert isinstance(classify(error), ContextOverflow)


async def test_a_stream_without_anything_is_an_empty_response(double, model_of):
    double.fail_next(FaultKind.EMPTY)
    with pytest.raises(ValueError, match="No generations") as caught:
        await model_of(OPENAI).ainvoke("x", stream=True)
    assert row_of(caught.value) == "langchain stream without generations"
    assert isinstance(classify(caught.value), EmptyResponse)


async def test_a_stream_that_stalls_between_chunks_is_unavailable(double):
    from langchain_openai import ChatOpenAI

    double.fail_next(FaultKind.STALL)
    model = ChatOpenAI(
        model="gpt-4o",
        api_key="k",
        base_url=double.openai_url,
        stream_chunk_timeout=0.1,
        max_retries=0,
        http_async_client=openai.DefaultAsyncHttpxClient(trust_env=False),
        http_client=openai.DefaultHttpxClient(trust_env=False),
    )
    with pytest.raises(asyncio.TimeoutError) as caught:
        [piece async for piece in model.astream("x")]
    assert row_of(caught.value) == "openai stream stalled"
    assert isinstance(classify(caught.value), ModelSlow)


@pytest.fixture
def closed_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        yield probe.getsockname()[1]  # bound but not listening: connections are refused


def client_of(double: StrictProvider, provider: str, **changes: str) -> BaseChatModel:
    limits = {"LLM_MAX_RETRIES": "0", "LLM_TIMEOUT_SECONDS": "20"}
    return create_chat_model(LLMSettings.load(double.environment(provider) | limits | changes))


def test_a_provider_that_cannot_be_reached_is_unavailable(double, closed_port):
    address = f"http://127.0.0.1:{closed_port}"
    bedrock = client_of(double, BEDROCK, AWS_ENDPOINT_URL_BEDROCK_RUNTIME=address)
    plain = client_of(double, OPENAI, OPENAI_BASE_URL=f"{address}/v1")
    errors = [raised_by(ask(model)) for model in (bedrock, plain)]
    assert [row_of(error) for error in errors] == ["aws unreachable", "openai connection"]
    assert all(isinstance(classify(error), ModelUnavailable) for error in errors)


def test_absent_aws_credentials_are_an_authentication_failure(double, monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    none = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}
    error = raised_by(ask(client_of(double, BEDROCK, **none)))
    assert row_of(error) == "aws no credentials"
    assert isinstance(classify(error), AuthFailed)


@pytest.mark.parametrize(
    ("row", "error"),
    [
        (
            "aws partial credentials",
            botocore.exceptions.PartialCredentialsError(provider="env", cred_var="AWS_SECRET_ACCESS_KEY"),
        ),
        (
            "aws credentials provider",
            botocore.exceptions.CredentialRetrievalError(provider="process", error_msg="exit 1"),
        ),
        ("aws single sign-on", botocore.exceptions.UnauthorizedSSOTokenError()),
    ],
)
def test_broken_aws_credentials_are_an_authentication_failure(row, error):
    assert row_of(error) == row
    assert isinstance(classify(error), AuthFailed)


def test_what_a_client_refuses_itself_is_an_invalid_request(model_of):
    error = raised_by(lambda: model_of(BEDROCK).client.converse(modelId="m", messages="none"))
    assert row_of(error) == "aws client"
    assert isinstance(classify(error), InvalidRequest)
    other = openai.OpenAIError("The api_key client option must be set")
    assert row_of(other) == "openai client"
    assert isinstance(classify(other), InvalidRequest)


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [
        (Fault(FaultKind.RATE_LIMITED, retry_after=7), 7),
        (Fault(FaultKind.RATE_LIMITED), 20),
        (said("Please try again in 250ms.", 429), 0.25),
        (said("slow", 429), None),
    ],
)
def test_the_wait_comes_from_the_header_or_else_from_the_text(double, model_of, fault, seconds):
    double.fail_next(fault)
    failure = classify(raised_by(ask(model_of(OPENAI))))
    assert isinstance(failure, RateLimited)
    assert failure.retry_after == seconds


@pytest.mark.parametrize(
    ("seconds", "when"),
    [
        (0, "in a moment"),
        (60, "in a moment"),
        (61, "in 2 minutes"),
        (3600, "in 60 minutes"),
        (7201, "in 3 hours"),
        (86_400, "in 24 hours"),
    ],
)
def test_the_sentence_says_when_to_try_again(double, model_of, seconds, when):
    double.fail_next(Fault(FaultKind.RATE_LIMITED, retry_after=seconds))
    failure = classify(raised_by(ask(model_of(OPENAI))))
    assert failure is not None
    assert failure.message == f"The model provider asks to slow down. Try again {when}."


def test_bedrock_tells_the_wait_too(double, model_of):
    double.fail_next(Fault(FaultKind.RATE_LIMITED, retry_after=3))
    failure = classify(raised_by(ask(model_of(BEDROCK))))
    assert isinstance(failure, RateLimited)
    assert failure.retry_after == 3


@pytest.mark.parametrize(
    ("message", "limit"),
    [
        ("This model's maximum context length is 4096 tokens. However, you requested 5000.", 4096),
        ("requested token count exceeds the model's maximum context length of 131,072 tokens", 131_072),
        ("Input tokens exceed the configured limit of 272000 tokens.", 272_000),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200_000),
        ("the request exceeds the available context size (4096 tokens)", 4096),
        ("is longer than the model's context length (8192 tokens).", 8192),
        ("prompt is too long", None),
    ],
)
def test_the_limit_is_learnt_where_the_provider_tells_it(double, model_of, message, limit):
    double.fail_next(said(message))
    failure = classify(raised_by(ask(model_of(COMPATIBLE))))
    assert isinstance(failure, ContextOverflow)
    assert failure.limit == limit


@pytest.mark.parametrize(
    "error",
    [
        ValueError("prompt is too long: maximum context length"),
        KeyError("context_length_exceeded"),
        ConnectionError("the database is gone"),
        TimeoutError("maximum context length"),
        asyncio.CancelledError(),
    ],
)
def test_an_error_of_ours_is_not_taken_for_a_provider_s_whatever_it_says(error):
    assert classify(error) is None


def test_a_server_error_that_speaks_of_length_is_not_an_overflow(double, model_of):
    double.fail_next(said("internal: maximum context length table missing", 500))
    assert isinstance(classify(raised_by(ask(model_of(OPENAI)))), ModelUnavailable)


def test_a_failure_of_ours_stays_as_it_is():
    failure = RateLimited("slow", retry_after=1)
    assert classify(failure) is failure


@pytest.mark.parametrize("sentence", sorted({row.message for row in MARKERS}))
def test_what_a_user_reads_of_a_models_failure_is_a_sentence_and_no_exception(sentence: str) -> None:
    assert re.fullmatch(r"[A-Z][^:]+\.", sentence), "a capital, words, a full stop"
    assert len(sentence.split()) >= 5
    assert not re.search(r"\w+(Error|Exception)\b|https?://|stream|chunk|generation|None", sentence)
