"""An OpenID provider that browsers log in at: authorization code with PKCE, as RFC 7636 wants it checked."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from tests.e2e.auth.keys import Key, rsa_key, signed
from utils.testing.live_server import loopback_socket, running

CLIENT = "page"

LASTS = 300
"""Seconds that a token lasts."""


@dataclass
class LoginProvider:
    """The provider.

    Attributes:
        url: Its issuer.
        agent: The audience of its tokens.
        key: Signs them.
        ahead: Seconds by which its clock is ahead.
        refuses: Whether the person says no.
        renews: Whether tokens can be renewed; otherwise a login ends with its first token.
        asked: The parameters of each login.
        issued: Every token and code that was given out.
        exchanges: The kind of grant of each look for a token.
    """

    url: str
    agent: str
    key: Key
    ahead: float = 0.0
    refuses: bool = False
    renews: bool = True
    asked: list[Mapping[str, str]] = field(default_factory=list)
    issued: list[str] = field(default_factory=list)
    exchanges: list[str] = field(default_factory=list)
    _codes: dict[str, Mapping[str, str]] = field(default_factory=dict)
    _renewals: set[str] = field(default_factory=set)

    async def configuration(self, _request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/jwks",
            }
        )

    async def jwks(self, _request: Request) -> Response:
        return JSONResponse({"keys": [dict(self.key.jwk)]})

    async def authorize(self, request: Request) -> Response:
        """A page with a link back, as a person sees it."""
        asked = dict(request.query_params)
        self.asked.append(asked)
        assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
        if asked["client_id"] != CLIENT:
            return HTMLResponse("unknown client", 400)
        answer = {"error": "access_denied"}
        if not self.refuses:
            code = self._given("c")
            self._codes[code] = asked
            answer = {"code": code}
        back = f"{asked['redirect_uri']}?{urlencode({**answer, 'state': asked['state'], 'iss': self.url})}"
        return HTMLResponse(
            f'<!doctype html><link rel="icon" href="data:,"><a href="{back.replace("&", "&amp;")}">I am Ann</a>'
        )

    async def token(self, request: Request) -> Response:
        sent = dict(parse_qsl((await request.body()).decode()))
        self.exchanges.append(sent["grant_type"])
        if sent["grant_type"] == "refresh_token":
            known = self.renews and sent["refresh_token"] in self._renewals
        else:
            asked = self._codes.pop(sent["code"], None)
            known = asked is not None and _proves(sent, asked)
        if not known or sent["client_id"] != CLIENT:
            return JSONResponse({"error": "invalid_grant"}, 400)
        renewal = self._given("r")
        self._renewals.add(renewal)
        return JSONResponse(
            {"access_token": self.access("ann"), "refresh_token": renewal, "expires_in": LASTS}
        )

    def clock(self) -> float:
        """The time, as `time.time()` tells it."""
        return time.time() + self.ahead

    def access(self, who: str) -> str:
        """A token of somebody."""
        now = int(self.clock())
        claims: dict[str, Any] = {
            "iss": self.url,
            "sub": who,
            "aud": self.agent,
            "scope": " ".join(f"agent:{self.agent}:{right}" for right in ("use", "approve")),
            "iat": now,
            "exp": now + LASTS,
            "jti": str(time.monotonic_ns()),
        }
        header = {"alg": self.key.algorithm, "kid": self.key.jwk["kid"], "typ": "at+jwt"}
        self.issued.append(signed(header, claims, self.key.sign))
        return self.issued[-1]

    def _given(self, kind: str) -> str:
        self.issued.append(f"{kind}-{time.monotonic_ns()}")
        return self.issued[-1]


def _proves(sent: Mapping[str, str], asked: Mapping[str, str]) -> bool:
    digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
    challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return (challenge, sent["redirect_uri"]) == (asked["code_challenge"], asked["redirect_uri"])


@asynccontextmanager
async def login_provider(agent: str) -> AsyncIterator[LoginProvider]:
    """Serve it."""
    listener = loopback_socket()
    made = LoginProvider(f"http://127.0.0.1:{listener.getsockname()[1]}", agent, rsa_key("rsa-1"))
    app = Starlette(
        routes=[
            Route("/.well-known/openid-configuration", made.configuration),
            Route("/jwks", made.jwks),
            Route("/authorize", made.authorize),
            Route("/token", made.token, methods=["POST"]),
        ],
        middleware=[Middleware(CORSMiddleware, allow_origins=["*"])],
    )
    async with running(app, listener=listener):
        yield made
