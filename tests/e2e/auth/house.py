"""A supervisor and an agent that know their callers, beside a provider that signs tokens for them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import Keys
from tests.e2e.auth.bindings import Door
from tests.e2e.auth.cases import service_key_in
from tests.e2e.auth.provider import Provider, provider
from tests.e2e.wire.ways import served
from utils.testing.scripted_model import ScriptedModel


@dataclass(frozen=True)
class House:
    """Everything that a test needs."""

    provider: Provider
    doors: tuple[Door, ...]
    home: Path
    http: httpx.AsyncClient
    service_key: dict[str, Any]


@asynccontextmanager
async def house(home: Path) -> AsyncIterator[House]:
    """Serve it; AUTH_MODE is oidc."""
    async with AsyncExitStack() as stack:
        idp = await stack.enter_async_context(provider())
        environ = {
            "AUTH_MODE": "oidc",
            "AUTH_ISSUERS": idp.issuers,
            "AUTH_TENANT_CLAIM": "tenant",
            "SUB_AGENTS": "none=http://127.0.0.1:1",
            "SUB_AGENT_WAIT_SECONDS": "0",
            "EMBEDDINGS_PROVIDER": "none",
        }
        doors = []
        for kind in (PlatformEngineer, Keys):
            model = ScriptedModel.of(*["Good day."] * 100)
            agent = await stack.enter_async_context(served(kind, model, home, **environ))
            doors.append(Door(kind.name, agent.url, agent.grpc_port))
        http = await stack.enter_async_context(httpx.AsyncClient(trust_env=False, timeout=60))
        yield House(idp, tuple(doors), home, http, service_key_in(home))
