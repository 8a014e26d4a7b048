"""Maps exceptions of model providers to the types of `utils.errors`.

With `setup_errors.py`, the only module that reads a provider's error text. Each of `MARKERS` belongs to one provider; the first
marker that matches decides. The messages are written here and safe to show. The provider's exception is the failure's `__cause__`,
for the log.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

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
from utils.llm.answer_bound import endless_answer
from utils.llm.marker import Facts, Marker
from utils.llm.overflow import OVERFLOWS, limit_in
from utils.llm.retry_after import in_words, retry_after
from utils.llm.setup_errors import NO_QUOTA, SETUP_MARKERS
from utils.llm.web_page import WEB_PAGE

TOO_LONG = "The request was larger than the model's context window."
TOO_LARGE = "The request was larger than the provider lets this account send at once."
ORPHAN = "The conversation held a tool call without its result, and the model provider refused it."
SLOW_DOWN = "The model provider asks to slow down. Try again in a moment."
SLOW_DOWN_LONG = "The model provider asks to slow down. Try again in {}."
NO_MODEL = "The configured model does not exist or this account may not use it. Check LLM_MODEL."
NO_ACCESS = "The model provider refused the credentials. Check the key or the permissions of the account."
NO_CREDENTIALS = "No usable credentials for the model provider were found."
SLOW = (
    "The model did not answer in time. LLM_TIMEOUT_SECONDS is how long it may take to begin, "
    "LLM_STREAM_TIMEOUT_SECONDS how long it may pause in the middle."
)
DOWN = "The model provider is not available at the moment. Try again later."
UNREACHABLE = "The model provider cannot be reached."
CUT_OFF = "The model provider's answer broke off."
EMPTY = "The model answered with nothing."
FILTERED = "The model provider's content filter refused the request."
REFUSED = "The model provider refused the request."

ERROR_IN_ANSWER = "openai.error-in-answer"
"""Class name used for a `ValueError` that carries the `error` of a response with status 200."""


_UNREADABLE_GOOGLE = "google.genai.errors.UnknownApiResponseError"
_PICTURE = re.compile(r"^(responseerror\(code=['\"])?(\w{1,80}_image|image_\w)\w*\b")
"""OpenAI's codes for an image that it cannot process: invalid_image, image_parse_error, unsupported_image_media_type and others."""
_SETTING = re.compile(
    r"un(known|supported|recognized) (parameter|request argument)|invalid schema|max_(completion_|output_)?tokens"
)
"""A refusal of a parameter or a tool's schema, which every request has, whatever the conversation."""
_PAGE = re.compile(r"raw response: \s*<(!doctype )?html")


def _orphan(name: str, text: str) -> Marker:
    return Marker(name, OrphanedToolCall, ORPHAN, text=text)


