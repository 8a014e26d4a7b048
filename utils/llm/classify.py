"""Maps exceptions of model providers to the types of `utils.errors`.

The only file that reads a provider's error text. Each row of `ROWS` is one marker of one provider; the first row
that matches decides. The messages are written here and safe to show. The provider's exception is the failure's
`__cause__`, for the log.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from utils.errors import (
    AuthFailed,
    ContextOverflow,
    EmptyResponse,
    InvalidRequest,
    ModelFailure,
    ModelUnavailable,
    OrphanedToolCall,
    RateLimited,
)

TOO_LONG = "The request was larger than the model's context window."
TOO_LARGE = "The request was larger than the provider lets this account send at once."
ORPHAN = "The conversation held a tool call without its result, and the model provider refused it."
SLOW_DOWN = "The model provider asks to slow down. Try again in a moment."
NO_QUOTA = "The quota of this account at the model provider is used up."
NO_MODEL = "The configured model does not exist or this account may not use it. Check LLM_MODEL."
NO_ACCESS = "The model provider refused the credentials. Check the key or the permissions of the account."
NO_CREDENTIALS = "No usable credentials for the model provider were found."
DOWN = "The model provider is not available at the moment. Try again later."
UNREACHABLE = "The model provider cannot be reached."
CUT_OFF = "The model provider's answer broke off."
EMPTY = "The model answered with nothing."
FILTERED = "The model provider's content filter refused the request."
REFUSED = "The model provider refused the request."

ERROR_IN_ANSWER = "openai.error-in-answer"
"""Class name used for a `ValueError` that carries the `error` of a response with status 200."""

_TOO_LONG_STATUS = frozenset({400, 413, 422})


@dataclass(frozen=True)
class Facts:
    """Facts about an exception.

    Attributes:
        classes: `module.Class` of its type and bases.
        status: HTTP status, if there was a response.
        code: The provider's code or exception name, in lower case.
        text: The provider's message, in lower case.
        retry_after: Seconds to wait, if the provider gave them.
    """

    classes: frozenset[str]
    status: int | None
    code: str
    text: str
    retry_after: float | None


@dataclass(frozen=True)
class Row:
    """One marker of one provider. All of its conditions must hold.

    Attributes:
        name: What it recognises; also the id of its test.
        failure: The type of the failure.
        message: The message that a user may see.
        text: Part of the provider's message, in lower case.
        code: The provider's code, in lower case.
        status: HTTP status.
        raised: `module.Class` of the exception or one of its bases.
    """

    name: str
    failure: type[ModelFailure]
    message: str
    text: str | None = None
    code: str | None = None
    status: int | None = None
    raised: str | None = None

    def matches(self, facts: Facts) -> bool:
        """Whether the exception has this marker."""
        return (
            (self.text is None or self.text in facts.text)
            and (self.code is None or self.code == facts.code)
            and (self.status is None or self.status == facts.status)
            and (self.raised is None or self.raised in facts.classes)
            and (self.failure is not ContextOverflow or _may_be_too_long(self, facts))
        )


def _overflow(name: str, text: str) -> Row:
    return Row(name, ContextOverflow, TOO_LONG, text=text)


def _orphan(name: str, text: str) -> Row:
    return Row(name, OrphanedToolCall, ORPHAN, text=text)


ROWS: tuple[Row, ...] = (
    # The request is too long.
    Row("openai overflow code", ContextOverflow, TOO_LONG, code="context_length_exceeded"),
    Row("openai tokens per minute", ContextOverflow, TOO_LARGE, text="request too large", status=429),
    _overflow("vllm maximum context length", "maximum context length"),
    _overflow("bedrock input too long", "input is too long"),
    _overflow("anthropic prompt too long", "prompt is too long"),
    _overflow("nova and openai input tokens exceed", "input tokens exceed"),
    _overflow("openai exceeds the context window", "exceeds the context window"),
    _overflow("bedrock too many input tokens", "too many input tokens"),
    _overflow("sglang longer than context", "longer than the model's context length"),
    _overflow("kimi exceed model maximum", "exceed model maximum"),
    _overflow("llama.cpp available context size", "exceeds the available context size"),
    _overflow("litellm context window", "contextwindowexceedederror"),
    Row(
        "langchain overflow type",
        ContextOverflow,
        TOO_LONG,
        raised="langchain_core.exceptions.ContextOverflowError",
    ),
    Row("payload too large", ContextOverflow, TOO_LONG, status=413),
    # A tool call and its result are not adjacent.
    _orphan("openai call without result", "must be followed by tool messages"),
    _orphan("openai result without call", "must be a response to a prece"),  # both spellings occur
    _orphan("openai responses call without output", "no tool output found for function call"),
    _orphan("openai responses output without call", "no tool call found for function call output"),
    _orphan("bedrock call without result", "expected toolresult blocks"),
    _orphan("bedrock result without call", "exceeds the number of tooluse blocks"),
    _orphan("anthropic call without result", "ids were found without `tool_result` blocks"),
    _orphan("anthropic result without call", "unexpected `tool_use_id` found"),
    _orphan("mistral unequal calls and results", "not the same number of function calls and responses"),
    # A retry does not help, although some of these have status 429 or 403.
    Row("openai quota", InvalidRequest, NO_QUOTA, code="insufficient_quota"),
    Row("aws quota", InvalidRequest, NO_QUOTA, code="servicequotaexceededexception"),
    Row("openai unknown model", InvalidRequest, NO_MODEL, code="model_not_found"),
    Row("azure unknown deployment", InvalidRequest, NO_MODEL, code="deploymentnotfound"),
    Row("bedrock unknown model", InvalidRequest, NO_MODEL, text="model identifier is invalid"),
    Row("aws unknown resource", InvalidRequest, NO_MODEL, code="resourcenotfoundexception"),
    Row("not found", InvalidRequest, NO_MODEL, status=404),
    Row("content filter", InvalidRequest, FILTERED, code="content_filter"),
    # Credentials.
    Row("aws access denied", AuthFailed, NO_ACCESS, code="accessdeniedexception"),
    Row("aws unknown key", AuthFailed, NO_ACCESS, code="unrecognizedclientexception"),
    Row("aws expired token", AuthFailed, NO_ACCESS, code="expiredtokenexception"),
    Row("aws signature", AuthFailed, NO_ACCESS, code="invalidsignatureexception"),
    Row("unauthorised", AuthFailed, NO_ACCESS, status=401),
    Row("forbidden", AuthFailed, NO_ACCESS, status=403),
    Row("aws no credentials", AuthFailed, NO_CREDENTIALS, raised="botocore.exceptions.NoCredentialsError"),
    Row(
        "aws partial credentials",
        AuthFailed,
        NO_CREDENTIALS,
        raised="botocore.exceptions.PartialCredentialsError",
    ),
    Row(
        "aws credentials provider",
        AuthFailed,
        NO_CREDENTIALS,
        raised="botocore.exceptions.CredentialRetrievalError",
    ),
    Row("aws single sign-on", AuthFailed, NO_CREDENTIALS, raised="botocore.exceptions.SSOError"),
    # Too many requests.
    Row("bedrock model not ready", ModelUnavailable, DOWN, code="modelnotreadyexception"),
    Row("aws throttling", RateLimited, SLOW_DOWN, code="throttlingexception"),
    Row("openai rate limit", RateLimited, SLOW_DOWN, code="rate_limit_exceeded"),
    Row("too many requests", RateLimited, SLOW_DOWN, status=429),
    # Down, slow or cut off.
    Row("bedrock internal error", ModelUnavailable, DOWN, code="internalserverexception"),
    Row("bedrock unavailable", ModelUnavailable, DOWN, code="serviceunavailableexception"),
    Row("bedrock model error", ModelUnavailable, DOWN, code="modelerrorexception"),
    Row("bedrock stream error", ModelUnavailable, DOWN, code="modelstreamerrorexception"),
    Row("bedrock model timeout", ModelUnavailable, DOWN, code="modeltimeoutexception"),
    Row("request timeout", ModelUnavailable, DOWN, status=408),
    Row("openai connection", ModelUnavailable, UNREACHABLE, raised="openai.APIConnectionError"),
    Row("aws unreachable", ModelUnavailable, UNREACHABLE, raised="botocore.exceptions.ConnectionError"),
    Row("aws timeout", ModelUnavailable, UNREACHABLE, raised="botocore.exceptions.HTTPClientError"),
    Row("aws stream broken", ModelUnavailable, CUT_OFF, raised="urllib3.exceptions.HTTPError"),
    Row(
        "openai stream stalled",
        ModelUnavailable,
        CUT_OFF,
        raised="langchain_openai.chat_models._client_utils.StreamChunkTimeoutError",
    ),
    Row(
        "bedrock stream without end",
        ModelUnavailable,
        CUT_OFF,
        text="incomplete bedrock response stream",
        raised="builtins.ConnectionError",
    ),
    Row(
        "bedrock answer without output",
        ModelUnavailable,
        CUT_OFF,
        text="no 'output' key found in the response from the bedrock",
        raised="builtins.ValueError",
    ),
    # An empty response.
    Row(
        "langchain stream without chunks",
        EmptyResponse,
        EMPTY,
        text="no generation chunks were returned",
        raised="builtins.ValueError",
    ),
    Row(
        "langchain stream without generations",
        EmptyResponse,
        EMPTY,
        text="no generations found in stream",
        raised="builtins.ValueError",
    ),
    Row(
        "openai-compatible null choices",
        EmptyResponse,
        EMPTY,
        text="null value for 'choices'",
        raised="builtins.TypeError",
    ),
    # Other exceptions of these clients.
    Row("openai-compatible error in an answer", ModelUnavailable, DOWN, raised=ERROR_IN_ANSWER),
    Row("openai server error", ModelUnavailable, DOWN, raised="openai.InternalServerError"),
    Row("openai refused", InvalidRequest, REFUSED, raised="openai.APIStatusError"),
    Row("openai error in stream", ModelUnavailable, CUT_OFF, raised="openai.APIError"),
    Row("openai client", InvalidRequest, REFUSED, raised="openai.OpenAIError"),
    Row("aws refused", InvalidRequest, REFUSED, status=400, raised="botocore.exceptions.ClientError"),
    Row("aws server error", ModelUnavailable, DOWN, raised="botocore.exceptions.ClientError"),
    Row("aws client", InvalidRequest, REFUSED, raised="botocore.exceptions.BotoCoreError"),
)

_FOREIGN = ("openai.", "botocore.", "urllib3.", "langchain_core.exceptions.", "langchain_openai.")
_LIMITS = (
    re.compile(r"maximum context length (?:is|of) (\d[\d,]*)"),
    re.compile(r"configured limit of (\d[\d,]*)"),
    re.compile(r"tokens > (\d[\d,]*) maximum"),
    re.compile(r"available context size \((\d[\d,]*) tokens"),
    re.compile(r"model's context length \((\d[\d,]*) tokens"),
    re.compile(r"\(tpm\): limit (\d[\d,]*)"),
)
_WAIT = re.compile(r"try again in (\d+(?:\.\d+)?)(ms|s)\b")


def classify(error: BaseException) -> ModelFailure | None:
    """The failure for an exception of a model call, with the exception as its `__cause__`.

    Returns:
        A failure with a message that is safe to show; the error itself if it is one already; `None` for
        exceptions that do not come from a provider's client.
    """
    if isinstance(error, ModelFailure):
        return error
    facts = facts_of(error)
    row = matching_row(facts)
    if row is None:
        return None
    failure = _build(row, facts)
    failure.__cause__ = error
    return failure


def matching_row(facts: Facts) -> Row | None:
    """The first row that matches, or `None`."""
    return next((row for row in ROWS if _applies(row, facts) and row.matches(facts)), None)


def _applies(row: Row, facts: Facts) -> bool:
    """Whether a row applies. One without a class applies only to exceptions of providers, whatever another error's text."""
    return row.raised is not None or any(name.startswith(_FOREIGN) for name in facts.classes)


