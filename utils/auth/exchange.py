"""Exchanges a user's token for one that another agent accepts (RFC 8693), where the provider supports that.

The exchanged token is for one agent, names us as the actor, and cannot approve. The user's own token is sent to the provider only.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import quote

import structlog

from utils.auth.discovery import Fetch, Unavailable, configuration_of, fetched_json, may_be_read
from utils.auth.principal import Right
from utils.auth.refusal import AuthRefused
from utils.auth.token_endpoint import post_form
from utils.auth.token_form import LARGEST_TOKEN, parse_token

log = structlog.get_logger(__name__)

GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105 - a name of the RFC
_ACCEPTED_TYPES = frozenset({ACCESS_TOKEN, "urn:ietf:params:oauth:token-type:jwt"})

SECONDS = 5.0
"""Longest wait for the provider: a message is accepted only after its response or this time-out."""

FRESH_SECONDS = 600.0
"""How long the provider's metadata are cached."""

_DEFAULT_SECONDS = 60.0
_LONGEST_SECONDS = 3_600.0
_NOT_ABOUT_THE_USER = frozenset(
    {
        "invalid_client",
        "unauthorized_client",
        "unsupported_grant_type",
        "server_error",
        "temporarily_unavailable",
    }
)
"""Errors that do not concern the user: this installation is misconfigured, or the provider fails."""


class NoTokenReason(StrEnum):
    """Why there is no token for an agent."""

    REFUSED = "refused"
    """The provider issues this user no token for the agent."""
    UNAVAILABLE = "unavailable"
    """The provider cannot be reached, or does not exchange tokens for this client."""
    GONE = "gone"
    """The token has expired, or the turn continues without the message that carried the user's token."""


class NotExchanged(Exception):
    """There is no token.

    Attributes:
        why: The reason.
    """

    def __init__(self, why: NoTokenReason) -> None:
        super().__init__(why.value)
        self.why = why


@dataclass(frozen=True, slots=True)
class ExchangeTarget:
    """The agent that a token is exchanged for.

    Attributes:
        resource: Origin of the agent.
        audience: The provider's name for the agent; empty if it is known by its origin only.
        scopes: Scopes to request; the provider's default if empty.
    """

    resource: str
    audience: str = ""
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchanged:
    """A user's token for one agent.

    Attributes:
        token: The token.
        expires_at: Expiry, in seconds since 1970.
    """

    token: str = field(repr=False)
    expires_at: float


class TokenExchange:
    """Exchanges tokens at one provider.

    Args:
        issuer: The provider.
        client: Our client ID and secret at the provider.
        audience: Our own audience: a token that is valid here is sent to no agent.
        fetch: Reads the provider's metadata.
        clock: Seconds since 1970.
    """

    def __init__(
        self,
        issuer: str,
        client: tuple[str, str],
        audience: str,
        *,
        fetch: Fetch = fetched_json,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.issuer = issuer
        self._client = client
        self._audience = audience
        self._fetch = fetch
        self._clock = clock
        self._found: tuple[float, Mapping[str, Any]] | None = None
        self._lock = asyncio.Lock()

    async def exchanged(self, agent: str, token: str, target: ExchangeTarget) -> Exchanged | NoTokenReason:
        """The user's token for an agent, or why there is none. Takes at most `SECONDS`; failures are logged.

        Args:
            agent: Our name for it.
            token: The user's own token.
            target: The agent as the provider knows it.
        """
        try:
            async with asyncio.timeout(SECONDS):
                return await self._request(token, target)
        except (Unavailable, TimeoutError):
            log.warning("auth.exchange_unavailable", agent=agent, issuer=self.issuer)
            return NoTokenReason.UNAVAILABLE
        except NotExchanged as error:
            log.warning("auth.exchange_refused", agent=agent, issuer=self.issuer)
            return error.why

    async def _request(self, token: str, target: ExchangeTarget) -> Exchanged:
        configuration = await self._configuration()
        endpoint = configuration.get("token_endpoint")
        if not isinstance(endpoint, str) or not may_be_read(endpoint, self.issuer):
            raise Unavailable
        form = {
            "grant_type": GRANT,
            "subject_token": token,
            "subject_token_type": ACCESS_TOKEN,
            "requested_token_type": ACCESS_TOKEN,
            "resource": target.resource,
        }
        if target.audience:
            form["audience"] = target.audience
        if target.scopes:
            form["scope"] = " ".join(target.scopes)
        methods = configuration.get("token_endpoint_auth_methods_supported")
        by_form = isinstance(methods, list) and "client_secret_basic" not in methods
        name, secret = self._client
        if by_form:
            form |= {"client_id": name, "client_secret": secret}
        # RFC 6749: client ID and secret are form-encoded before they are joined
        basic = None if by_form else (quote(name, safe=""), quote(secret, safe=""))
        succeeded, payload = await post_form(endpoint, form, seconds=SECONDS, client=basic)
        if not succeeded:
            raise (
                Unavailable
                if payload.get("error") in _NOT_ABOUT_THE_USER or "error" not in payload
                else NotExchanged(NoTokenReason.REFUSED)
            )
        return self._parse(payload)

    async def _configuration(self) -> Mapping[str, Any]:
        """The provider's metadata.

        Raises:
            Unavailable: It cannot be read, or lists grant types without this one.
        """
        async with self._lock:
            now = self._clock()
            if self._found is None or not 0 <= now - self._found[0] < FRESH_SECONDS:
                self._found = now, await configuration_of(self.issuer, self._fetch)
            found = self._found[1]
        grants = found.get("grant_types_supported")
        if isinstance(grants, list) and GRANT not in grants:
            raise Unavailable
        return found

    def _parse(self, payload: Mapping[str, Any]) -> Exchanged:
        """The token of a response.

        Raises:
            Unavailable: It is not a bearer token of an accepted type.
            NotExchanged: It permits more than an agent may do.
        """
        token, kind = payload.get("access_token"), payload.get("token_type")
        usable = isinstance(token, str) and token.isascii() and token.isprintable() and " " not in token
        if not usable or not 0 < len(str(token)) <= LARGEST_TOKEN:
            raise Unavailable
        if str(kind).lower() != "bearer" or payload.get("issued_token_type") not in _ACCEPTED_TYPES:
            raise Unavailable
        if self._is_too_permissive(str(token), payload.get("scope")):
            raise NotExchanged(NoTokenReason.REFUSED)
        return Exchanged(str(token), self._clock() + _lifetime(payload.get("expires_in")))

    def _is_too_permissive(self, token: str, scope: object) -> bool:
        """Whether a token is valid at this service, as the user's own is, or can approve; as far as its claims can be read."""
        try:
            claims = parse_token(token).claims
        except AuthRefused:  # an opaque token, or one of another format: the provider decides
            claims = {}
        audiences = claims.get("aud")
        if self._audience in (audiences if isinstance(audiences, list) else [audiences]):
            return True
        return any(can_approve(each) for each in (scope, claims.get("scope"), claims.get("scp")))


def can_approve(scope: object) -> bool:
    """Whether one of these scopes, a string or a list, allows approving."""
    words = scope.split() if isinstance(scope, str) else scope if isinstance(scope, list) else []
    return any(str(word).endswith(f":{Right.APPROVE.value}") for word in words)


def _lifetime(value: object) -> float:
    """Lifetime of a token in seconds, from `expires_in`; some providers send it as a string."""
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return _DEFAULT_SECONDS
    return min(found, _LONGEST_SECONDS) if found > 0 else 0.0
