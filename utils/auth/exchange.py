"""Exchanges a person's token for one of their own at another agent (RFC 8693), where the provider does that.

What is given out is for one agent, names us as the actor, and can never approve. The person's token goes to the provider alone.
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
from utils.auth.token_endpoint import posted_form
from utils.auth.token_form import LARGEST_TOKEN, taken_apart

log = structlog.get_logger(__name__)

GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105 - a name of the RFC
_TAKEN_TYPES = frozenset({ACCESS_TOKEN, "urn:ietf:params:oauth:token-type:jwt"})

SECONDS = 5.0
"""Longest wait for the provider: a message is not accepted before it has answered, or is given up."""

FRESH_SECONDS = 600.0
"""How long the provider's metadata are taken without a look."""

_USUAL_SECONDS = 60.0
_LONGEST_SECONDS = 3_600.0
_NOT_OF_THE_PERSON = frozenset(
    {
        "invalid_client",
        "unauthorized_client",
        "unsupported_grant_type",
        "server_error",
        "temporarily_unavailable",
    }
)
"""Errors that say nothing of the person: this installation is set up wrong, or the provider is in trouble."""


class Lack(StrEnum):
    """Why there is no token for an agent."""

    REFUSED = "refused"
    """The provider gives this person none for it."""
    UNAVAILABLE = "unavailable"
    """The provider cannot be asked, or does not exchange for us."""
    GONE = "gone"
    """It has ended, or the turn goes on without the message that brought the person's token."""


class NotExchanged(Exception):
    """There is no token.

    Attributes:
        why: The reason.
    """

    def __init__(self, why: Lack) -> None:
        super().__init__(why.value)
        self.why = why


@dataclass(frozen=True, slots=True)
class ExchangeTarget:
    """For what a token is exchanged.

    Attributes:
        resource: Origin of the agent.
        audience: What the provider knows it as; empty where it is known by its origin alone.
        scopes: What the token may be good for; what the provider gives by itself where there are none.
    """

    resource: str
    audience: str = ""
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchanged:
    """A token of the person for one agent.

    Attributes:
        token: The token.
        expires_at: When it ends, in seconds since 1970.
    """

    token: str = field(repr=False)
    expires_at: float


class TokenExchange:
    """Exchanges tokens at one provider.

    Args:
        issuer: The provider.
        client: Name and secret that the provider knows us by.
        audience: Our own audience: a token that is good here is given to no agent.
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

    async def exchanged(self, agent: str, token: str, target: ExchangeTarget) -> Exchanged | Lack:
        """The person's token for an agent, or why there is none. It takes bounded time, and the log says what is wrong.

        Args:
            agent: Our name for it.
            token: The person's own token.
            target: For what it is exchanged.
        """
        try:
            async with asyncio.timeout(SECONDS):
                return await self._asked(token, target)
        except (Unavailable, TimeoutError):
            log.warning("auth.exchange_unavailable", agent=agent, issuer=self.issuer)
            return Lack.UNAVAILABLE
        except NotExchanged as error:
            log.warning("auth.exchange_refused", agent=agent, issuer=self.issuer)
            return error.why

    async def _asked(self, token: str, target: ExchangeTarget) -> Exchanged:
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
        # RFC 6749 has name and secret encoded as in a form before they are joined
        basic = None if by_form else (quote(name, safe=""), quote(secret, safe=""))
        done, told = await posted_form(endpoint, form, seconds=SECONDS, client=basic)
        if not done:
            raise (
                Unavailable
                if told.get("error") in _NOT_OF_THE_PERSON or "error" not in told
                else NotExchanged(Lack.REFUSED)
            )
        return self._read(told)

    async def _configuration(self) -> Mapping[str, Any]:
        """The provider's metadata, of a provider that exchanges tokens as far as it says."""
        async with self._lock:
            now = self._clock()
            if self._found is None or not 0 <= now - self._found[0] < FRESH_SECONDS:
                self._found = now, await configuration_of(self.issuer, self._fetch)
            found = self._found[1]
        grants = found.get("grant_types_supported")
        if isinstance(grants, list) and GRANT not in grants:
            raise Unavailable
        return found

    def _read(self, told: Mapping[str, Any]) -> Exchanged:
        """The token of an answer.

        Raises:
            Unavailable: It is none that could be sent.
            NotExchanged: It is good for more than one agent may have.
        """
        token, kind = told.get("access_token"), told.get("token_type")
        usable = isinstance(token, str) and token.isascii() and token.isprintable() and " " not in token
        if not usable or not 0 < len(str(token)) <= LARGEST_TOKEN:
            raise Unavailable
        if str(kind).lower() != "bearer" or told.get("issued_token_type") not in _TAKEN_TYPES:
            raise Unavailable
        if self._is_too_much(str(token), told.get("scope")):
            raise NotExchanged(Lack.REFUSED)
        return Exchanged(str(token), self._clock() + _lasts(told.get("expires_in")))

    def _is_too_much(self, token: str, scope: object) -> bool:
        """Whether a token is good at our own door, as the person's own is, or approves; as far as it can be read."""
        try:
            claims = taken_apart(token).claims
        except AuthRefused:  # its form is the provider's affair
            claims = {}
        audiences = claims.get("aud")
        if self._audience in (audiences if isinstance(audiences, list) else [audiences]):
            return True
        return any(can_approve(each) for each in (scope, claims.get("scope"), claims.get("scp")))


def can_approve(scope: object) -> bool:
    """Whether there is a scope among these, as words or as a list, that approves."""
    words = scope.split() if isinstance(scope, str) else scope if isinstance(scope, list) else []
    return any(str(word).endswith(f":{Right.APPROVE.value}") for word in words)


def _lasts(value: object) -> float:
    """Seconds that a token lasts, as the provider says; providers are known to send them as text."""
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return _USUAL_SECONDS
    return min(found, _LONGEST_SECONDS) if found > 0 else 0.0
