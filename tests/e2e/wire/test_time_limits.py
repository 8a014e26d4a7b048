"""What has a time limit: a body on its way, and a task that waits for its user."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.types import Receive, Scope

from tests.e2e.wire.agents import echo
from tests.e2e.wire.test_rest_of_0_3 import old
from tests.e2e.wire.wiring import Wire, serving, state
from tests.support.passing_time import pass_seconds
from utils.a2a_common.server.http import connections
from utils.a2a_common.server.http.request_guard import RequestGuard

LIMIT = 60


def waiting_for_bodies(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Is set once a server waits for the body of a request."""
    read, waits = RequestGuard._read_within_limit, asyncio.Event()

    async def noted(guard: RequestGuard, scope: Scope, receive: Receive) -> Any:
        waits.set()
        return await read(guard, scope, receive)

    monkeypatch.setattr(RequestGuard, "_read_within_limit", noted)
    return waits


async def trickle(wire: Wire, path: str) -> tuple[int, str]:
    """Send half of a body and no more; the answer's status and body."""
    address = urlsplit(wire.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    head = [
        f"POST {path} HTTP/1.1", f"Host: {address.netloc}", "Content-Type: application/json",
        "A2A-Version: 1.0", "Content-Length: 1000", "", '{"jsonrpc": "2.0", ',
    ]  # fmt: skip
    writer.write("\r\n".join(head).encode())
    await writer.drain()
    status = (await reader.readline()).split()[1]
    headers = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    length = int(headers.partition("content-length: ")[2].partition("\r\n")[0])
    body = (await reader.readexactly(length)).decode()
    writer.close()
    await writer.wait_closed()
    return int(status), body


@pytest.mark.parametrize("path", ["/", "/rest/message:send", "/rest/v1/message:stream"])
async def test_a_body_that_does_not_arrive_is_answered_with_408(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "GRACE_SECONDS", 3600)  # it is not what cuts the connection off here
    waits = waiting_for_bodies(monkeypatch)
    async with (
        asyncio.timeout(2 * LIMIT),
        serving(echo, settings={"BODY_TIMEOUT_SECONDS": str(LIMIT)}) as wire,
    ):
        answering = asyncio.create_task(trickle(wire, path))
        await waits.wait()
        pass_seconds(LIMIT)
        status, body = await answering
        assert status == 408
        assert json.loads(body)["error"]["message"] == "The request's body did not arrive."
        assert wire.agent.seen == []
        assert state(await wire.send()) == "completed"
        assert (await wire.http.post(f"{wire.url}/rest/v1/message:send", json=old())).status_code == 200
