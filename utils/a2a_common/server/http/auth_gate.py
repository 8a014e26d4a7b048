"""`AuthGate`: refuses requests without valid credentials, except for the card and the probes."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from starlette.authentication import BaseUser
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from utils.a2a_common.protocol.forbidden import Forbidden, noting_forbidden
from utils.a2a_common.server.http.answers import local_path, refusal
from utils.a2a_common.server.http.refused_id import read_rpc_id
from utils.auth.authenticator import Authenticator
from utils.auth.principal import Principal, Right, scope_for
from utils.auth.refusal import CHECKED_AGAIN_SECONDS, AuthRefused

log = structlog.get_logger(__name__)

METADATA_PATH = "/.well-known/oauth-protected-resource"
PUBLIC = frozenset(
    {"/healthz", "/readyz", "/.well-known/agent-card.json", "/.well-known/agent.json", METADATA_PATH}
)
METRICS = "/metrics"

UNKNOWN = (
    'This agent needs valid credentials: send "Authorization: Bearer" with an API key or access token. '
    "The agent card lists what it accepts."
)
UNCHECKED = (
    "Your credentials cannot be checked right now, because the identity provider or the file of keys cannot be read. "
    "They may be valid. Try again in a moment."
)
NOT_ALLOWED = "These credentials do not allow that."


class Known(BaseUser):
    """A caller as Starlette has it.

    Attributes:
        principal: The verified caller.
    """

    def __init__(self, principal: Principal) -> None:
        self.principal = principal

    @property
    def is_authenticated(self) -> bool:
        """Yes."""
        return True

    @property
    def display_name(self) -> str:
        """The key of the caller."""
        return self.principal.name


class AuthGate:
    """Answers 401 to a caller without valid credentials, 403 to one who may not use this agent, 503 if credentials cannot be checked.

    Args:
        app: The guarded application.
        authenticator: Identifies the callers.
        url: Where the agent is reached.
        page: Whether a path belongs to the page for browsers, whose files contain no user data; no path does when omitted.
    """

    def __init__(
        self, app: ASGIApp, *, authenticator: Authenticator, url: str, page: Callable[[str], bool] = bool
    ) -> None:
        self._app = app
        self._page = page
        self._authenticator = authenticator
        self._metadata = f"{url.rstrip('/')}{METADATA_PATH}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on or refuse it."""
        if scope["type"] != "http" or self._is_public(scope):
            await self._app(scope, receive, send)
            return
        agent = self._authenticator.agent
        right = Right.ADMIN if local_path(scope) == METRICS else Right.USE
        try:
            caller = await self._authenticator.caller(Headers(scope=scope).getlist("authorization"))
        except AuthRefused as error:
            await read_rpc_id(scope, receive)
            response = self._unchecked(scope) if error.unchecked else self._unknown(scope)
            log.warning("auth.refused", code=error.why.value, status=response.status_code)
            await response(scope, receive, send)
            return
        if not caller.may(agent, right):
            log.warning("auth.refused", code="scope", status=403)
            await read_rpc_id(scope, receive)
            await self._forbidden(scope, scope_for(agent, right))(scope, receive, send)
            return
        await self._pass({**scope, "user": Known(caller)}, receive, send)

    def _is_public(self, scope: Scope) -> bool:
        path = local_path(scope)
        return scope["method"] in ("GET", "HEAD") and (path in PUBLIC or self._page(path))

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; where the handler finds that it is forbidden, the answer is ours."""
        held: list[Message] = []
        replaced = False
        with noting_forbidden() as forbidden:

            async def answer(message: Message) -> None:
                nonlocal replaced
                if message["type"] == "http.response.start":
                    held.append(message)
                    return
                if held and forbidden:
                    replaced = True
                    held.clear()
                    log.warning("auth.refused", code="forbidden", status=403)
                    await self._forbidden(scope, forbidden[0].scope, forbidden[0])(scope, receive, send)
                for start in held:
                    await send(start)
                held.clear()
                if not replaced:
                    await send(message)

            await self._app(scope, receive, answer)

    def _unchecked(self, scope: Scope) -> Response:
        response = refusal(scope, 503, UNCHECKED)
        response.headers["Retry-After"] = str(CHECKED_AGAIN_SECONDS)
        return response

    def _unknown(self, scope: Scope) -> Response:
        response = refusal(scope, 401, UNKNOWN)
        response.headers["WWW-Authenticate"] = f'Bearer resource_metadata="{self._metadata}"'
        return response

    def _forbidden(self, scope: Scope, needed: str, error: Forbidden | None = None) -> Response:
        response = refusal(scope, 403, error.message if error is not None else NOT_ALLOWED)
        if needed:
            response.headers["WWW-Authenticate"] = (
                f'Bearer error="insufficient_scope", scope="{needed}", resource_metadata="{self._metadata}"'
            )
        return response


def metadata_route(authenticator: Authenticator, url: str) -> Route:
    """Where credentials come from, for clients that have none (RFC 9728)."""
    agent, settings = authenticator.agent, authenticator.settings
    body = {
        "resource": url,
        "resource_name": agent,
        "authorization_servers": list(settings.issuer_list),
        "bearer_methods_supported": ["header"],
        "scopes_supported": [scope_for(agent, right) for right in Right],
    }

    async def metadata(_: Request) -> JSONResponse:
        return JSONResponse(body)

    return Route(METADATA_PATH, metadata, methods=["GET"])
