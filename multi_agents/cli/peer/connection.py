"""One agent at one address, and what goes wrong with it as a `CliError` with a plain sentence."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
from a2a.types.a2a_pb2 import AgentCard

from multi_agents.cli.console import one_line
from multi_agents.cli.errors import AgentRefused, AnswerLost, ConnectionLost, ServiceUnreachable, UsageError
from multi_agents.cli.peer.logins import own_logins
from utils.a2a_common.client.transport import errors as peer_errors
from utils.a2a_common.client.transport.connection import (
    Connection,
    NoCard,
    fetch_card,
    http_client,
)
from utils.a2a_common.client.transport.credentials import Credentials
from utils.a2a_common.client.transport.interfaces import CardUnusable, NoInterface
from utils.a2a_common.client.transport.limits import MIB, PeerLimits
from utils.a2a_common.client.transport.sentences import MAY_HAVE_DONE_IT
from utils.a2a_common.client.transport.tls import client_context
from utils.auth.settings import AuthSettings
from utils.errors import PeerLimitExceeded, ProtocolViolation
from utils.net.loopback import is_loopback
from utils.protection_settings import ClientTlsSettings
from utils.settings import process_environment

NO_CARD = "{} answers, but what it sends is no A2A agent card."

NOT_SENDABLE = (
    "The token holds a space, a line end or a character that no token has. "
    "Give it alone, without the word Bearer, with --token or PLATFORM_ENGINEER_TOKEN."
)

BUSY_SECONDS = 30.0
"""How long an agent that took the connection of a person may take to send its card: it, or its machine, may be busy."""

LARGEST_ANSWER = 64 * MIB
"""Bytes of one response that are taken from an agent: the stream of a long answer with its files."""


@dataclass(frozen=True, slots=True)
class Peer:
    """An agent that answered with its card. `local` tells that commands reach it without its address."""

    url: str
    connection: Connection
    local: bool = False

    @property
    def card(self) -> AgentCard:
        """What it says of itself."""
        return self.connection.card

    def command(self, *words: str) -> str:
        """A command of this program about this agent, as it is typed in a shell."""
        name, *options = words
        where = () if self.local else ("--url", self.url)
        return shlex.join(("platform-engineer", *name.split(), *where, *options))


@asynccontextmanager
async def connect(url: str, token: str = "", *, local: bool = False) -> AsyncIterator[Peer]:
    """Read the card at `url` and open a connection for it, with a token, that of PLATFORM_ENGINEER_TOKEN, or that of `login`.

    Raises:
        UsageError: `url` is not an http or https address, or the token is none.
        ServiceUnreachable: Nobody answers there, or it is no A2A agent that can be called.
    """
    base = checked_address(url)
    limits = PeerLimits(urlsplit(base).netloc, most=LARGEST_ANSWER)
    given, logins = _sendable(token or _own_token()), own_logins()
    proof = Credentials(base, lambda: given or logins.token(base))
    async with http_client(
        base, limits, proof, client_context(ClientTlsSettings.load(process_environment()))
    ) as http:
        card = await read_card(http, base, seconds=BUSY_SECONDS)
        try:
            connection = Connection.open(one_line(card.name), card, http)
        except NoInterface as error:
            raise ServiceUnreachable(
                f"The agent at {base} offers neither JSON-RPC nor HTTP+JSON "
                f"(it offers: {', '.join(error.offered) or 'none'})."
            ) from error
        except CardUnusable as error:
            raise ServiceUnreachable(f"The agent at {base} cannot be called. {error.message}") from error
        yield Peer(base, connection, local)


async def read_card(http: httpx.AsyncClient, url: str, *, seconds: float | None = None) -> AgentCard:
    """The agent card at `url`. An agent that is connected may take so many seconds to answer.

    Raises:
        ServiceUnreachable: There is none, or it names a loopback address though it was read from elsewhere.
    """
    try:
        card = await fetch_card(http, url, seconds=seconds)
    except NoCard as error:
        status = f"{url} answers, but not with an A2A agent card (HTTP {error.status})."
        raise ServiceUnreachable(status if error.status is not None else NO_CARD.format(url)) from error
    except peer_errors.CertificateRefused as error:
        raise ServiceUnreachable(f"The agent at {url} cannot be reached. {error.message}") from error
    except peer_errors.ConnectionLost as error:
        raise ServiceUnreachable(f"No agent answers at {url}.") from error
    except PeerLimitExceeded as error:
        raise ServiceUnreachable(error.message) from error
    if not card.supported_interfaces:
        raise ServiceUnreachable(NO_CARD.format(url))
    problem = loopback_problem(url, card)
    if problem:
        raise ServiceUnreachable(problem)
    return card


def loopback_problem(url: str, card: AgentCard) -> str | None:
    """A sentence when a card that was read from another machine names an address of this one."""
    if is_loopback(url):
        return None
    for interface in card.supported_interfaces:
        if is_loopback(interface.url):
            return (
                f"The card at {url} names the loopback address {interface.url}, which is this machine. "
                "Set PUBLIC_URL on that agent to the address that clients reach it at."
            )
    return None


def _own_token() -> str:
    own = AuthSettings.load(process_environment()).token
    return own.get_secret_value() if own else ""


def _sendable(token: str) -> str:
    """The token without the white space around it, as a copy from a screen has it.

    Raises:
        UsageError: It cannot be one.
    """
    bare = token.strip()
    if not bare.isascii() or not bare.isprintable() or " " in bare:
        raise UsageError(NOT_SENDABLE)
    return bare


def checked_address(url: str) -> str:
    """The address without a slash at its end.

    Raises:
        UsageError: It is not an http or https address.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UsageError(f"{url} is not an address; write it as http://host:port.")
    return url.rstrip("/")


@contextmanager
def plain_errors(url: str) -> Iterator[None]:
    """Errors of the client as those of the command line."""
    try:
        yield
    except peer_errors.ConnectionLost as error:
        raise ConnectionLost(f"The connection to {url} was lost.") from error
    except peer_errors.OutcomeUnclear as error:
        failed = isinstance(error.lost, peer_errors.FailedInside)
        what = (
            f"The agent at {url} had an internal error."
            if failed
            else f"The answer of the agent at {url} was lost."
        )
        raise AnswerLost(f"{what} {MAY_HAVE_DONE_IT}") from error
    except peer_errors.AgentBusy as error:
        raise AgentRefused(
            f"The agent at {url} is busy. Nothing was changed; try again in a moment."
        ) from error
    except peer_errors.UnusableAnswer as error:
        raise AgentRefused(
            f"The agent at {url} sent an answer that cannot be used: {error.reason}"
        ) from error
    except peer_errors.CredentialsRefused as error:
        login = shlex.join(("platform-engineer", "login", "--url", url))
        hint = f"Give one with --token or PLATFORM_ENGINEER_TOKEN, or use `{login}`."
        raise AgentRefused(f"The agent at {url} refused the request. {error.reason} {hint}") from error
    except peer_errors.RequestRefused as error:
        raise AgentRefused(f"The agent refused the request: {error.reason}") from error
    except (peer_errors.NoProgress, PeerLimitExceeded, ProtocolViolation) as error:
        raise AgentRefused(error.message) from error
