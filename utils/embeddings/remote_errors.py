"""What a provider's client raises, as the types of `utils.errors`."""

from __future__ import annotations

from utils.errors import (
    AuthFailed,
    InvalidRequest,
    ModelUnavailable,
    PlatformError,
    RateLimited,
)
from utils.net.bounded import AnswerTooLarge

ENDLESS = (
    "The embedding server's answer is of more than {most:,} bytes. The server is faulty, or the address is not an embedding server's: "
    "check EMBEDDINGS_BASE_URL."
)


def as_platform_error(error: Exception) -> PlatformError | None:
    """The platform's error for a client's; `None` for one that is no provider's (a bug in this code)."""
    return _own(error) or _openai_error(error) or _aws_error(error)


def _own(error: BaseException | None) -> PlatformError | None:
    """The error of this project that an exception was made of: a client wraps what is raised within its requests."""
    while error is not None and not isinstance(error, PlatformError | AnswerTooLarge):
        error = error.__cause__
    return InvalidRequest(ENDLESS.format(most=error.most)) if isinstance(error, AnswerTooLarge) else error


def _openai_error(error: Exception) -> PlatformError | None:
    import openai

    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        return AuthFailed("The embedding provider refused the key. Check the key of EMBEDDINGS_PROVIDER.")
    if isinstance(error, openai.RateLimitError):
        return RateLimited("The embedding provider asks to slow down.")
    if isinstance(error, openai.APIConnectionError | openai.InternalServerError):
        return ModelUnavailable("The embedding provider cannot be reached or does not answer.")
    if isinstance(error, openai.OpenAIError):
        return InvalidRequest("The embedding provider refused the request. Check EMBEDDINGS_MODEL.")
    return None


def _aws_error(error: Exception) -> PlatformError | None:
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

    if isinstance(error, NoCredentialsError):
        return AuthFailed("No AWS credentials were found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.")
    if isinstance(error, ClientError):
        code = error.response.get("Error", {}).get("Code", "")
        if code in {"AccessDeniedException", "UnrecognizedClientException", "ExpiredTokenException"}:
            return AuthFailed("Amazon Bedrock refused the credentials.")
        if code in {"ThrottlingException", "TooManyRequestsException"}:
            return RateLimited("Amazon Bedrock asks to slow down.")
        return InvalidRequest("Amazon Bedrock refused the request. Check EMBEDDINGS_MODEL and AWS_REGION.")
    if isinstance(error, BotoCoreError):
        return ModelUnavailable("Amazon Bedrock cannot be reached or does not answer.")
    return None
