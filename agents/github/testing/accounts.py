"""People who sign in at the test server by the device flow, and installations of an app."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

CLIENT = "Iv1.of-the-test"
"""The client id that the test server knows."""


@dataclass
class Accounts:
    """Who has signed in.

    Attributes:
        interval: Seconds between two looks that the server asks for.
        expires_in: Seconds that a token lasts; 0 for no limit.
        codes: The device codes by the user's code.
        entered: Who has entered a user's code; an empty name for who refused.
        tokens: Whose each token is.
        renewals: What renews whose token.
        wherever: Where the server sends people to sign in; itself when empty.
    """

    interval: int = 0
    expires_in: int = 0
    codes: dict[str, str] = field(default_factory=dict)
    entered: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    renewals: dict[str, str] = field(default_factory=dict)
    wherever: str = ""

    def enter(self, user_code: str, login: str) -> None:
        """What a person does in the browser."""
        assert user_code in self.codes, "there is no such code"
        self.entered[self.codes[user_code]] = login

    def routes(self) -> list[BaseRoute]:
        """The addresses of GitHub's sign-in."""
        return [
            Route("/login/device/code", self._begin, methods=["POST"]),
            Route("/login/oauth/access_token", self._token, methods=["POST"]),
            Route("/user", self._user),
            Route("/app/installations/{number:int}/access_tokens", self._installation, methods=["POST"]),
        ]

    async def _begin(self, request: Request) -> Response:
        sent = await _form(request)
        if sent.get("client_id") != CLIENT:
            return JSONResponse({"error": "incorrect_client_credentials"})
        user_code = f"{secrets.token_hex(2)}-{secrets.token_hex(2)}".upper()
        self.codes[user_code] = secrets.token_urlsafe()
        return JSONResponse(
            {
                "device_code": self.codes[user_code],
                "user_code": user_code,
                "verification_uri": f"{self.wherever or str(request.base_url).rstrip('/')}/login/device",
                "expires_in": 900,
                "interval": self.interval,
            }
        )

    async def _token(self, request: Request) -> Response:
        sent = await _form(request)
        if sent.get("grant_type") == "refresh_token":
            login = self.renewals.pop(sent.get("refresh_token", ""), None)
            return self._granted(login) if login else JSONResponse({"error": "bad_refresh_token"})
        device_code = sent.get("device_code", "")
        if device_code not in self.codes.values():
            return JSONResponse({"error": "expired_token"})
        login = self.entered.get(device_code)
        if login is None:
            return JSONResponse({"error": "authorization_pending"})  # with status 200, as GitHub does
        self.codes = {shown: code for shown, code in self.codes.items() if code != device_code}
        return self._granted(login) if login else JSONResponse({"error": "access_denied"})

    def _granted(self, login: str) -> Response:
        token = f"gho_{secrets.token_hex(18)}"
        self.tokens[token] = login
        answer: dict[str, Any] = {"access_token": token, "token_type": "bearer", "scope": "repo"}
        if self.expires_in:
            renewal = f"ghr_{secrets.token_hex(18)}"
            self.renewals[renewal] = login
            answer |= {"expires_in": self.expires_in, "refresh_token": renewal}
        return JSONResponse(answer)

    async def _user(self, request: Request) -> Response:
        login = self.tokens.get(request.headers.get("authorization", "").partition(" ")[2])
        if login is None:
            return JSONResponse({"message": "Bad credentials"}, 401)
        return JSONResponse({"login": login, "type": "User"})

    async def _installation(self, request: Request) -> Response:
        if not request.headers.get("authorization", "").startswith("Bearer ey"):
            return JSONResponse({"message": "A JSON web token could not be decoded"}, 401)
        ends = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
        token = f"ghs_{secrets.token_hex(18)}"
        self.tokens[token] = f"installation {request.path_params['number']}"
        return JSONResponse({"token": token, "expires_at": ends, "permissions": {}}, 201)


async def _form(request: Request) -> dict[str, str]:
    return dict(parse_qsl((await request.body()).decode()))
