"""A supervisor beside an agent of another house, which trusts the identity provider alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import httpx
from langchain_core.tools import BaseTool
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import Keys, lookup
from tests.e2e.agents.test_delegation import until_ready
from tests.e2e.auth.exchange_grant import CLIENT, SECRET
from tests.e2e.auth.provider import OTHER, Provider, provider
from tests.e2e.delegation.teams import model, where
from tests.e2e.wire.wiring import message
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

SUPERVISOR = "platform-engineer"


class _Seen:
    """Notes the credentials of every request that is let in."""

    def __init__(self, app: ASGIApp, *, seen: list[str]) -> None:
        self._app, self._seen = app, seen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self._seen += [value.decode() for name, value in scope["headers"] if name == b"authorization"]
        await self._app(scope, receive, send)


class Vault(Keys):
    """An agent that looks things up, and may ask where."""

    name = "vault"
    description = "Keeps secrets."
    seen: ClassVar[list[str]] = []

    async def tools(self) -> Sequence[BaseTool]:
        return [lookup, where]

    def http_middleware(self) -> Sequence[Middleware]:
        return [Middleware(_Seen, seen=self.seen)]


@dataclass
class Houses:
    """What a test needs.

    Attributes:
        idp: The provider that both trust.
        url: The supervisor.
        vault: The agent.
        top: The supervisor's model.
        home: Folder of everything that is stored.
        http: Sends requests.
        sent: The tokens that people sent.
    """

    idp: Provider
    url: str
    vault: str
    top: ScriptedModel
    home: Path
    http: httpx.AsyncClient
    sent: list[str] = field(default_factory=list)

    def token(self, agent: str = SUPERVISOR, sub: str = "ann", **claims: Any) -> str:
        """The token of a person."""
        made = self.idp.token(agent, sub=sub, **claims)
        self.sent.append(made)
        return made

    async def rpc(self, method: str, params: Any, token: str, url: str = "") -> dict[str, Any]:
        """What a method answers."""
        headers = {"A2A-Version": "1.0", "Authorization": f"Bearer {token}"}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return dict((await self.http.post(f"{url or self.url}/", json=body, headers=headers)).json())

    async def say(self, text: str, token: str = "", **where_to: Any) -> dict[str, Any]:
        """The task of a message of Ann."""
        told = await self.rpc("SendMessage", {"message": message(text, **where_to)}, token or self.token())
        return dict(told["result"]["task"])

    async def tasks_at_vault(self, token: str) -> list[Any]:
        """What somebody sees there who asks the agent directly."""
        listed = await self.rpc("ListTasks", {"includeArtifacts": True}, token, self.vault)
        return list(listed["result"]["tasks"])

    def found(self, texts: Sequence[str]) -> list[str]:
        """The files that hold one of these texts."""
        files = [each for each in self.home.rglob("*") if each.is_file()]
        assert len(files) > 4, files
        return [
            str(each) for each in files if any(text.encode() in each.read_bytes() for text in texts if text)
        ]


def common(idp: Provider) -> dict[str, str]:
    """Settings of all that know their callers."""
    return {
        "AUTH_MODE": "oidc",
        "AUTH_ISSUERS": f"{idp.issuer()},{idp.issuer(OTHER)}",
        "AUTH_TENANT_CLAIM": "tenant",
        "EMBEDDINGS_PROVIDER": "none",
    }


def exchanging(idp: Provider, urls: Mapping[str, str], wants: str) -> dict[str, str]:
    """Settings of a supervisor that exchanges tokens."""
    return {
        **common(idp),
        "SUB_AGENTS": ",".join(f"{name}={url}" for name, url in urls.items()),
        "SUB_AGENTS_EXCHANGE": wants,
        "AUTH_EXCHANGE_CLIENT_ID": CLIENT,
        "AUTH_EXCHANGE_CLIENT_SECRET": SECRET,
        "SUB_AGENT_REFRESH_SECONDS": "0.2",
    }


@asynccontextmanager
async def vault_beside(idp: Provider, home: Path, script: Any, **environ: str) -> AsyncIterator[str]:
    """The agent, which does not know the key of any supervisor."""
    Vault.seen.clear()
    idp.exchange.audiences.add(Vault.name)
    running = running_agent(
        Vault, model=model(script), home=home / "elsewhere", environ={**common(idp), **environ}
    )
    async with running as url:
        yield url


@asynccontextmanager
async def houses(
    home: Path,
    script: Any,
    below: Any,
    *,
    wants: str = "vault=vault agent:vault:use",
    further: Mapping[str, str] | None = None,
    ours: Mapping[str, str] | None = None,
    **environ: str,
) -> AsyncIterator[Houses]:
    """Serve all of it.

    Args:
        home: Where they store.
        script: Of the supervisor's model.
        below: Of the agent's model.
        wants: What is exchanged for which agent.
        further: Other agents, by name.
        ours: Further settings of the supervisor.
        environ: Further settings of the agent.
    """
    async with AsyncExitStack() as stack:
        idp = await stack.enter_async_context(provider())
        vault = await stack.enter_async_context(vault_beside(idp, home, below, **environ))
        top = model(script)
        settings = {**exchanging(idp, {"vault": vault, **(further or {})}, wants), **(ours or {})}
        url = await stack.enter_async_context(
            running_agent(PlatformEngineer, model=top, home=home / "ours", environ=settings)
        )
        await until_ready(url)
        http = await stack.enter_async_context(httpx.AsyncClient(trust_env=False, timeout=60))
        yield Houses(idp, url, vault, top, home, http)
