"""The device authorisation grant (RFC 8628): a person logs in with a browser elsewhere, and this process gets the tokens."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from utils.auth.discovery import Unavailable
from utils.auth.token_endpoint import post_form

GRANT = "urn:ietf:params:oauth:grant-type:device_code"

_SECONDS = 20.0
_DEFAULT_INTERVAL = 5.0
_SLOWER = 5.0
"""Seconds that the polling interval grows by on `slow_down`."""
_BEFORE_END = 60.0
"""A token is renewed this many seconds before it expires."""


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
    """The server cannot be reached, or the response is not that of an authorisation server."""


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """A login in progress.

    Attributes:
        user_code: The code that the user enters.
        url: Where the user enters it.
        secret: The device code, which fetches the tokens once the user has logged in.
        expires_at: Expiry, in seconds since 1970.
        interval: Seconds between two polls.
    """

    user_code: str
    url: str
    secret: str = field(repr=False)
    expires_at: float
    interval: float


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens that a user has granted.

    Attributes:
        access: The access token.
        refresh: The refresh token; empty if there is none.
        expires_at: Expiry of the access token, in seconds since 1970; 0 if not known.
    """

    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    expires_at: float = 0.0

    def old(self, now: float) -> bool:
        """Whether the access token has expired, or is about to."""
        return 0 < self.expires_at <= now + _BEFORE_END


@dataclass(frozen=True, slots=True)
class DeviceFlow:
    """Requests tokens of users from one authorisation server.

    Args:
        device_url: Its device authorisation endpoint.
        token_url: Its token endpoint.
        client_id: The client ID of this installation.
        clock: Seconds since 1970.
    """

    device_url: str
    token_url: str
    client_id: str
    clock: Callable[[], float] = time.time

    async def begin(self, scope: str, **further: str) -> DeviceCode:
        """Begin a login.

        Raises:
            FlowRefused: The server refuses logins of this client.
            FlowUnavailable: It does not respond as specified.
        """
        payload = await self._post(self.device_url, {"scope": scope, **further} if scope else further)
        url = payload.get("verification_uri", payload.get("verification_url"))
        texts = (payload.get("user_code"), url, payload.get("device_code"))
        if not all(isinstance(text, str) and text.isprintable() and text for text in texts):
            raise FlowUnavailable
        lifetime = _number(payload.get("expires_in"), 900.0)
        return DeviceCode(
            user_code=str(texts[0]),
            url=str(url),
            secret=str(texts[2]),
            expires_at=self.clock() + lifetime,
            interval=_number(payload.get("interval"), _DEFAULT_INTERVAL),
        )

    async def tokens(self, code: DeviceCode) -> Tokens:
        """Poll once for the tokens of a login.

        Raises:
            FlowRefused: The user has not logged in yet, or the login has failed.
            FlowUnavailable: The server does not respond as specified.
        """
        if code.expires_at <= self.clock():
            raise FlowRefused(TokenErrorCode.EXPIRED)
        return self._parse(
            await self._post(self.token_url, {"grant_type": GRANT, "device_code": code.secret})
        )

    async def renewed(self, tokens: Tokens) -> Tokens:
        """New tokens by the refresh token.

        Raises:
            FlowRefused: It was revoked or has expired.
            FlowUnavailable: The server does not respond as specified.
        """
        if not tokens.refresh:
            raise FlowRefused(TokenErrorCode.GRANT)
        body = {"grant_type": "refresh_token", "refresh_token": tokens.refresh}
        new = self._parse(await self._post(self.token_url, body))
        return Tokens(new.access, new.refresh or tokens.refresh, new.expires_at)

    def _parse(self, payload: Mapping[str, Any]) -> Tokens:
        access, refresh = payload.get("access_token"), payload.get("refresh_token", "")
        if not isinstance(access, str) or not access or not isinstance(refresh, str):
            raise FlowUnavailable
        lifetime = _number(payload.get("expires_in"), 0.0)
        return Tokens(access, refresh, self.clock() + lifetime if lifetime else 0.0)

    async def _post(self, url: str, body: Mapping[str, str]) -> Mapping[str, Any]:
        try:
            succeeded, payload = await post_form(url, {"client_id": self.client_id, **body}, seconds=_SECONDS)
        except Unavailable as error:
            raise FlowUnavailable from error
        if "error" in payload:
            raise FlowRefused(_reason(payload["error"]))
        if not succeeded:
            raise FlowUnavailable
        return payload


def slower(code: DeviceCode) -> float:
    """The polling interval in seconds after the server responded with `slow_down`."""
    return code.interval + _SLOWER


def _reason(error: object) -> TokenErrorCode:
    return (
        TokenErrorCode(error)
        if isinstance(error, str) and error in list(TokenErrorCode)
        else TokenErrorCode.OTHER
    )


def _number(value: object, default: float) -> float:
    """A number of seconds; some providers send it as a string."""
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return default
    return found if 0 <= found < 10**9 else default