MARKERS: tuple[Marker, ...] = (
    # The request is too long.
    Marker("openai overflow code", ContextOverflow, TOO_LONG, code="context_length_exceeded"),
    Marker("openai tokens per minute", ContextOverflow, TOO_LARGE, text="request too large", status=429),
    Marker("openai string too long", ContextOverflow, TOO_LONG, code="string_above_max_length"),
    *(Marker(each.name, ContextOverflow, TOO_LONG, pattern=each.pattern) for each in OVERFLOWS),
    Marker(
        "langchain overflow type",
        ContextOverflow,
        TOO_LONG,
        raised="langchain_core.exceptions.ContextOverflowError",
    ),
    Marker("payload too large", ContextOverflow, TOO_LONG, status=413),
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
    _orphan("gemini unequal calls and results", "number of function response parts is equal"),
    *SETUP_MARKERS,
    # A retry does not help, although some of these have status 429 or 403.
    Marker("openai quota", InvalidRequest, NO_QUOTA, code="insufficient_quota"),
    Marker("aws quota", InvalidRequest, NO_QUOTA, code="servicequotaexceededexception"),
    Marker("openai unknown model", InvalidRequest, NO_MODEL, code="model_not_found"),
    Marker("azure unknown deployment", InvalidRequest, NO_MODEL, code="deploymentnotfound"),
    Marker("bedrock unknown model", InvalidRequest, NO_MODEL, text="model identifier is invalid"),
    Marker("aws unknown resource", InvalidRequest, NO_MODEL, code="resourcenotfoundexception"),
    Marker("not found", InvalidRequest, NO_MODEL, status=404),
    Marker("setting refused", InvalidRequest, REFUSED, pattern=_SETTING, status=400),
    Marker("content filter", ContentRefused, FILTERED, code="content_filter"),
    # Credentials.
    Marker("aws access denied", AuthFailed, NO_ACCESS, code="accessdeniedexception"),
    Marker("aws unknown key", AuthFailed, NO_ACCESS, code="unrecognizedclientexception"),
    Marker("aws expired token", AuthFailed, NO_ACCESS, code="expiredtokenexception"),
    Marker("aws signature", AuthFailed, NO_ACCESS, code="invalidsignatureexception"),
    Marker("unauthorised", AuthFailed, NO_ACCESS, status=401),
    Marker("forbidden", AuthFailed, NO_ACCESS, status=403),
    Marker("aws no credentials", AuthFailed, NO_CREDENTIALS, raised="botocore.exceptions.NoCredentialsError"),
    Marker(
        "aws partial credentials",
        AuthFailed,
        NO_CREDENTIALS,
        raised="botocore.exceptions.PartialCredentialsError",
    ),
    Marker(
        "aws credentials provider",
        AuthFailed,
        NO_CREDENTIALS,
        raised="botocore.exceptions.CredentialRetrievalError",
    ),
    Marker("aws single sign-on", AuthFailed, NO_CREDENTIALS, raised="botocore.exceptions.SSOError"),
    # Too many requests.
    Marker("bedrock model not ready", ModelUnavailable, DOWN, code="modelnotreadyexception"),
    Marker("aws throttling", RateLimited, SLOW_DOWN, code="throttlingexception"),
    Marker("openai rate limit", RateLimited, SLOW_DOWN, code="rate_limit_exceeded"),
    Marker("too many requests", RateLimited, SLOW_DOWN, status=429),
    # Down, slow or cut off.
    Marker("bedrock internal error", ModelUnavailable, DOWN, code="internalserverexception"),
    Marker("bedrock unavailable", ModelUnavailable, DOWN, code="serviceunavailableexception"),
    Marker("bedrock model error", ModelUnavailable, DOWN, code="modelerrorexception"),
    Marker("bedrock stream error", ModelUnavailable, DOWN, code="modelstreamerrorexception"),
    Marker("bedrock model timeout", ModelUnavailable, DOWN, code="modeltimeoutexception"),
    Marker("request timeout", ModelUnavailable, DOWN, status=408),
    Marker("openai cannot connect", ModelUnavailable, UNREACHABLE, raised="httpx2.ConnectTimeout"),
    Marker("openai 2 cannot connect", ModelUnavailable, UNREACHABLE, raised="httpx.ConnectTimeout"),
    Marker("openai timed out", ModelSlow, SLOW, raised="openai.APITimeoutError"),
    Marker("openai connection", ModelUnavailable, UNREACHABLE, raised="openai.APIConnectionError"),
    Marker(
        "aws cannot connect", ModelUnavailable, UNREACHABLE, raised="botocore.exceptions.ConnectTimeoutError"
    ),
    Marker("aws timed out", ModelSlow, SLOW, raised="botocore.exceptions.ReadTimeoutError"),
    Marker("aws unreachable", ModelUnavailable, UNREACHABLE, raised="botocore.exceptions.ConnectionError"),
    Marker("aws timeout", ModelUnavailable, UNREACHABLE, raised="botocore.exceptions.HTTPClientError"),
    Marker("aws stream damaged", ModelUnavailable, CUT_OFF, raised="botocore.eventstream.ParserError"),
    Marker("aws stream broken", ModelUnavailable, CUT_OFF, raised="urllib3.exceptions.HTTPError"),
    Marker(
        "openai stream stalled",
        ModelSlow,
        SLOW,
        raised="langchain_openai.chat_models._client_utils.StreamChunkTimeoutError",
    ),
    Marker(
        "bedrock stream without end",
        ModelUnavailable,
        CUT_OFF,
        text="incomplete bedrock response stream",
        raised="builtins.ConnectionError",
    ),
    Marker(
        "bedrock answer without output",
        ModelUnavailable,
        CUT_OFF,
        text="no 'output' key found in the response from the bedrock",
        raised="builtins.ValueError",
    ),
    # LangChain raises the error event of a Responses stream as "code: message", or the error of a failed response.
    *(
        Marker(
            f"responses stream {code}",
            failure,
            message,
            pattern=re.compile(rf"^(responseerror\(code=['\"])?{code}\b"),
            raised="builtins.ValueError",
        )
        for code, failure, message in (
            ("server_error", ModelUnavailable, DOWN),
            ("rate_limit_exceeded", RateLimited, SLOW_DOWN),
            ("context_length_exceeded", ContextOverflow, TOO_LONG),
            ("invalid_prompt", ContentRefused, FILTERED),
            ("image_content_policy_violation", ContentRefused, FILTERED),
        )
    ),
    Marker(
        "responses stream picture", ContentRefused, REFUSED, pattern=_PICTURE, raised="builtins.ValueError"
    ),
    # An empty response.
    Marker(
        "langchain stream without chunks",
        EmptyResponse,
        EMPTY,
        text="no generation chunks were returned",
        raised="builtins.ValueError",
    ),
    Marker(
        "langchain stream without generations",
        EmptyResponse,
        EMPTY,
        text="no generations found in stream",
        raised="builtins.ValueError",
    ),
    Marker(
        "openai-compatible null choices",
        EmptyResponse,
        EMPTY,
        text="null value for 'choices'",
        raised="builtins.TypeError",
    ),
    # Anthropic.
    Marker("anthropic overloaded", ModelUnavailable, DOWN, status=529),
    Marker(
        "anthropic overloaded in a stream",
        ModelUnavailable,
        DOWN,
        text="overloaded_error",
        raised="anthropic.APIError",
    ),
    Marker("anthropic timed out", ModelSlow, SLOW, raised="anthropic.APITimeoutError"),
    Marker("anthropic connection", ModelUnavailable, UNREACHABLE, raised="anthropic.APIConnectionError"),
    Marker("anthropic server error", ModelUnavailable, DOWN, raised="anthropic.InternalServerError"),
    Marker("anthropic refused", ContentRefused, REFUSED, status=400, raised="anthropic.APIStatusError"),
    Marker("anthropic error in stream", ModelUnavailable, CUT_OFF, raised="anthropic.APIError"),
    Marker("anthropic client", InvalidRequest, REFUSED, raised="anthropic.AnthropicError"),
    # Google.
    Marker("google web page", InvalidRequest, WEB_PAGE, pattern=_PAGE, raised=_UNREADABLE_GOOGLE),
    Marker("google unreadable answer", ModelUnavailable, CUT_OFF, raised=_UNREADABLE_GOOGLE),
    Marker("google server error", ModelUnavailable, DOWN, raised="google.genai.errors.ServerError"),
    Marker("google refused", ContentRefused, REFUSED, raised="google.genai.errors.ClientError"),
    Marker("google api", ModelUnavailable, CUT_OFF, raised="google.genai.errors.APIError"),
    Marker(
        "google no credentials",
        AuthFailed,
        NO_CREDENTIALS,
        raised="google.auth.exceptions.DefaultCredentialsError",
    ),
    Marker("google refresh", AuthFailed, NO_CREDENTIALS, raised="google.auth.exceptions.RefreshError"),
    Marker(
        "google sign-in unreachable",
        ModelUnavailable,
        UNREACHABLE,
        raised="google.auth.exceptions.TransportError",
    ),
    Marker(
        "google client",
        InvalidRequest,
        REFUSED,
        raised="langchain_google_genai._common.GoogleGenerativeAIError",
    ),
    # Errors of the underlying HTTP client that a provider's client does not translate.
    Marker("http timed out", ModelSlow, SLOW, raised="httpx.TimeoutException"),
    Marker("http 2 timed out", ModelSlow, SLOW, raised="httpx2.TimeoutException"),
    Marker("http cannot connect", ModelUnavailable, UNREACHABLE, raised="httpx.ConnectError"),
    Marker("http 2 cannot connect", ModelUnavailable, UNREACHABLE, raised="httpx2.ConnectError"),
    Marker("http broke off", ModelUnavailable, CUT_OFF, raised="httpx.TransportError"),
    Marker("http 2 broke off", ModelUnavailable, CUT_OFF, raised="httpx2.TransportError"),
    # Other exceptions of these clients.
    Marker("openai-compatible error in an answer", ModelUnavailable, DOWN, raised=ERROR_IN_ANSWER),
    Marker("openai server error", ModelUnavailable, DOWN, raised="openai.InternalServerError"),
    Marker("openai refused", ContentRefused, REFUSED, raised="openai.APIStatusError"),
    Marker("openai error in stream", ModelUnavailable, CUT_OFF, raised="openai.APIError"),
    Marker("openai client", InvalidRequest, REFUSED, raised="openai.OpenAIError"),
    Marker("aws refused", ContentRefused, REFUSED, status=400, raised="botocore.exceptions.ClientError"),
    Marker("aws server error", ModelUnavailable, DOWN, raised="botocore.exceptions.ClientError"),
    Marker("aws client", InvalidRequest, REFUSED, raised="botocore.exceptions.BotoCoreError"),
)

