"""Faults on demand, in the format of each provider."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from utils.testing.strict.conversation import Api, Rejection


class FaultKind(StrEnum):
    """Kind of a fault."""

    RATE_LIMITED = "rate_limited"
    REQUEST_TOO_LARGE = "request_too_large"
    QUOTA = "quota"
    UNAUTHORISED = "unauthorised"
    FORBIDDEN = "forbidden"
    MODEL_NOT_FOUND = "model_not_found"
    SERVER_ERROR = "server_error"
    OVERLOADED = "overloaded"
    REFUSAL = "refusal"
    GATEWAY_PAGE = "gateway_page"
    EMPTY = "empty"
    NULL_CHOICES = "null_choices"
    BROKEN = "broken"
    ENDED = "ended"
    """The body ends in order, in the middle of the answer, as where a proxy or the server's process is ended."""
    STALL = "stall"
    ERROR_EVENT = "error_event"


IN_ANSWER = frozenset(
    {
        FaultKind.EMPTY,
        FaultKind.NULL_CHOICES,
        FaultKind.BROKEN,
        FaultKind.ENDED,
        FaultKind.STALL,
        FaultKind.ERROR_EVENT,
    }
)
"""Faults that show in an answer of status 200; the others are refusals."""


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        kind: What goes wrong.
        retry_after: Seconds in the `Retry-After` header of a refusal; no header when absent.
        rejection: What a refusal says, for the words of servers that the double does not know.
        text: What the client gets before a broken, stalled or failing stream stops.
    """

    kind: FaultKind
    retry_after: float | None = None
    text: str = "Half of an"
    rejection: Rejection | None = None

    @classmethod
    def refusing(cls, message: str, status: int = 400, code: str | None = None) -> Fault:
        """A refusal with another server's message."""
        return cls(FaultKind.REFUSAL, rejection=Rejection("refusal", message, status, code))


_OPENAI = {
    FaultKind.RATE_LIMITED: Rejection(
        "rate_limited",
        "Rate limit reached for gpt-4o in organization org-double on requests per min (RPM): Limit 3, Used 3, "
        "Requested 1. Please try again in 20s.",
        429,
        "rate_limit_exceeded",
        kind="requests",
    ),
    FaultKind.REQUEST_TOO_LARGE: Rejection(
        "request_too_large",
        "Request too large for gpt-4o in organization org-double on tokens per min (TPM): Limit 30000, "
        "Requested 45000. The input or output tokens must be reduced in order to run successfully.",
        429,
        "rate_limit_exceeded",
        kind="tokens",
    ),
    FaultKind.QUOTA: Rejection(
        "quota",
        "You exceeded your current quota, please check your plan and billing details.",
        429,
        "insufficient_quota",
        kind="insufficient_quota",
    ),
    FaultKind.UNAUTHORISED: Rejection(
        "unauthorised",
        "Incorrect API key provided: sk-do***uble. You can find your API key at "
        "https://platform.openai.com/account/api-keys.",
        401,
        "invalid_api_key",
    ),
    FaultKind.FORBIDDEN: Rejection(
        "forbidden",
        "Project `proj_double` does not have access to model `gpt-4o`",
        403,
        "model_not_found",
    ),
    FaultKind.MODEL_NOT_FOUND: Rejection(
        "model_not_found",
        "The model `gpt-none` does not exist or you do not have access to it.",
        404,
        "model_not_found",
    ),
    FaultKind.SERVER_ERROR: Rejection(
        "server_error",
        "The server had an error while processing your request. Sorry about that!",
        500,
        kind="server_error",
    ),
    FaultKind.OVERLOADED: Rejection(
        "overloaded",
        "The engine is currently overloaded, please try again later",
        503,
        kind="server_error",
    ),
}

_BEDROCK = {
    FaultKind.RATE_LIMITED: (
        "ThrottlingException",
        429,
        "Too many requests, please wait before trying again.",
    ),
    FaultKind.REQUEST_TOO_LARGE: (
        "ThrottlingException",
        429,
        "Too many tokens, please wait before trying again.",
    ),
    FaultKind.QUOTA: (
        "ServiceQuotaExceededException",
        400,
        "Your request exceeds the service quota for your account.",
    ),
    FaultKind.UNAUTHORISED: (
        "UnrecognizedClientException",
        403,
        "The security token included in the request is invalid.",
    ),
    FaultKind.FORBIDDEN: (
        "AccessDeniedException",
        403,
        "You don't have access to the model with the specified model ID.",
    ),
    FaultKind.MODEL_NOT_FOUND: ("ValidationException", 400, "The provided model identifier is invalid."),
    FaultKind.SERVER_ERROR: (
        "InternalServerException",
        500,
        "The system encountered an unexpected error during processing. Try your request again.",
    ),
    FaultKind.OVERLOADED: (
        "ServiceUnavailableException",
        503,
        "Too many connections, please wait before trying again.",
    ),
}


_ANTHROPIC = {
    FaultKind.RATE_LIMITED: (
        429,
        "This request would exceed your organization's rate limit of 50 requests per minute.",
    ),
    FaultKind.REQUEST_TOO_LARGE: (413, "Request exceeds the maximum size"),
    FaultKind.QUOTA: (400, "Your credit balance is too low to access the Anthropic API."),
    FaultKind.UNAUTHORISED: (401, "invalid x-api-key"),
    FaultKind.FORBIDDEN: (403, "Your API key does not have permission to use the specified resource."),
    FaultKind.MODEL_NOT_FOUND: (404, "model: claude-none"),
    FaultKind.SERVER_ERROR: (500, "Internal server error"),
    FaultKind.OVERLOADED: (529, "Overloaded"),
}

_GEMINI = {
    FaultKind.RATE_LIMITED: (
        429,
        "You exceeded your current quota, please check your plan and billing details. Please retry in 20s.",
    ),
    FaultKind.REQUEST_TOO_LARGE: (
        400,
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    FaultKind.QUOTA: (429, "Your prepayment credits are depleted."),
    FaultKind.UNAUTHORISED: (400, "API key not valid. Please pass a valid API key."),
    FaultKind.FORBIDDEN: (403, "Permission denied on resource project double."),
    FaultKind.MODEL_NOT_FOUND: (404, "models/gemini-none is not found for API version v1beta."),
    FaultKind.SERVER_ERROR: (500, "An internal error has occurred. Please retry."),
    FaultKind.OVERLOADED: (503, "The model is overloaded. Please try again later."),
}


def refusal(api: Api, kind: FaultKind) -> Rejection:
    """How a provider words a fault that is a refusal."""
    if api in (Api.OPENAI, Api.RESPONSES):
        return _OPENAI[kind]
    if api in (Api.ANTHROPIC, Api.GEMINI):
        status, message = (_ANTHROPIC if api is Api.ANTHROPIC else _GEMINI)[kind]
        return Rejection(kind.value, message, status)
    code, status, message = _BEDROCK[kind]
    return Rejection(kind.value, message, status, code)
