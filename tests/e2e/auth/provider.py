"""A small OpenID provider on loopback: several issuers, each well or broken in its own way, and keys that rotate."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.e2e.auth.exchange_grant import ExchangeGrant
from tests.e2e.auth.keys import Key, ec_key, ed_key, rsa_key, signed
from utils.auth.exchange import GRANT
from utils.testing.live_server import loopback_socket, running

GOOD, OTHER, DOWN, REDIRECTED, HUGE, PLAIN, LIAR, SINGLE = (
    "good", "other", "down", "redirected", "huge", "plain", "liar", "single",
)  # fmt: skip
ISSUERS = (GOOD, OTHER, DOWN, REDIRECTED, HUGE, PLAIN, LIAR, SINGLE)


@dataclass
class Provider:
    """The provider.

    Attributes:
        url: Where it is.
        keys: What it publishes, by issuer.
        reads: How often the keys of an issuer were read.
        out: Whether it answers nobody.
        logins: Scopes that logins by a code have asked for.
        refusals: What the next looks for tokens are answered with.
        lasts: Seconds that a token of a login lasts.
        renewals: What renews one; each counts once.
        exchange: Exchanges tokens for those of other agents.
    """

    url: str
    keys: dict[str, list[Key]]
    reads: dict[str, int] = field(default_factory=dict)
    out: bool = False
    logins: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    lasts: int = 300
    renewals: set[str] = field(default_factory=set)
    exchange: ExchangeGrant = field(default_factory=ExchangeGrant)

    def issuer(self, name: str = GOOD) -> str:
        return f"{self.url}/{name}"

    @property
    def issuers(self) -> str:
        return ",".join(map(self.issuer, ISSUERS))

    def claims(self, agent: str, name: str = GOOD, **changes: Any) -> dict[str, Any]:
        """What a good token for an agent claims; a change to `None` leaves a claim out."""
        now = int(time.time())
        rights = ("use", "approve", "admin")
        made = {
            "iss": self.issuer(name),
            "sub": "ann",
            "aud": agent,
            "scope": " ".join(f"agent:{agent}:{right}" for right in rights),
            "tenant": "acme",
            "iat": now,
            "exp": now + 300,
            **changes,
        }
        return {name: value for name, value in made.items() if value is not None}

    def token(
        self, agent: str, *, key: Key | None = None, header: Mapping[str, Any] | None = None, **changes: Any
    ) -> str:
        """A token as this provider signs it."""
        name = str(changes.pop("issued_by", GOOD))
        by = key or self.keys[name][0]
        made = {"alg": by.algorithm, "kid": by.jwk["kid"], "typ": "at+jwt", **(header or {})}
        made = {field: value for field, value in made.items() if value is not None}
        return signed(made, self.claims(agent, name, **changes), by.sign)

    async def _configuration(self, request: Request) -> Response:
        name = request.path_params["name"]
        if self.out or name == DOWN:
            return Response(status_code=503)
        jwks = "http://keys.example.com/jwks" if name == PLAIN else f"{self.issuer(name)}/jwks"
        return JSONResponse(
            {
                "issuer": self.issuer(GOOD if name == LIAR else name),
                "jwks_uri": jwks,
                "device_authorization_endpoint": f"{self.issuer(name)}/device",
                "token_endpoint": f"{self.issuer(name)}/token",
                **self.exchange.metadata,
            }
        )

    async def _device(self, request: Request) -> Response:
        sent = dict(parse_qsl((await request.body()).decode()))
        if sent.get("client_id") != "cli":
            return JSONResponse({"error": "invalid_client"}, 401)
        self.logins.append(sent["scope"])
        page = f"{self.issuer(request.path_params['name'])}/enter"
        return JSONResponse(
            {
                "device_code": "d-1",
                "user_code": "WDJB-MJHT",
                "verification_uri": page,
                "expires_in": 60,
                "interval": 0,
            }
        )

    async def _tokens(self, request: Request) -> Response:
        sent = dict(parse_qsl((await request.body()).decode()))
        if sent["grant_type"] == GRANT:
            name = request.path_params["name"]

            def sign(audience: str, **claims: Any) -> str:
                return self.token(audience, issued_by=name, **claims)

            keys = [key.jwk for key in self.keys[name]]
            return await self.exchange.answer(request, sent, self.issuer(name), keys, sign)
        if sent["grant_type"] == "refresh_token":
            if sent["refresh_token"] not in self.renewals:
                return JSONResponse({"error": "invalid_grant"}, 400)
            self.renewals.remove(sent["refresh_token"])
        elif self.refusals:
            return JSONResponse({"error": self.refusals.pop(0)}, 400)
        renewal = f"r-{time.monotonic_ns()}"
        self.renewals.add(renewal)
        token = self.token("keys", exp=int(time.time()) + self.lasts)
        return JSONResponse({"access_token": token, "refresh_token": renewal, "expires_in": self.lasts})

    async def _jwks(self, request: Request) -> Response:
        name = request.path_params["name"]
        if self.out:
            return Response(status_code=503)
        if name == REDIRECTED:
            return RedirectResponse(f"{self.issuer(GOOD)}/jwks")
        self.reads[name] = self.reads.get(name, 0) + 1
        body: dict[str, Any] = {"keys": [dict(key.jwk) for key in self.keys[name]]}
        if name == HUGE:
            body["padding"] = "x" * 300_000
        return JSONResponse(body)


@cache
def _keys() -> tuple[Key, ...]:
    """The same of all providers of a process: an RSA key takes a tenth of a second to make."""
    return (
        rsa_key("rsa-1"), ec_key("ec-1"), ed_key("ed-1"), rsa_key("small", 1024), rsa_key("for-encryption", use="enc"),
        rsa_key("for-signing", key_ops=["sign"]), rsa_key("other-1"),
    )  # fmt: skip


@asynccontextmanager
async def provider() -> AsyncIterator[Provider]:
    """Serve it."""
    listener = loopback_socket()
    *known, other = _keys()
    good = known[:3]
    keys = {name: good for name in ISSUERS} | {GOOD: known, OTHER: [other], SINGLE: [good[1]]}
    made = Provider(f"http://127.0.0.1:{listener.getsockname()[1]}", keys)
    app = Starlette(
        routes=[
            Route("/{name}/.well-known/openid-configuration", made._configuration),
            Route("/{name}/jwks", made._jwks),
            Route("/{name}/device", made._device, methods=["POST"]),
            Route("/{name}/token", made._tokens, methods=["POST"]),
        ]
    )
    async with running(app, listener=listener):
        yield made
