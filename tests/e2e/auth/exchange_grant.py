"""The grant of RFC 8693 at the tests' OpenID provider, for one client: what it checks, what it was asked, and what it gave."""

from __future__ import annotations

import asyncio
import base64
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_plus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from utils.auth.claims import Rules, principal_of
from utils.auth.exchange import ACCESS_TOKEN, GRANT
from utils.auth.refusal import AuthRefused
from utils.auth.signature import check_signature
from utils.auth.token_form import Token, parse_token

CLIENT, SECRET = "boss-client", "s3cret: with+signs/%"
_ALGORITHMS = ("RS256", "ES256", "EdDSA")

Sign = Callable[..., str]


@dataclass
class ExchangeGrant:
    """Exchanges the tokens of people who may use an agent.

    Attributes:
        client: Who may ask, and its secret.
        ours: Audience that a token has to have which is exchanged.
        audiences: Agents that tokens are given for, by audience or by origin.
        strangers: Subjects who may use none of them.
        grants: What the metadata name; nothing for `None`.
        methods: How clients show who they are.
        lasts: Seconds that a token lasts.
        claims: Further claims of each token, in place of the usual ones.
        answers: Changes of each answer; what is `None` is left out.
        gate: Waited for before each answer.
        trouble: The error that every request is answered with; none where empty.
        asked: The forms that came.
        given: The tokens that were given.
    """

    client: tuple[str, str] = (CLIENT, SECRET)
    ours: str = "platform-engineer"
    audiences: set[str] = field(default_factory=set)
    strangers: set[str] = field(default_factory=set)
    grants: list[str] | None = field(default_factory=lambda: ["authorization_code", GRANT])
    methods: list[str] | None = None
    lasts: int = 300
    claims: dict[str, Any] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    gate: asyncio.Event | None = None
    trouble: str = ""
    asked: list[Mapping[str, str]] = field(default_factory=list)
    given: list[str] = field(default_factory=list)

    @property
    def metadata(self) -> dict[str, Any]:
        """What the provider says of it."""
        found = {
            "grant_types_supported": self.grants,
            "token_endpoint_auth_methods_supported": self.methods,
        }
        return {name: value for name, value in found.items() if value is not None}

    async def answer(
        self, request: Request, sent: Mapping[str, str], issuer: str, keys: Sequence[Any], sign: Sign
    ) -> Response:
        """Answer a request for a token."""
        self.asked.append(dict(sent))
        if self.gate is not None:
            await self.gate.wait()
        if self.trouble:
            return JSONResponse({"error": self.trouble}, 503)
        if self.client != self._client_of(request, sent):
            return JSONResponse({"error": "invalid_client"}, 401)
        if sent.get("subject_token_type") != ACCESS_TOKEN:
            return JSONResponse({"error": "invalid_request"}, 400)
        try:
            token = parse_token(sent.get("subject_token", ""))
            check_signature(token, keys, _ALGORITHMS)
            person = principal_of(token, Rules(issuer, self.ours), time.time())
        except AuthRefused:
            return JSONResponse({"error": "invalid_request", "error_description": "subject_token"}, 400)
        audience = sent.get("audience") or sent.get("resource", "")
        if audience not in self.audiences or person.subject in self.strangers:
            return JSONResponse({"error": "invalid_target"}, 400)
        return self._given(token, audience, sent.get("scope", ""), sign)

    def _given(self, subject: Token, audience: str, scope: str, sign: Sign) -> Response:
        act = {"sub": self.client[0], **({"act": subject.claims["act"]} if "act" in subject.claims else {})}
        claims = {
            "sub": subject.claims["sub"],
            "tenant": subject.claims.get("tenant"),
            "scope": scope or f"agent:{audience}:use",
            "act": act,
            "jti": secrets.token_urlsafe(8),
            "exp": int(time.time()) + self.lasts,
        }
        made = sign(audience, **claims | self.claims)
        self.given.append(made)
        told = {
            "access_token": made,
            "issued_token_type": ACCESS_TOKEN,
            "token_type": "Bearer",
            "expires_in": self.lasts,
            **self.answers,
        }
        return JSONResponse({name: value for name, value in told.items() if value is not None})

    def _client_of(self, request: Request, sent: Mapping[str, str]) -> tuple[str, str]:
        """Who asks, as RFC 6749 has it: by HTTP Basic with both parts encoded, or by the form."""
        if self.methods is not None and "client_secret_post" in self.methods:
            return sent.get("client_id", ""), sent.get("client_secret", "")
        scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
        if scheme != "Basic":
            return "", ""
        name, _, secret = base64.b64decode(encoded).decode().partition(":")
        return unquote_plus(name), unquote_plus(secret)
