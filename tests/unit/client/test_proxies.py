"""Which agents are reached past the proxy of the environment: those of this machine and of the own network."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from tests.certificates import Authority
from tests.e2e.cli.scripted_agent import ScriptedAgent, serve
from tests.e2e.cli.test_addresses import as_proxy
from tests.unit.client.test_follow import answering
from utils.a2a_common.client.transport.connection import fetch_card, http_client
from utils.net.loopback import is_without_domain

SERVICE = "first-platform-engineer-rag"
NOBODY = "http://127.0.0.1:9"
PROXIES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")


@pytest.fixture
def behind_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """What companies set: a proxy for all but their own domains. Nothing listens there."""
    for name in PROXIES:
        monkeypatch.setenv(name, NOBODY)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "localhost,.svc,.cluster.local,10.0.0.0/8")


@pytest.mark.listens
@pytest.mark.usefixtures("behind_a_proxy")
async def test_an_agent_of_the_own_network_is_reached_past_a_proxy(monkeypatch: pytest.MonkeyPatch):
    found = socket.getaddrinfo

    def resolved(host: Any, *others: Any, **named: Any) -> Any:
        named_here = host in (SERVICE, SERVICE.encode())
        return found("127.0.0.1" if named_here else host, *others, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    async with serve(ScriptedAgent(answering)) as url:
        named = f"http://{SERVICE}:{httpx.URL(url).port}"
        async with http_client(named) as http:
            assert (await fetch_card(http, named)).name


@pytest.mark.listens
@pytest.mark.usefixtures("behind_a_proxy")
async def test_an_agent_elsewhere_is_reached_through_the_proxy(monkeypatch: pytest.MonkeyPatch):
    """The agent stands for the proxy and what is behind it: the name is known to nobody else."""
    async with serve(ScriptedAgent(answering), wrap=as_proxy) as url:
        for name in ("HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, url)
        async with http_client("http://weather.example") as http:
            assert (await fetch_card(http, "http://weather.example")).name


@asynccontextmanager
async def socks_proxy(port: int) -> AsyncIterator[int]:
    """A SOCKS5 proxy without a login, behind which every name is this machine's `port`. Its own port."""

    async def passed(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while data := await source.read(65_536):
            target.write(data)
            await target.drain()
        target.close()

    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, methods = await reader.readexactly(2)
        await reader.readexactly(methods)
        writer.write(b"\x05\x00")
        *_, length = await reader.readexactly(5)
        await reader.readexactly(length + 2)
        writer.write(b"\x05\x00\x00\x01" + bytes(6))
        there = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(passed(reader, there[1]), passed(there[0], writer))

    server = await asyncio.start_server(serve_one, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.listens
@pytest.mark.usefixtures("behind_a_proxy")
@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
async def test_an_agent_elsewhere_is_reached_through_a_socks_proxy(
    monkeypatch: pytest.MonkeyPatch, scheme: str
):
    for name in PROXIES:
        monkeypatch.delenv(name)
    async with (
        serve(ScriptedAgent(answering)) as url,
        socks_proxy(httpx.URL(url).port or 0) as proxy,
    ):
        monkeypatch.setenv("ALL_PROXY", f"{scheme}://127.0.0.1:{proxy}")
        async with http_client("http://weather.example") as http:
            assert (await fetch_card(http, "http://weather.example")).name


@pytest.mark.usefixtures("behind_a_proxy")
def test_the_authorities_of_the_environment_are_trusted_past_a_proxy(
    monkeypatch: pytest.MonkeyPatch, tmp_path
):
    certificate, _ = Authority().root.files(tmp_path, "root")
    monkeypatch.setenv("SSL_CERT_FILE", certificate)
    context = http_client(f"https://{SERVICE}:8002")._transport._pool._ssl_context  # type: ignore[attr-defined]
    assert isinstance(context, ssl.SSLContext)
    assert len(context.get_ca_certs()) == 1


@pytest.mark.parametrize(
    ("url", "alone"),
    [
        (f"http://{SERVICE}:8002", True),
        ("https://rag", True),
        ("http://rag.team.svc:8002", False),
        ("https://weather.example.com", False),
        ("http://10.0.0.7:8002", False),
        ("http://[2001:db8::1]:8002", False),
        ("", False),
    ],
)
def test_a_name_without_a_domain_is_one_of_the_own_network(url: str, alone: bool):
    assert is_without_domain(url) is alone
