"""The credentials for each sub-agent: a token that we sign, one that the provider exchanges, or none."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import structlog

from utils.a2a_common.client.transport.credentials import (
    Credentials,
    exchanged_credentials,
    service_credentials,
)
from utils.a2a_common.protocol.delegation_context import reference_of
from utils.a2a_common.protocol.exchange import VARIABLE
from utils.a2a_common.protocol.trust import Trust
from utils.auth.authenticator import private_key
from utils.auth.exchange import ExchangeTarget, NoTokenReason, TokenExchange
from utils.auth.held_tokens import Found, HeldTokens
from utils.auth.service_tokens import Signer
from utils.auth.settings import AuthMode
from utils.errors import SettingsError

if TYPE_CHECKING:
    from utils.a2a_common.client.agents.agents_file import AgentEntry
    from utils.a2a_common.graph.settings import AgentSettings
    from utils.auth.principal import Principal

log = structlog.get_logger(__name__)

NOT_SET_UP = (
    f"{VARIABLE} (exchange in the agents file) needs AUTH_MODE=oidc, AUTH_EXCHANGE_CLIENT_ID and "
    "AUTH_EXCHANGE_CLIENT_SECRET."
)


class Access:
    """Our identity at the sub-agents, and on whose behalf we act. An agent gets tokens of one kind, so that a conversation has one owner there.

    Args:
        name: The supervisor.
        entries: The sub-agents.
        settings: How callers are known.

    Raises:
        SettingsError: Tokens are to be exchanged, and the settings for that are missing.
    """

    def __init__(self, name: str, entries: Sequence[AgentEntry], settings: AgentSettings) -> None:
        self._held = HeldTokens()
        self._targets = {one.name: _target(one) for one in entries if one.exchange is not None}
        self._exchange = _exchange(name, settings) if self._targets else None
        self._credentials: Mapping[str, Credentials] = self._made(name, entries, settings)

    def credentials(self, agent: str) -> Credentials | None:
        """The credentials for requests to an agent; `None` if there are none."""
        return self._credentials.get(agent)

    async def prepare(self, task_id: str, caller: Principal | None, credential: str) -> None:
        """Exchange the sender's token for all agents at once, before the turn of the message begins."""
        if self._exchange is None:
            return
        exchange = self._exchange
        if caller is None or not credential or caller.issuer != exchange.issuer:
            found: Found = dict.fromkeys(self._targets, NoTokenReason.REFUSED)
        else:
            asked = [exchange.exchanged(name, credential, target) for name, target in self._targets.items()]
            found = dict(zip(self._targets, await asyncio.gather(*asked), strict=True))
        self._held.hold(reference_of(task_id), found)

    def of(self, task_id: str) -> Found | None:
        """The tokens for the turn of a task that begins now."""
        return self._held.of(reference_of(task_id))

    def drop(self, task_id: str, found: Found | None) -> None:
        """Drop the tokens of a turn that has ended."""
        self._held.drop(reference_of(task_id), found)

    def _made(
        self, name: str, entries: Sequence[AgentEntry], settings: AgentSettings
    ) -> dict[str, Credentials]:
        made = {
            one.name: exchanged_credentials(one.name, one.url, self._held)
            for one in entries
            if one.exchange is not None
        }
        if settings.auth.on:
            signer = Signer(private_key(settings.auth, settings.home.home), name)
            signed = [one for one in entries if one.trust is Trust.OWN and one.exchange is None]
            made |= {one.name: service_credentials(one.name, one.url, signer) for one in signed}
        return made


def _exchange(name: str, settings: AgentSettings) -> TokenExchange:
    auth = settings.auth
    client, secret = auth.exchange_client_id, auth.exchange_client_secret
    if auth.mode is not AuthMode.OIDC or not auth.issuer_list or not client or secret is None:
        raise SettingsError(VARIABLE, NOT_SET_UP)
    if settings.engine.distributed(settings.database):
        log.warning(
            "auth.exchange_in_one_process", effect="a turn that another replica takes is refused there"
        )
    return TokenExchange(auth.issuer_list[0], (client, secret.get_secret_value()), auth.audience or name)


def _target(entry: AgentEntry) -> ExchangeTarget:
    assert entry.exchange is not None
    parts = urlsplit(entry.url)
    origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    return ExchangeTarget(origin, entry.exchange.audience, entry.exchange.scopes)
