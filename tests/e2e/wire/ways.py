"""The SDK's client over each binding in each version of the protocol, to a real agent on a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import grpc.aio
import httpx
from a2a.client import Client, ClientConfig, ClientFactory
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
)

from utils.a2a_common import BaseLangGraphAgent
from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.server.agent_app import agent_app
from utils.a2a_common.server.agent_runtime import open_runtime
from utils.settings import ServerSettings
from utils.testing.live_server import loopback_socket, running


class Way(NamedTuple):
    """One way to reach an agent."""

    binding: str
    version: str

    def __str__(self) -> str:
        return f"{self.binding} {self.version}"


WAYS = [Way(binding, version) for binding in ("JSONRPC", "HTTP+JSON", "GRPC") for version in ("1.0", "0.3")]


@dataclass(frozen=True)
class Served:
    """An agent that listens over HTTP and gRPC."""

    url: str
    grpc_port: int
    agent: Any

    @asynccontextmanager
    async def client(self, way: Way, *, streaming: bool = True) -> AsyncIterator[Client]:
        """The SDK's client of this way."""
        addresses = {
            "JSONRPC": f"{self.url}/",
            "HTTP+JSON": f"{self.url}/rest",
            "GRPC": f"127.0.0.1:{self.grpc_port}",
        }
        interface = AgentInterface(
            url=addresses[way.binding], protocol_binding=way.binding, protocol_version=way.version
        )
        card = AgentCard(
            name="any", supported_interfaces=[interface], capabilities=AgentCapabilities(streaming=True)
        )
        async with httpx.AsyncClient(trust_env=False, timeout=30) as http:
            config = ClientConfig(
                httpx_client=http,
                streaming=streaming,
                grpc_channel_factory=grpc.aio.insecure_channel,
                supported_protocol_bindings=[way.binding],
            )
            client = ClientFactory(config).create(card)
            try:
                yield client
            finally:
                await client.close()


@asynccontextmanager
async def served(
    agent_class: type[BaseLangGraphAgent], model: Any, home: Path, **environ: str
) -> AsyncIterator[Served]:
    """Serve an agent as its own process would, over all bindings."""
    async with AsyncExitStack() as stack:
        settings = {"PLATFORM_ENGINEER_HOME": str(home), "GRPC_PORT": "0", **environ}
        runtime = await open_runtime(agent_class.name, AgentSettings.load(settings), stack, model=model)
        listener = stack.enter_context(closing(loopback_socket()))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        agent = agent_class(runtime)
        app = agent_app(agent, ServerSettings.load({**settings, "PUBLIC_URL": url}), url=url)
        await stack.enter_async_context(running(app, listener=listener))
        yield Served(url, app.state.grpc_port, agent)


def asking(*parts: Part | str, accepts: Sequence[str] = (), **where: Any) -> SendMessageRequest:
    """A message of these parts."""
    made = [Part(text=part) if isinstance(part, str) else part for part in parts]
    return SendMessageRequest(
        message=Message(message_id=str(uuid4()), role=Role.ROLE_USER, parts=made, **where),
        configuration=SendMessageConfiguration(accepted_output_modes=accepts),
    )


async def answer(client: Client, request: SendMessageRequest) -> list[StreamResponse]:
    """Everything that comes back."""
    return [event async for event in client.send_message(request)]
