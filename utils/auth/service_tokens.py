"""Short tokens that a supervisor signs for its own agents, one for each request.

They name the user for whom the supervisor acts, and never contain the credential of its own caller.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from utils.atomic_file import publish_file
from utils.auth.claims import Rules, plain_text, principal_of
from utils.auth.principal import Principal, Right, scope_for
from utils.auth.refusal import AuthRefused, RefusalReason
from utils.auth.signature import check_signature
from utils.auth.token_form import Token
from utils.auth.used_tokens import MemoryUsedTokens, UsedTokens
from utils.errors import SettingsError, StorageError

ISSUER = "urn:platform-engineer:supervisor"
TYPE = "pe-service+jwt"
ALGORITHM = "ES256"
SECONDS = 120
"""Lifetime of a token; a stream that was begun with it continues."""

_LONGEST_ID = 200
_LONGEST_PERSON = 600
"""Characters of a user's key: an issuer and a subject, each with its own limit."""


def person_of(name: str) -> str:
    """The key of the person behind a caller: the same whether the person calls or our supervisor for them."""
    return name.removeprefix(f"{ISSUER} ")


class Signer:
    """Signs the tokens of one supervisor.

    Args:
        key: Its private key, as JWK.
        actor: Its name.
        clock: Seconds since 1970.
    """

    def __init__(self, key: Mapping[str, Any], actor: str, *, clock: Callable[[], float] = time.time) -> None:
        self._key = dict(key)
        self._actor = actor
        self._clock = clock

    def token(self, agent: str, subject: str, *, tenant: str = "", task: str = "", consent: str = "") -> str:
        """A token for one request.

        Args:
            agent: The agent that it is for.
            subject: The key of the user that the supervisor acts for.
            tenant: The user's tenant; empty without tenants.
            task: Reference to the task that it is part of.
            consent: Digest of what the user has approved with this message.
        """
        from joserfc import jwt
        from joserfc.jwk import import_key

        now = int(self._clock())
        claims = {
            "iss": ISSUER,
            "sub": subject,
            "aud": agent,
            "tenant": tenant,
            "act": {"sub": self._actor},
            "scope": scope_for(agent, Right.USE),
            "task": task,
            "consent": consent,
            "iat": now,
            "exp": now + SECONDS,
            "jti": secrets.token_urlsafe(16),
        }
        key = import_key(self._key)
        header = {"alg": ALGORITHM, "typ": TYPE, "kid": str(self._key.get("kid", ""))}
        return jwt.encode(header, claims, key, algorithms=[ALGORITHM])


class ServiceTokens:
    """Verifies the tokens of our supervisor, and accepts each once.

    Args:
        key: Its public key, as JWK.
        audience: Name of the agent.
        leeway: Seconds that clocks may differ by.
        used: The record of used tokens.
    """

    def __init__(
        self, key: Mapping[str, Any], audience: str, leeway: float, used: UsedTokens | None = None
    ) -> None:
        self._key = {name: value for name, value in key.items() if name != "d"}
        self._rules = Rules(ISSUER, audience, leeway, TYPE, longest_subject=_LONGEST_PERSON)
        self._leeway = leeway
        self._used = used if used is not None else MemoryUsedTokens()

    async def verified(self, token: Token, now: float) -> Principal:
        """The caller.

        Raises:
            AuthRefused: It is not signed by our supervisor, not for this agent, or was used before.
        """
        check_signature(token, [self._key], [ALGORITHM])
        caller = principal_of(token, self._rules, now)
        claims = token.claims
        if not caller.actors:
            raise AuthRefused(RefusalReason.ACTOR)
        await self._use(claims.get("jti"), float(claims["exp"]), now)
        task, consent = (str(claims.get(name) or "") for name in ("task", "consent"))
        tenant = plain_text(claims["tenant"], RefusalReason.TENANT) if claims.get("tenant") else ""
        return replace(caller, tenant=tenant, task=task, consent=consent)

    async def _use(self, number: object, expires: float, now: float) -> None:
        if not isinstance(number, str) or not 0 < len(number) <= _LONGEST_ID:
            raise AuthRefused(RefusalReason.REPLAYED)
        try:
            first = await self._used.use(number, expires + self._leeway, now)
        except StorageError:
            raise AuthRefused(RefusalReason.STORAGE) from None
        if not first:
            raise AuthRefused(RefusalReason.REPLAYED)


def key_in(path: Path) -> dict[str, Any]:
    """The private key of a file, created at the first use; processes that create it at once get the same key.

    Raises:
        SettingsError: It cannot be read.
        StorageError: It cannot be made.
    """
    try:
        if not path.exists():
            publish_file(path, json.dumps(new_private_key()).encode())
        return parsed_key(path.read_text("utf-8"), path.name)
    except OSError as error:
        raise SettingsError("PLATFORM_ENGINEER_HOME", f"The file {path.name} cannot be read.") from error


def parsed_key(text: str, where: str) -> dict[str, Any]:
    """A key, as JWK, of a setting or a file.

    Raises:
        SettingsError: It is not a key for ES256.
    """
    with contextlib.suppress(ValueError, KeyError, TypeError):
        key = json.loads(text)
        if key["kty"] == "EC" and key["crv"] == "P-256" and key["x"] and key["y"]:
            return {str(name): value for name, value in key.items()}
    raise SettingsError(where, f"{where} holds no key for {ALGORITHM} in the form of a JWK.")


def new_private_key() -> dict[str, Any]:
    """A new key, as JWK."""
    from joserfc.jwk import ECKey

    made = ECKey.generate_key("P-256")
    return {**made.as_dict(private=True), "kid": made.thumbprint(), "use": "sig", "alg": ALGORITHM}