_FOREIGN = (
    "openai.",
    "botocore.",
    "urllib3.",
    "langchain_core.exceptions.",
    "langchain_openai.",
    "anthropic.",
    "langchain_anthropic.",
    "google.",
    "langchain_google_genai.",
    "httpx.",
    "httpx2.",
)
_WRAPPING = ("langchain_google_genai.",)
"""Clients whose exceptions have no status or body, but their cause has."""


def classify(error: BaseException) -> ModelFailure | None:
    """The failure for an exception of a model call, with the exception as its `__cause__`.

    Returns:
        A failure with a message that is safe to show; the error itself, or its cause, if it is a failure already; `None` for
        exceptions that do not come from a provider's client.
    """
    if (own := _own(error)) is not None:
        return own
    failure = endless_answer(error) or _known(facts_of(error))
    if failure is not None:
        failure.__cause__ = error
    return failure


def _known(facts: Facts) -> ModelFailure | None:
    marker = matching_marker(facts)
    return None if marker is None else _build(marker, facts)


def _own(error: BaseException | None) -> ModelFailure | None:
    """The failure that an exception is, or that caused it: clients wrap exceptions that are raised within their requests."""
    while error is not None and not isinstance(error, ModelFailure):
        error = error.__cause__
    return error


def matching_marker(facts: Facts) -> Marker | None:
    """The first marker that matches, or `None`."""
    return next((marker for marker in MARKERS if _applies(marker, facts) and marker.matches(facts)), None)


