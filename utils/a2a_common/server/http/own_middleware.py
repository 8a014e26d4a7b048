"""Whether an agent's own HTTP middleware authenticates its callers. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware

NOT_COUNTED = (
    "The HTTP middleware of this agent does not count as authentication, since none of it is Starlette's "
    "AuthenticationMiddleware or a subclass."
)
"""The reason why an agent with middleware is treated like one without."""

REPLACES = (
    "The HTTP middleware of this agent authenticates its callers itself and would replace the caller that AUTH_MODE finds, "
    "without what is known of that one, such as the tenant. Use one of the two: set AUTH_MODE=none, or take the middleware "
    "out of http_middleware."
)
"""Why an agent that authenticates its callers itself does not start with `AUTH_MODE` on."""


def authenticates(middleware: Iterable[Middleware]) -> bool:
    """Whether one of them sets the user of a request: Starlette's `AuthenticationMiddleware`, or a subclass.

    Nothing else counts. Middleware that only adds a header does not identify callers, and middleware that refuses some callers without
    identifying the others leaves them all anonymous, so that they share their conversations.
    """
    return any(
        isinstance(each.cls, type) and issubclass(each.cls, AuthenticationMiddleware) for each in middleware
    )
