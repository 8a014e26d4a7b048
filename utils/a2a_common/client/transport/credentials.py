"""Credentials for other agents: added to a request only if it goes to the origin that the credential belongs to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from utils.a2a_common.client.transport.errors import NotAuthorised
from utils.a2a_common.protocol.delegation_context import reference_of
from utils.auth.exchange import NotExchanged
from utils.messages.question import Question
from utils.net.loopback import is_loopback

if TYPE_CHECKING:
    import httpx

    from utils.auth.held_tokens import HeldTokens
    from utils.auth.service_tokens import Signer
    from utils.persistence.delegations import DelegationRecord

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class ActingFor:
    """For whom a request to another agent is made.

    Attributes:
        conversation: The conversation.
        person: The key of the person whose conversation it is; empty where that is not known.
        tenant: Where the person belongs; empty outside tenants.
        task: Reference to the task that it is part of; empty where it is part of none.
        consent: Digest of what the person has approved with this message; empty where nothing was.
    """

    conversation: str
    person: str = ""
    tenant: str = ""
    task: str = ""
    consent: str = ""


def whom_for(kept: DelegationRecord, answers: int = 0) -> ActingFor:
    """The user for whom the agent of a delegation is called. The newest of `answers` may be an approval, which admission has checked."""
    asked = Question.of(kept.questions[answers - 1] if 0 < answers <= len(kept.questions) else {})
    return ActingFor(kept.thread_id, task=reference_of(kept.parent_task_id), consent=asked.digest)


_acting: ContextVar[ActingFor | None] = ContextVar("acting_for", default=None)


@contextmanager
def acting_for(whom: ActingFor) -> Iterator[None]:
    """Make the requests of this block on behalf of `whom`."""
    token = _acting.set(whom)
    try:
        yield
    finally:
        _acting.reset(token)


class Credentials:
    """Adds a credential to the requests to one agent.

    Args:
        url: Where the agent is configured to be: nothing is sent to another origin, whatever its card says.
        token: Makes the token of a request, at once or later; an empty one is not sent.
    """

    def __init__(self, url: str, token: Callable[[], str | Awaitable[str]]) -> None:
        self._origin = origin_of(url)
        self._token = token

    async def add(self, request: httpx.Request) -> None:
        """Add the credentials if the request goes to the agent."""
        if origin_of(str(request.url)) != self._origin:
            return
        made = self._token()
        if token := made if isinstance(made, str) else await made:
            request.headers["Authorization"] = f"Bearer {token}"


def service_credentials(name: str, url: str, signer: Signer) -> Credentials:
    """The credentials of a supervisor at one of its own agents: a new token for each request."""

    def token() -> str:
        whom = _acting.get()
        if whom is None:
            return ""
        subject = whom.person or whom.conversation
        return signer.token(name, subject, tenant=whom.tenant, task=whom.task, consent=whom.consent)

    return Credentials(url, token)


def exchanged_credentials(name: str, url: str, held: HeldTokens) -> Credentials:
    """The credentials of a supervisor at an agent that trusts the identity provider alone.

    They are those of the person, for this agent, as long as the turn is there that they were exchanged for; otherwise the
    request is not sent.
    """

    def token() -> str:
        whom = _acting.get()
        try:
            return held.token(whom.task if whom is not None else "", name)
        except NotExchanged as error:
            raise NotAuthorised(error.why) from None

    return Credentials(url, token)


Origin = tuple[str, str, int | None]


def origin_of(url: str) -> Origin:
    """Scheme, host and port of an address; all names of this machine count as one. Without an address, an empty origin."""
    try:
        parts = urlsplit(url)
        host = "localhost" if is_loopback(url) else parts.hostname or ""
        return parts.scheme, host, parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return "", "", None