def _applies(marker: Marker, facts: Facts) -> bool:
    """Whether a marker applies. One without a class applies to exceptions of providers only."""
    return marker.raised is not None or any(name.startswith(_FOREIGN) for name in facts.classes)


def _build(marker: Marker, facts: Facts) -> ModelFailure:
    if marker.failure is ContextOverflow:
        return ContextOverflow(marker.message, limit=limit_in(facts.text))
    if marker.failure is RateLimited:
        long = in_words(facts.retry_after)
        return RateLimited(
            SLOW_DOWN_LONG.format(long) if long else marker.message, retry_after=facts.retry_after
        )
    return marker.failure(marker.message)


def facts_of(error: BaseException) -> Facts:
    """The facts about an exception of any client."""
    own = type(error)
    if own.__module__.startswith(_WRAPPING) and isinstance(error.__cause__, Exception):
        return _with_classes(facts_of(error.__cause__), own)
    causes = type(error.__cause__).__mro__ if own.__module__.partition(".")[0] == "openai" else ()
    classes = frozenset(f"{kind.__module__}.{kind.__qualname__}" for kind in (*own.__mro__, *causes))
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):
        return _amazon_facts(classes, response)
    body = error.args[0] if isinstance(error, ValueError) and error.args else None
    if isinstance(body, Mapping) and "message" in body:
        return _body_facts(classes | {ERROR_IN_ANSWER}, body)
    message, body = str(getattr(error, "message", None) or error), getattr(error, "body", None)
    text = (message if body is None else f"{message} {body}").lower()
    status, code = getattr(error, "status_code", None), getattr(error, "code", None)
    if isinstance(code, int):  # Google's
        status, code = code, getattr(error, "status", None)
    return Facts(
        classes=classes,
        status=status if isinstance(status, int) else None,
        code=str(code or "").lower(),
        text=text,
        retry_after=retry_after(getattr(response, "headers", {}), text),
    )


def _with_classes(facts: Facts, outer: type[BaseException]) -> Facts:
    names = frozenset(f"{kind.__module__}.{kind.__qualname__}" for kind in outer.__mro__)
    return replace(facts, classes=facts.classes | names)


def _body_facts(classes: frozenset[str], body: Mapping[str, object]) -> Facts:
    code, text = str(body.get("code") or "").lower(), str(body["message"]).lower()
    status = int(code) if code.isdecimal() else None
    return Facts(classes, status, code, text, retry_after({}, text))


def _amazon_facts(classes: frozenset[str], response: Mapping[str, object]) -> Facts:
    details = response.get("Error")
    meta = response.get("ResponseMetadata")
    fields = details if isinstance(details, Mapping) else {}
    about = meta if isinstance(meta, Mapping) else {}
    text = str(fields.get("Message", "")).lower()
    status = about.get("HTTPStatusCode")
    return Facts(
        classes=classes,
        status=status if isinstance(status, int) else None,
        code=str(fields.get("Code", "")).lower(),
        text=text,
        retry_after=retry_after(about.get("HTTPHeaders", {}), text),
    )
