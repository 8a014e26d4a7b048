"""Calls to a model's server on this machine share a connection while an agent serves, and leave none behind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from utils.llm.factory import create_chat_model, kept_connections
from utils.settings import LLMSettings
from utils.testing.live_server import loopback_socket, running
from utils.testing.strict_provider import EchoBrain, StrictProvider

pytestmark = pytest.mark.listens

PROVIDERS = ("openai", "openai-compatible", "azure-openai")


class Server:
    """The double, and the port of the client of each request."""

    def __init__(self) -> None:
        self.double = StrictProvider(EchoBrain())
        self.clients: list[int] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.clients.append(scope["client"][1])
        await self.double(scope, receive, send)

    def model(self, provider: str) -> Any:
        return create_chat_model(LLMSettings.load(self.double.environment(provider)))


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    served = Server()
    with loopback_socket() as listener:
        served.double.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with running(served, listener=listener):
            yield served


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_calls_share_a_connection_within_the_block(server: Server, provider: str) -> None:
    kept: Any = kept_connections(server.model(provider))
    async with kept as model:
        await model.ainvoke("One.")
        assert [chunk async for chunk in model.astream("Two.")]
        await model.ainvoke("Three.")
    assert len(set(server.clients)) == 1
    with pytest.raises(RuntimeError, match="closed"):
        await model.root_async_client._client.get(server.double.url)


async def test_a_model_outside_of_a_block_leaves_no_connection_open(server: Server) -> None:
    model = server.model("openai")
    await model.ainvoke("One.")
    await model.ainvoke("Two.")
    assert len(set(server.clients)) == 2


async def test_the_client_of_a_provider_elsewhere_is_left_alone() -> None:
    environ = {"LLM_PROVIDER": "openai", "LLM_MODEL": "gpt-4.1", "OPENAI_API_KEY": "none"}
    model: Any = create_chat_model(LLMSettings.load(environ))
    async with kept_connections(model) as same:
        assert same is model
    client: Any = model
    assert not client.root_async_client.is_closed()
