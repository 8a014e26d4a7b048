"""`Authenticator`: the one place that authenticates callers, for HTTP and gRPC alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from utils.auth.acting_supervisor import as_supervisors
from utils.auth.api_keys import PREFIX, ApiKey, KeyFile, owner_of_key
from utils.auth.claims import Rules, principal_of
from utils.auth.discovery import Fetch, fetched_json
from utils.auth.jwks import Jwks
from utils.auth.principal import Principal
from utils.auth.refusal import AuthRefused, RefusalReason
from utils.auth.service_tokens import ISSUER, ServiceTokens, key_in, parsed_key
from utils.auth.settings import AuthMode, AuthSettings
from utils.auth.signature import check_signature
from utils.auth.token_form import Token, bearer_of, parse_token
from utils.auth.used_tokens import UsedTokens
from utils.errors import SettingsError

SERVICE_KEY = "service-key.json"
"""The file of the key between our own agents, in PLATFORM_ENGINEER_HOME."""

KEYS = "keys.json"

UNCHECKED = (
    "Callers cannot be checked: the keys of AUTH_ISSUERS, the file AUTH_KEYS_FILE, or the record of used tokens cannot be read. "
    "The log says which."
)


class Authenticator:
    """Authenticates the callers of one agent.

    Args:
        agent: Its name.
        settings: How callers are authenticated.
        service: Verifies the tokens of our supervisor.
        keys: The API keys.
        fetch: Reads the keys of a provider.
        clock: Seconds since 1970.
        ticks: Monotonic seconds.
    """

    def __init__(
        self,
        agent: str,
        settings: AuthSettings,
        *,
        service: ServiceTokens,
        keys: KeyFile,
        fetch: Fetch = fetched_json,
        clock: Callable[[], float] = time.time,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self.agent = agent
        self.settings = settings
        self._service = service
        self._keys = keys
        self._clock = clock
        self._unread: set[str] = set()
        self._providers: Mapping[str, Jwks] = {
            issuer: Jwks(issuer, fetch=fetch, clock=ticks) for issuer in settings.issuer_list
        }

    async def caller(self, authorization: Sequence[str]) -> Principal:
        """The caller who sent these Authorization headers.

        Raises:
            AuthRefused: They hold no valid credential, or it cannot be checked.
        """
        text = bearer_of(authorization)
        if text.startswith(PREFIX) and self.settings.mode is AuthMode.API_KEY:
            with self._reading(KEYS):
                return owner_of_key(text, self._stored(), self._clock())
        token = parse_token(text)
        issuer = token.claims.get("iss")
        if issuer == ISSUER:
            with self._reading(ISSUER):
                return await self._service.verified(token, self._clock())
        if self.settings.mode is not AuthMode.OIDC or not isinstance(issuer, str):
            raise AuthRefused(RefusalReason.ISSUER)
        return await self._verified(token, issuer)

    @property
    def trouble(self) -> str:
        """A sentence for an operator while keys or records that callers are checked with cannot be read; else empty."""
        return UNCHECKED if self._unread else ""

    @contextmanager
    def _reading(self, source: str) -> Iterator[None]:
        """Record whether a source could be read, whether or not it authenticates the caller."""
        try:
            yield
        except AuthRefused as error:
            if error.unchecked:
                self._unread.add(source)
                raise
            self._unread.discard(source)
            raise
        self._unread.discard(source)

    def _stored(self) -> Sequence[ApiKey]:
        try:
            return self._keys.keys()
        except SettingsError:  # the file was damaged while we run
            raise AuthRefused(RefusalReason.KEYS_UNAVAILABLE) from None

    async def _verified(self, token: Token, issuer: str) -> Principal:
        provider = self._providers.get(issuer)
        if provider is None:
            raise AuthRefused(RefusalReason.ISSUER)
        if token.algorithm not in self.settings.algorithm_list:
            raise AuthRefused(RefusalReason.ALGORITHM)
        with self._reading(issuer):
            keys = await provider.keys(token.key_id)
        check_signature(token, keys, self.settings.algorithm_list)
        rules = Rules(
            issuer,
            self.settings.audience or self.agent,
            self.settings.leeway_seconds,
            self.settings.token_type or "",
            self.settings.tenant_claim or "",
        )
        caller = principal_of(token, rules, self._clock())
        return as_supervisors(caller, token.claims, self.settings.supervisor_actor)


def authenticator_for(
    agent: str, settings: AuthSettings, home: Path, used: UsedTokens | None = None
) -> Authenticator | None:
    """The authenticator of an agent; `None` if everybody may call.

    Args:
        agent: Its name.
        settings: How callers are authenticated.
        home: The folder of the installation.
        used: The record of used service tokens, if several processes share it.

    Raises:
        SettingsError: Something is missing or wrong.
    """
    if not settings.on:
        return None
    if settings.mode is AuthMode.OIDC and not settings.issuer_list:
        raise SettingsError("AUTH_ISSUERS", "AUTH_MODE=oidc needs AUTH_ISSUERS: whose tokens are taken.")
    named = settings.service_public_key
    key = parsed_key(named, "AUTH_SERVICE_PUBLIC_KEY") if named else private_key(settings, home)
    service = ServiceTokens(key, agent, settings.leeway_seconds, used)
    keys = KeyFile(settings.keys_file or home / KEYS)
    keys.keys()
    return Authenticator(agent, settings, service=service, keys=keys)


def private_key(settings: AuthSettings, home: Path) -> dict[str, object]:
    """The key with which a supervisor signs.

    Raises:
        SettingsError: It is not valid, or cannot be read.
    """
    if settings.service_key is not None:
        return parsed_key(settings.service_key.get_secret_value(), "AUTH_SERVICE_KEY")
    return key_in(home / SERVICE_KEY)
