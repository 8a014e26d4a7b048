"""`login`, `logout`: log in at the OpenID provider of an agent, by a code that is entered in any browser (RFC 8628)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from multi_agents.cli.console import one_line, say
from multi_agents.cli.errors import AgentRefused, ServiceUnreachable, UsageError
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.peer.logins import Login, own_logins
from multi_agents.cli.running import run
from multi_agents.cli.service.local import running_service
from utils.auth.device_flow import (
    DeviceCode,
    DeviceFlow,
    FlowRefused,
    FlowUnavailable,
    TokenErrorCode,
    Tokens,
    slower,
)
from utils.auth.discovery import Unavailable, fetched_json, may_be_read
from utils.auth.settings import AuthSettings
from utils.environment import process_environment
from utils.persistence.private import keep_files_private

METADATA = "/.well-known/oauth-protected-resource"
CONFIGURATION = "/.well-known/openid-configuration"
USUAL = ("openid", "offline_access")
_SHORTEST_PAUSE = 0.2

_ENDS = {
    TokenErrorCode.DENIED: "The login was refused at the provider.",
    TokenErrorCode.EXPIRED: "The code expired before it was entered. Log in again.",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options of a login.

    Attributes:
        url: The agent; that of this machine when empty.
        issuer: The provider; the one that the agent names when empty.
        client_id: What the provider knows the command line as; AUTH_CLIENT_ID when empty.
        scopes: What is asked for; to use the agent and to approve when empty.
        audience: What the provider is told the token is for; nothing when empty.
    """

    url: str = ""
    issuer: str = ""
    client_id: str = ""
    scopes: tuple[str, ...] = ()
    audience: str = ""


def login(wanted: Wanted) -> ExitCode:
    """Log in, and keep the tokens."""
    keep_files_private()
    return run(_login(wanted))


def logout(url: str) -> ExitCode:
    """Forget the tokens."""

    async def forgotten() -> ExitCode:
        found = own_logins().remove(url or _local())
        say("Logged out here." if found else "Nobody is logged in here.")
        return ExitCode.OK

    return run(forgotten())


async def _login(wanted: Wanted) -> ExitCode:
    url = (wanted.url or _local()).rstrip("/")
    client = wanted.client_id or AuthSettings.load(process_environment()).client_id
    if not client:
        raise UsageError(
            "No client ID. Register this program at your provider, and give its client ID with --client-id or AUTH_CLIENT_ID."
        )
    told = await _read(
        f"{url}{METADATA}", f"No agent at {url} tells where to log in. Its AUTH_MODE may not be oidc."
    )
    issuer = wanted.issuer or _first(told.get("authorization_servers"))
    if not issuer:
        raise ServiceUnreachable(f"The agent at {url} names no provider. Its AUTH_MODE may be api-key.")
    flow = await _flow(issuer, client)
    scopes = wanted.scopes or (*USUAL, *_usual_scopes(told))
    further = {"audience": wanted.audience} if wanted.audience else {}
    try:
        code = await flow.begin(" ".join(scopes), **further)
        say(f"Open {one_line(code.url)} and enter the code {one_line(code.user_code)}")
        tokens = await _tokens(flow, code)
    except FlowUnavailable as error:
        text = f"The provider {one_line(issuer)} cannot be reached, or its answer is not one of the OAuth device flow."
        raise ServiceUnreachable(text) from error
    except FlowRefused as error:
        text = _ENDS.get(error.why, "The provider rejected the client ID or the requested scopes.")
        raise AgentRefused(text) from error
    own_logins().put(url, Login(issuer, client, flow.token_url, tokens))
    say(
        f"Logged in. The tokens are kept for {url} alone; `platform-engineer logout --url {url}` forgets them."
    )
    return ExitCode.OK


async def _tokens(flow: DeviceFlow, code: DeviceCode) -> Tokens:
    """Look until the person has entered the code."""
    pause = max(code.interval, _SHORTEST_PAUSE)
    while True:
        await asyncio.sleep(pause)
        try:
            return await flow.tokens(code)
        except FlowRefused as error:
            if error.why is TokenErrorCode.SLOW_DOWN:
                pause = max(pause, slower(code))
            elif error.why is not TokenErrorCode.PENDING:
                raise


async def _flow(issuer: str, client: str) -> DeviceFlow:
    problem = f"{one_line(issuer)}{CONFIGURATION} cannot be read, or does not describe that provider."
    if not may_be_read(issuer, issuer):
        raise UsageError(f"The provider {one_line(issuer)} is not reached over https.")
    told = await _read(f"{issuer.rstrip('/')}{CONFIGURATION}", problem)
    if told.get("issuer") != issuer:
        raise ServiceUnreachable(problem)
    device, token = (
        str(told.get(name) or "") for name in ("device_authorization_endpoint", "token_endpoint")
    )
    if not device:
        raise ServiceUnreachable(
            f"The provider {one_line(issuer)} does not support the device flow (login by a code)."
        )
    if not all(may_be_read(address, issuer) for address in (device, token)):
        raise ServiceUnreachable(problem)
    return DeviceFlow(device, token, client)


async def _read(address: str, problem: str) -> Mapping[str, Any]:
    try:
        told = await fetched_json(address)
    except Unavailable as error:
        raise ServiceUnreachable(problem) from error
    if not isinstance(told, Mapping):
        raise ServiceUnreachable(problem)
    return told


def _usual_scopes(told: Mapping[str, Any]) -> list[str]:
    """The scopes to use the agent and to approve; scopes of administrators must be requested by name."""
    named = told.get("scopes_supported")
    scopes = [scope for scope in named if isinstance(scope, str)] if isinstance(named, list) else []
    return [scope for scope in scopes if scope.endswith((":use", ":approve"))]


def _first(values: object) -> str:
    return str(values[0]) if isinstance(values, list) and values else ""


def _local() -> str:
    running = running_service()
    if running is None:
        raise UsageError("No service runs here. Say with --url which agent you log in for.")
    return running.supervisor.url
