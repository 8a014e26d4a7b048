"""Faults on demand: each repository of the owner `faulty` fails as its name says."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from email.utils import formatdate

from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

_PREFIX = "/repos/faulty/"
_SLOW_SECONDS = 5.0
RESET_SECONDS = 720
"""Seconds until the rate limit of `faulty/rate-limit` resets."""
INTERNAL_PAGE = "<html>internal host db-7.corp: stack trace</html>"
"""A body that must not reach a user."""


def _error_response(status: int, message: str, **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return JSONResponse(
        {"message": message, "documentation_url": "https://docs.github.com/rest"}, status, named
    )


def _rate_limit() -> Response:
    reset = str(int(time.time()) + RESET_SECONDS)
    return _error_response(
        403,
        "API rate limit exceeded for 203.0.113.7.",
        x_ratelimit_limit="60",
        x_ratelimit_remaining="0",
        x_ratelimit_reset=reset,
    )


def _invalid() -> Response:
    errors = [
        {
            "resource": "Search",
            "field": "q",
            "code": "invalid",
            "message": "The listed users cannot be searched",
        }
    ]
    return JSONResponse({"message": "Validation Failed", "errors": errors}, 422)


def _http_date(seconds: float) -> str:
    return formatdate(time.time() + seconds, usegmt=True)


def _cut() -> Response:
    return PlainTextResponse('[{"number": 1', headers={"content-length": "100000"})


FAULTS: dict[str, Callable[[], Response]] = {
    "deep-refusal": lambda: PlainTextResponse("[" * 100_000, 422, media_type="application/json"),
    "unauthorized": lambda: _error_response(401, "Bad credentials"),
    "forbidden": lambda: _error_response(
        403, "Resource not accessible by personal access token", x_accepted_github_permissions="contents=read"
    ),
    "sso": lambda: _error_response(
        403, "Resource protected by organization SAML", x_github_sso="required; url=https://x"
    ),
    "rate-limit": _rate_limit,
    "secondary-limit": lambda: _error_response(
        403, "You have exceeded a secondary rate limit", retry_after="60"
    ),
    "too-many": lambda: _error_response(429, "You have exceeded a secondary rate limit", retry_after="60"),
    "invalid": _invalid,
    "gone": lambda: _error_response(410, "Issues are disabled for this repo"),
    "empty": lambda: _error_response(409, "Git Repository is empty."),
    "legal": lambda: _error_response(451, "Repository access blocked"),
    "server-error": lambda: PlainTextResponse(INTERNAL_PAGE, 502),
    "not-json": lambda: PlainTextResponse(INTERNAL_PAGE, media_type="text/html"),
    "odd": lambda: JSONResponse("odd"),
    "cut": _cut,
    "accepted": lambda: JSONResponse({"message": "Queued"}, 202),
    "no-content": lambda: Response(status_code=204),
    "created-page": lambda: PlainTextResponse(INTERNAL_PAGE, 201, media_type="text/html"),
    "created-empty": lambda: Response(status_code=201),
    "created-odd": lambda: JSONResponse("odd", 201),
    "created-elsewhere": lambda: RedirectResponse("/somewhere", 303),
    "not-modified": lambda: Response(status_code=304),
    "moved": lambda: RedirectResponse("/repositories/1", 301),
    "moved-for-now": lambda: RedirectResponse("/repositories/1", 307),
    "retry-at-a-date": lambda: _error_response(429, "Slow down", retry_after=_http_date(90)),
    "retry-in-parts": lambda: _error_response(429, "Slow down", retry_after="90.5"),
    "retry-at-odd-times": lambda: _error_response(403, "Slow down", retry_after="soon"),
    "retry-never": lambda: _error_response(429, "Slow down", retry_after="9" * 40),
    "reset-at-odd-times": lambda: _error_response(
        403, "Used up", x_ratelimit_remaining="0", x_ratelimit_reset="soon"
    ),
}
"""Responses by the name of the repository. Besides these, `slow` waits and `flaky` fails every other request."""


class FaultMiddleware:
    """Answers for the repositories of `faulty`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._flaky = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Fail, or pass the request on."""
        path = scope.get("path", "")
        if scope["type"] != "http" or not path.startswith(_PREFIX):
            await self._app(scope, receive, send)
            return
        kind, _, rest = path.removeprefix(_PREFIX).partition("/")
        healthy = {**scope, "path": f"/repos/octocat/hello-world/{rest}"}
        if kind in FAULTS:
            await FAULTS[kind]()(scope, receive, send)
            return
        if kind == "slow":
            await asyncio.sleep(_SLOW_SECONDS)
        if kind == "flaky":
            self._flaky += 1
            if self._flaky % 2:
                await PlainTextResponse("", 503)(scope, receive, send)
                return
        await self._app(healthy, receive, send)
