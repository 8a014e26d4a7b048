"""Maps errors of GitHub to typed errors with messages for the model and the user."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from githubkit.exception import (
    GitHubException,
    PrimaryRateLimitExceeded,
    RateLimitExceeded,
    RequestError,
    RequestFailed,
    RequestTimeout,
)

from agents.github.json_body import json_body
from agents.github.not_known import NotKnown
from utils.errors import PlatformError, UpstreamRefused, UpstreamUnavailable
from utils.net.bounded import AnswerTooLarge

_REASON_LENGTH = 200
_MINUTE = 60
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_SIGN_IN_HINT = (
    "Only public data can be read without a token; set GITHUB_TOKEN to read what the token may read."
)


def platform_error(error: GitHubException, what: str, *, has_token: bool) -> PlatformError:
    """The typed error for a failed request.

    Args:
        error: What githubkit raised.
        what: A noun phrase for the requested thing: "repository octocat/hello-world".
        has_token: Whether the request carried a token.
    """
    if isinstance(error, RateLimitExceeded):
        return UpstreamRefused(_rate_limit_sentence(error, has_token=has_token))
    if isinstance(error, RequestFailed):
        return _status_error(error, what, has_token=has_token)
    if isinstance(error, RequestError) and isinstance(error.exc, AnswerTooLarge):
        return UpstreamRefused(
            f"What GitHub answers for {what} is larger than {error.exc.most:,} bytes, and is not read. Ask for less."
        )
    if isinstance(error, RequestTimeout):
        return UpstreamUnavailable(f"GitHub did not answer in time when asked for {what}. Try again later.")
    return UpstreamUnavailable(f"GitHub cannot be reached, so {what} could not be read. Try again later.")


def not_json(what: str) -> UpstreamUnavailable:
    """The error for a response that is not from GitHub's API (a proxy's page, a wrong address)."""
    return UpstreamUnavailable(
        f"What answered for {what} is not GitHub's API: the answer has another form. GITHUB_API_URL may be wrong."
    )


def _status_error(error: RequestFailed, what: str, *, has_token: bool) -> PlatformError:
    status = error.response.status_code
    if error.response.is_server_error:
        return UpstreamUnavailable(
            f"GitHub answers with a server error ({status}) for {what}. Try again later."
        )
    sentences = {
        401: _unauthorised,
        403: _forbidden,
        404: _not_found,
        410: _gone,
        409: _conflict,
        422: _invalid,
    }
    refused = NotKnown if status == httpx.codes.NOT_FOUND else UpstreamRefused
    return refused(sentences.get(status, _other)(error, what, has_token))


def _unauthorised(_error: RequestFailed, what: str, has_token: bool) -> str:
    if has_token:
        return (
            f"GitHub did not accept the configured token (401) when asked for {what}: it may be wrong, expired "
            "or revoked. Set a valid GITHUB_TOKEN."
        )
    return f"GitHub gives {what} only to who signs in (401). Set GITHUB_TOKEN."


def _forbidden(error: RequestFailed, what: str, has_token: bool) -> str:
    if not has_token:
        return f"GitHub refuses {what} without a token (403). {_SIGN_IN_HINT}"
    if "x-github-sso" in error.response.headers:
        return f"GitHub refuses {what} (403): the token must be authorised for the organisation's single sign-on."
    needed = _printable(error.response.headers.get("x-accepted-github-permissions", ""))
    missing = f" It needs the permission {needed}." if needed else ""
    return f"GitHub refuses {what} (403): the token lacks the permission.{missing}"


def _not_found(_error: RequestFailed, what: str, has_token: bool) -> str:
    seen = "or the token may not see it" if has_token else "or it is private"
    hint = "" if has_token else f" {_SIGN_IN_HINT}"
    return f"GitHub does not know {what} (404): the name may be wrong, {seen}.{hint}"


def _gone(_error: RequestFailed, what: str, _has_token: bool) -> str:
    return f"GitHub no longer has {what} (410): it was deleted, has expired or is switched off for the repository."


def _conflict(_error: RequestFailed, what: str, _has_token: bool) -> str:
    return f"GitHub cannot give {what} now (409): the repository may be empty."


def _invalid(error: RequestFailed, what: str, _has_token: bool) -> str:
    reason = _reason(error)
    quoted = f' GitHub says: "{reason}"' if reason else ""
    return f"GitHub cannot work with the request for {what} (422); change its arguments.{quoted}"


def _other(error: RequestFailed, what: str, _has_token: bool) -> str:
    return f"GitHub refused the request for {what} (status {error.response.status_code})."


def _rate_limit_sentence(error: RateLimitExceeded, *, has_token: bool) -> str:
    wait = max(1, round(error.retry_after.total_seconds()))
    if not isinstance(error, PrimaryRateLimitExceeded):
        return f"GitHub asks to slow down; it takes requests again in {_duration(wait)}."
    at = (datetime.now(UTC) + timedelta(seconds=wait)).strftime("%H:%M UTC")
    limit = error.response.headers.get("x-ratelimit-limit", "")
    number = f" of {limit} requests an hour" if limit.isdigit() else ""
    hint = "" if has_token else " With a GITHUB_TOKEN the limit is 5,000 requests an hour."
    return f"GitHub's rate limit{number} is used up; it resets at {at}, in {_duration(wait)}.{hint}"


def _duration(seconds: int) -> str:
    if seconds < 2 * _MINUTE:
        return f"{seconds} seconds"
    return f"{round(seconds / _MINUTE)} minutes"


def _reason(error: RequestFailed) -> str:
    try:
        body = json_body(error.response)
    except ValueError:
        return ""
    if not isinstance(body, Mapping):
        return ""
    parts = [str(body.get("message") or "")]
    problems = body.get("errors")
    if isinstance(problems, list):
        parts += [_problem(problem) for problem in problems[:3]]
    return _printable("; ".join(part for part in parts if part))


def _problem(problem: Any) -> str:
    if not isinstance(problem, Mapping):
        return str(problem)
    message = problem.get("message")
    return (
        str(message)
        if message
        else " ".join(str(problem[key]) for key in ("field", "code") if problem.get(key))
    )


def _printable(text: str) -> str:
    return _CONTROL.sub(" ", text).strip()[:_REASON_LENGTH]
