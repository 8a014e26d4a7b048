"""The device authorisation grant (RFC 8628): a person logs in with a browser elsewhere, and this process gets the tokens."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from utils.auth.discovery import Unavailable
from utils.auth.token_endpoint import posted_form

GRANT = "urn:ietf:params:oauth:grant-type:device_code"

_SECONDS = 20.0
_USUAL_INTERVAL = 5.0
_SLOWER = 5.0
"""Seconds that the interval grows by where the server says that we ask too often."""
_BEFORE_END = 60.0
"""A token is renewed this many seconds before it ends."""


class TokenErrorCode(StrEnum):
    """Why there are no tokens yet, or none at all, in the words of RFC 8628 and RFC 6749."""

    PENDING = "authorization_pending"
    SLOW_DOWN = "slow_down"
    DENIED = "access_denied"
    EXPIRED = "expired_token"
    GRANT = "invalid_grant"
    OTHER = "other"


class FlowRefused(Exception):
    """The server gives no tokens.

    Attributes:
        why: The reason.
    """

    def __init__(self, why: TokenErrorCode) -> None:
        super().__init__(why.value)
        self.why = why


class FlowUnavailable(Exception):
    """The server cannot be reached, or what answers is no authorisation server."""


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """A login that has begun.

    Attributes:
        user_code: What the person enters.
        url: Where.
        secret: What fetches the tokens once the person has done so.
        expires_at: When it ends, in seconds since 1970.
        interval: Seconds between two looks.
    """

    user_code: str
    url: str
    secret: str = field(repr=False)
    expires_at: float
    interval: float


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a person has granted.

    Attributes:
        access: The access token.
        refresh: What renews it; empty where nothing does.
        expires_at: When it ends, in seconds since 1970; 0 where that is not known.
    """

    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    expires_at: float = 0.0

    def old(self, now: float) -> bool:
        """Whether it has ended, or is about to."""
        return 0 < self.expires_at <= now + _BEFORE_END


@dataclass(frozen=True, slots=True)
class DeviceFlow:
    """Asks one authorisation server for the tokens of persons.

    Args:
        device_url: Its endpoint for device authorisation.
        token_url: Its endpoint for tokens.
        client_id: What it knows this installation as.
        clock: Seconds since 1970.
    """

    device_url: str
    token_url: str
    client_id: str
    clock: Callable[[], float] = time.time

    async def begin(self, scope: str, **further: str) -> DeviceCode:
        """Begin a login.

        Raises:
            FlowRefused: The server takes none of this client.
            FlowUnavailable: It does not answer as it should.
        """
        told = await self._post(self.device_url, {"scope": scope, **further} if scope else further)
        url = told.get("verification_uri", told.get("verification_url"))
        texts = (told.get("user_code"), url, told.get("device_code"))
        if not all(isinstance(text, str) and text.isprintable() and text for text in texts):
            raise FlowUnavailable
        lasts = _number(told.get("expires_in"), 900.0)
        return DeviceCode(
            user_code=str(texts[0]),
            url=str(url),
            secret=str(texts[2]),
            expires_at=self.clock() + lasts,
            interval=_number(told.get("interval"), _USUAL_INTERVAL),
        )

    async def tokens(self, code: DeviceCode) -> Tokens:
        """Look once whether the person has logged in.

        Raises:
            FlowRefused: Not yet, or never.
            FlowUnavailable: The server does not answer as it should.
        """
        if code.expires_at <= self.clock():
            raise FlowRefused(TokenErrorCode.EXPIRED)
        return self._read(await self._post(self.token_url, {"grant_type": GRANT, "device_code": code.secret}))

    async def renewed(self, tokens: Tokens) -> Tokens:
        """New tokens for old ones.

        Raises:
            FlowRefused: They were revoked or have ended.
            FlowUnavailable: The server does not answer as it should.
        """
        if not tokens.refresh:
            raise FlowRefused(TokenErrorCode.GRANT)
        body = {"grant_type": "refresh_token", "refresh_token": tokens.refresh}
        new = self._read(await self._post(self.token_url, body))
        return Tokens(new.access, new.refresh or tokens.refresh, new.expires_at)

    def _read(self, told: Mapping[str, Any]) -> Tokens:
        access, refresh = told.get("access_token"), told.get("refresh_token", "")
        if not isinstance(access, str) or not access or not isinstance(refresh, str):
            raise FlowUnavailable
        lasts = _number(told.get("expires_in"), 0.0)
        return Tokens(access, refresh, self.clock() + lasts if lasts else 0.0)

    async def _post(self, url: str, body: Mapping[str, str]) -> Mapping[str, Any]:
        try:
            done, told = await posted_form(url, {"client_id": self.client_id, **body}, seconds=_SECONDS)
        except Unavailable as error:
            raise FlowUnavailable from error
        if "error" in told:
            raise FlowRefused(_reason(told["error"]))
        if not done:
            raise FlowUnavailable
        return told


def slower(code: DeviceCode) -> float:
    """Seconds to wait where the server says that it is asked too often."""
    return code.interval + _SLOWER


def _reason(error: object) -> TokenErrorCode:
    return (
        TokenErrorCode(error)
        if isinstance(error, str) and error in list(TokenErrorCode)
        else TokenErrorCode.OTHER
    )


def _number(value: object, usual: float) -> float:
    """A count of seconds; providers are known to send it as text."""
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return usual
    return found if 0 <= found < 10**9 else usual
