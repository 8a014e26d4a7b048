"""Maps exceptions of model providers to the types of `utils.errors`.

The only room that reads a provider's error text, with `setup_errors.py`. Each row of `ROWS` is one marker of one
provider; the first row that matches decides. The messages are written here and safe to show. The provider's exception is the failure's
`__cause__`, for the log.
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
from utils.llm.marker import Facts, Row
from utils.llm.overflow import OVERFLOWS, limit_in
from utils.llm.retry_after import in_words, retry_after
from utils.llm.setup_errors import NO_QUOTA, SETUP_ROWS
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
"""OpenAI's codes for a picture that it cannot process: invalid_image, image_parse_error, unsupported_image_media_type and others."""
_SETTING = re.compile(
    r"un(known|supported|recognized) (parameter|request argument)|invalid schema|max_(completion_|output_)?tokens"
)
"""A refusal of what every request has, whatever the conversation: of a parameter, or of a tool's schema."""
_PAGE = re.compile(r"raw response: \s*<(!doctype )?html")


def _orphan(name: str, text: str) -> Row:
    return Row(name, OrphanedToolCall, ORPHAN, text=text)


ROWS: tuple[Row, ...] = (
    # The request is too long.
    Row("openai overflow code", ContextOverflow, TOO_LONG, code="context_length_exceeded"),
    Row("openai tokens per minute", ContextOverflow, TOO_LARGE, text="request too large", status=429),
    Row("openai string too long", ContextOverflow, TOO_LONG, code="string_above_max_length"),
    *(Row(each.name, ContextOverflow, TOO_LONG, pattern=each.pattern) for each in OVERFLOWS),
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
    _orphan("gemini unequal calls and results", "number of function response parts is equal"),
    *SETUP_ROWS,
    # A retry does not help, although some of these have status 429 or 403.
    Row("openai quota", InvalidRequest, NO_QUOTA, code="insufficient_quota"),
    Row("aws quota", InvalidRequest, NO_QUOTA, code="servicequotaexceededexception"),
    Row("openai unknown model", InvalidRequest, NO_MODEL, code="model_not_found"),
    Row("azure unknown deployment", InvalidRequest, NO_MODEL, code="deploymentnotfound"),
    Row("bedrock unknown model", InvalidRequest, NO_MODEL, text="model identifier is invalid"),
    Row("aws unknown resource", InvalidRequest, NO_MODEL, code="resourcenotfoundexception"),
    Row("not found", InvalidRequest, NO_MODEL, status=404),
    Row("setting refused", InvalidRequest, REFUSED, pattern=_SETTING, status=400),
    Row("content filter", ContentRefused, FILTERED, code="content_filter"),
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
    Row("openai cannot connect", ModelUnavailable, UNREACHABLE, raised="httpx2.ConnectTimeout"),
    Row("openai 2 cannot connect", ModelUnavailable, UNREACHABLE, raised="httpx.ConnectTimeout"),
    Row("openai timed out", ModelSlow, SLOW, raised="openai.APITimeoutError"),
    Row("openai connection", ModelUnavailable, UNREACHABLE, raised="openai.APIConnectionError"),
    Row(
        "aws cannot connect", ModelUnavailable, UNREACHABLE, raised="botocore.exceptions.ConnectTimeoutError"
    ),
    Row("aws timed out", ModelSlow, SLOW, raised="botocore.exceptions.ReadTimeoutError"),
    Row("aws unreachable", ModelUnavailable, UNREACHABLE, raised="botocore.exceptions.ConnectionError"),
    Row("aws timeout", ModelUnavailable, UNREACHABLE, raised="botocore.exceptions.HTTPClientError"),
    Row("aws stream damaged", ModelUnavailable, CUT_OFF, raised="botocore.eventstream.ParserError"),
    Row("aws stream broken", ModelUnavailable, CUT_OFF, raised="urllib3.exceptions.HTTPError"),
    Row(
        "openai stream stalled",
        ModelSlow,
        SLOW,
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
    # LangChain raises what an event of a Responses stream says: "code: message", or the error of a failed response.
    *(
        Row(
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
    Row("responses stream picture", ContentRefused, REFUSED, pattern=_PICTURE, raised="builtins.ValueError"),
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
    # Anthropic.
    Row("anthropic overloaded", ModelUnavailable, DOWN, status=529),
    Row(
        "anthropic overloaded in a stream",
        ModelUnavailable,
        DOWN,
        text="overloaded_error",
        raised="anthropic.APIError",
    ),
    Row("anthropic timed out", ModelSlow, SLOW, raised="anthropic.APITimeoutError"),
    Row("anthropic connection", ModelUnavailable, UNREACHABLE, raised="anthropic.APIConnectionError"),
    Row("anthropic server error", ModelUnavailable, DOWN, raised="anthropic.InternalServerError"),
    Row("anthropic refused", ContentRefused, REFUSED, status=400, raised="anthropic.APIStatusError"),
    Row("anthropic error in stream", ModelUnavailable, CUT_OFF, raised="anthropic.APIError"),
    Row("anthropic client", InvalidRequest, REFUSED, raised="anthropic.AnthropicError"),
    # Google.
    Row("google web page", InvalidRequest, WEB_PAGE, pattern=_PAGE, raised=_UNREADABLE_GOOGLE),
    Row("google unreadable answer", ModelUnavailable, CUT_OFF, raised=_UNREADABLE_GOOGLE),
    Row("google server error", ModelUnavailable, DOWN, raised="google.genai.errors.ServerError"),
    Row("google refused", ContentRefused, REFUSED, raised="google.genai.errors.ClientError"),
    Row("google api", ModelUnavailable, CUT_OFF, raised="google.genai.errors.APIError"),
    Row(
        "google no credentials",
        AuthFailed,
        NO_CREDENTIALS,
        raised="google.auth.exceptions.DefaultCredentialsError",
    ),
    Row("google refresh", AuthFailed, NO_CREDENTIALS, raised="google.auth.exceptions.RefreshError"),
    Row(
        "google sign-in unreachable",
        ModelUnavailable,
        UNREACHABLE,
        raised="google.auth.exceptions.TransportError",
    ),
    Row(
        "google client",
        InvalidRequest,
        REFUSED,
        raised="langchain_google_genai._common.GoogleGenerativeAIError",
    ),
    # The HTTP client below, where a provider's client lets its errors through.
    Row("http timed out", ModelSlow, SLOW, raised="httpx.TimeoutException"),
    Row("http 2 timed out", ModelSlow, SLOW, raised="httpx2.TimeoutException"),
    Row("http cannot connect", ModelUnavailable, UNREACHABLE, raised="httpx.ConnectError"),
    Row("http 2 cannot connect", ModelUnavailable, UNREACHABLE, raised="httpx2.ConnectError"),
    Row("http broke off", ModelUnavailable, CUT_OFF, raised="httpx.TransportError"),
    Row("http 2 broke off", ModelUnavailable, CUT_OFF, raised="httpx2.TransportError"),
    # Other exceptions of these clients.
    Row("openai-compatible error in an answer", ModelUnavailable, DOWN, raised=ERROR_IN_ANSWER),
    Row("openai server error", ModelUnavailable, DOWN, raised="openai.InternalServerError"),
    Row("openai refused", ContentRefused, REFUSED, raised="openai.APIStatusError"),
    Row("openai error in stream", ModelUnavailable, CUT_OFF, raised="openai.APIError"),
    Row("openai client", InvalidRequest, REFUSED, raised="openai.OpenAIError"),
    Row("aws refused", ContentRefused, REFUSED, status=400, raised="botocore.exceptions.ClientError"),
    Row("aws server error", ModelUnavailable, DOWN, raised="botocore.exceptions.ClientError"),
    Row("aws client", InvalidRequest, REFUSED, raised="botocore.exceptions.BotoCoreError"),
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
"""Clients whose exceptions have no status or body: their cause has."""


def classify(error: BaseException) -> ModelFailure | None:
    """The failure for an exception of a model call, with the exception as its `__cause__`.

    Returns:
        A failure with a message that is safe to show; the error itself, or what caused it, if it is one already; `None` for
        exceptions that do not come from a provider's client.
    """
    if (own := _own(error)) is not None:
        return own
    failure = endless_answer(error) or _known(facts_of(error))
    if failure is not None:
        failure.__cause__ = error
    return failure


def _known(facts: Facts) -> ModelFailure | None:
    row = matching_row(facts)
    return None if row is None else _build(row, facts)


def _own(error: BaseException | None) -> ModelFailure | None:
    """The failure that an exception is or was made of: clients wrap what is raised within their requests."""
    while error is not None and not isinstance(error, ModelFailure):
        error = error.__cause__
    return error


def matching_row(facts: Facts) -> Row | None:
    """The first row that matches, or `None`."""
    return next((row for row in ROWS if _applies(row, facts) and row.matches(facts)), None)


def _applies(row: Row, facts: Facts) -> bool:
    """Whether a row applies. One without a class applies only to exceptions of providers, whatever another error's text."""
    return row.raised is not None or any(name.startswith(_FOREIGN) for name in facts.classes)


def _build(row: Row, facts: Facts) -> ModelFailure:
    if row.failure is ContextOverflow:
        return ContextOverflow(row.message, limit=limit_in(facts.text))
    if row.failure is RateLimited:
        long = in_words(facts.retry_after)
        return RateLimited(
            SLOW_DOWN_LONG.format(long) if long else row.message, retry_after=facts.retry_after
        )
    return row.failure(row.message)


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
    said, body = str(getattr(error, "message", None) or error), getattr(error, "body", None)
    text = (said if body is None else f"{said} {body}").lower()
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
        retry_after=retry_after(about.get("HTTPHeaders", {}), text),
    )