def _may_be_too_long(row: Row, facts: Facts) -> bool:
    certain = row.text is None or row.status is not None
    return certain or facts.status is None or facts.status in _TOO_LONG_STATUS


def _build(row: Row, facts: Facts) -> ModelFailure:
    if row.failure is ContextOverflow:
        return ContextOverflow(row.message, limit=_limit(facts.text))
    if row.failure is RateLimited:
        return RateLimited(row.message, retry_after=facts.retry_after)
    return row.failure(row.message)


def _limit(text: str) -> int | None:
    found = next((match for pattern in _LIMITS if (match := pattern.search(text))), None)
    return int(found[1].replace(",", "")) if found else None


def facts_of(error: BaseException) -> Facts:
    """The facts about an exception of any client."""
    classes = frozenset(f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__)
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):
        return _amazon_facts(classes, response)
    body = error.args[0] if isinstance(error, ValueError) and error.args else None
    if isinstance(body, Mapping) and "message" in body:
        return _body_facts(classes | {ERROR_IN_ANSWER}, body)
    text = str(getattr(error, "message", None) or error).lower()
    status = getattr(error, "status_code", None)
    return Facts(
        classes=classes,
        status=status if isinstance(status, int) else None,
        code=str(getattr(error, "code", None) or "").lower(),
        text=text,
        retry_after=_retry_after(getattr(response, "headers", {}), text),
    )


def _body_facts(classes: frozenset[str], body: Mapping[str, object]) -> Facts:
    code, text = str(body.get("code") or "").lower(), str(body["message"]).lower()
    status = int(code) if code.isdecimal() else None
    return Facts(classes, status, code, text, _retry_after({}, text))


def _amazon_facts(classes: frozenset[str], response: Mapping[str, object]) -> Facts:
    said = response.get("Error")
    meta = response.get("ResponseMetadata")
    fields = said if isinstance(said, Mapping) else {}
    about = meta if isinstance(meta, Mapping) else {}
    text = str(fields.get("Message", "")).lower()
    status = about.get("HTTPStatusCode")
    return Facts(
        classes=classes,
        status=status if isinstance(status, int) else None,
        code=str(fields.get("Code", "")).lower(),
        text=text,
        retry_after=_retry_after(about.get("HTTPHeaders", {}), text),
    )


def _retry_after(headers: object, text: str) -> float | None:
    value = headers.get("retry-after") if isinstance(headers, Mapping) else None
    try:
        return float(str(value))
    except ValueError:
        found = _WAIT.search(text)
    if found is None:
        return None
    return float(found[1]) / (1000 if found[2] == "ms" else 1)
