"""Connections that never say what they want are closed; those that do go on, however slow the answer."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import httpx
import pytest

from tests.e2e.observability.processes import KEYS, ready, started
from tests.ports import free_port

pytestmark = pytest.mark.timeout(120)

REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
SECONDS = 1.0
SOON = 18.0
"""More than a loaded machine takes for that, and less than the limit of a server that was told none, which is 20 s."""

GIVEN_UP = 25.0


async def seconds_open(port: int, *pieces: bytes, more: bytes = b"", pause: float = 0.2) -> float:
    """How long a connection stays open that sends these pieces and then `more` for ever, up to `GIVEN_UP`."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    begun = time.monotonic()
    for piece in pieces:
        writer.write(piece)

    async def drip() -> None:
        while more:
            writer.write(more)
            await asyncio.sleep(pause)

    dripping = asyncio.create_task(drip())
    try:
        async with asyncio.timeout(GIVEN_UP):
            while await reader.read(65_536):
                pass
    except (TimeoutError, ConnectionError):
        pass
    finally:
        dripping.cancel()
        writer.close()
    return time.monotonic() - begun


@pytest.mark.long
async def test_a_connection_whose_headers_never_end_is_closed_over_http_and_grpc(tmp_path: Path) -> None:
    grpc_port = free_port()
    settings = {
        "HEADER_TIMEOUT_SECONDS": str(SECONDS),
        "GRPC_PORT": str(grpc_port),
        "EMBEDDINGS_PROVIDER": "none",
    }
    with started(tmp_path, "keys", KEYS, settings) as served:
        async with ready(served), httpx.AsyncClient(trust_env=False) as http:
            port = int(served.url.rpartition(":")[2])
            found = await asyncio.gather(
                seconds_open(port),
                seconds_open(port, REQUEST, more=b"X-A: b\r\n"),
                seconds_open(port, REQUEST + b"X-Long: ", more=b"a"),
                seconds_open(port, REQUEST + b"\r\n", more=b"X"),  # the second request of a connection
                seconds_open(grpc_port),
                seconds_open(grpc_port, b"PRI * HTTP/2.0\r\n"),
            )
            assert all(seconds < SOON for seconds in found), found
            assert (await http.get(f"{served.url}/healthz")).status_code == 200
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            body = b'{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}'
            head = (
                b"POST / HTTP/1.1\r\nHost: localhost\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\n"
                b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
            )
            writer.write(head + body[:10])
            await asyncio.sleep(2 * SECONDS)  # a body may take longer: it has begun
            writer.write(body[10:])
            assert b" 200 OK" in await reader.read()
            writer.close()
