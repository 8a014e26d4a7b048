"""Streams on our server and on the bare SDK's: a slow reader, idle ones, dropped ones."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import urlsplit

import httpx

from benchmarks.load.footprint import Footprint, footprint, memory_kilobytes
from benchmarks.wire import HEADERS, Server, call

EVENTS = 4_000
SIZE = 20
SLOW_SECONDS = 15
IDLE = 500
DROPPED = 1_000
AT_ONCE = 100
SETTLE_SECONDS = 30.0
SPARE = Footprint(1 << 30, 3, 3)
"""What a server may hold more than before: descriptors of files that it opened meanwhile, and the loop tasks of the one that asks."""

Fault = Callable[[str, str], None]


async def slow_reader(server: Server, fault: Fault) -> None:
    """One client reads a byte a second for a while; the task goes on, and in the end the client has all of it."""
    before = memory_kilobytes(server.pid)
    reader, writer = await _raw(server.url, call("SendStreamingMessage", f"chunks {EVENTS} {SIZE}"))
    head = b""
    async with httpx.AsyncClient(timeout=60, trust_env=False) as http:
        began = time.monotonic()
        for _ in range(SLOW_SECONDS):
            head += await reader.read(1)
            await asyncio.sleep(1)
        answered = time.monotonic()
        await _echo(http, server.url)
        answered = time.monotonic() - answered
        held = memory_kilobytes(server.pid) - before
        body = head + await _rest(reader)
    writer.close()
    text, last = _read_events(body)
    whole = len(text) == EVENTS * SIZE and "COMPLETED" in last
    if not whole and server.kind == "ours":
        fault("slow_reader", f"{len(text)} of {EVENTS * SIZE} characters, last {last[:200]}")
    print(
        f"  {server.kind:5} reader of 1 byte/s behind {EVENTS} events: {'all' if whole else 'NOT ALL'} of it after"
        f" {time.monotonic() - began:.0f} s; {held / 1024:.1f} MB held; another request meanwhile {answered * 1000:.0f} ms"
    )


async def idle_streams(server: Server, fault: Fault) -> None:
    """Many streams on which nothing happens."""
    limits = httpx.Limits(max_connections=None)
    async with (
        httpx.AsyncClient(timeout=120, trust_env=False, limits=limits) as http,
        AsyncExitStack() as stack,
    ):
        base = await footprint(http, server.pid, server.url)
        streams = [await _first_event(stack, http, server.url) for _ in range(IDLE)]
        held = (await footprint(http, server.pid, server.url)).minus(base)
        await _release(http, server.url)
        lasts = await asyncio.gather(*map(_last, streams))
        if unfinished := sum("COMPLETED" not in last for last in lasts):
            fault("unfinished", f"{server.kind}: {unfinished} of {IDLE} idle streams did not end")
    print(f"  {server.kind:5} {IDLE} idle streams: {held}; {held.kilobytes / IDLE:.0f} kB a stream")
    await _back_at(server, base, fault)


async def dropped_streams(server: Server, fault: Fault) -> None:
    """Many clients that open a stream and leave; their tasks go on."""
    async with httpx.AsyncClient(timeout=120, trust_env=False) as http:
        base = await footprint(http, server.pid, server.url)

    async def open_and_leave() -> str:
        async with httpx.AsyncClient(timeout=120, trust_env=False) as http, AsyncExitStack() as stack:
            return str((await _first_event(stack, http, server.url))[0])

    tasks: list[str] = []
    for _ in range(DROPPED // AT_ONCE):
        tasks += await asyncio.gather(*(open_and_leave() for _ in range(AT_ONCE)))
    async with httpx.AsyncClient(timeout=120, trust_env=False) as http:
        held = (await footprint(http, server.pid, server.url)).minus(base)
        await _release(http, server.url)
        unfinished = 0
        for task in tasks:
            unfinished += not await _ends(http, server.url, task)
    if unfinished:
        fault("unfinished", f"{server.kind}: {unfinished} of {DROPPED} dropped tasks did not end")
    print(f"  {server.kind:5} {DROPPED} opened and dropped: {held} while their tasks work")
    await _back_at(server, base, fault)


async def _back_at(server: Server, base: Footprint, fault: Fault) -> None:
    """Wait until the server holds what it held before; memory is printed only."""
    deadline = time.monotonic() + SETTLE_SECONDS
    async with httpx.AsyncClient(timeout=60, trust_env=False) as http:
        while True:
            left = (await footprint(http, server.pid, server.url)).minus(base)
            over = [
                name for name, value, spare in zip(left._fields, left, SPARE, strict=True) if value > spare
            ]
            if not over or time.monotonic() > deadline:
                break
            await asyncio.sleep(0.5)
    print(f"  {'':5} afterwards more than before: {left}")
    if over and server.kind == "ours":
        fault("left", f"{', '.join(over)}: {left}")


async def _raw(url: str, body: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection with a small window, its request sent."""
    address = urlsplit(url)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.setblocking(False)
    await asyncio.get_running_loop().sock_connect(connection, (address.hostname, address.port))
    reader, writer = await asyncio.open_connection(sock=connection, limit=1024)
    content = json.dumps(body).encode()
    headers = {**HEADERS, "Host": address.netloc, "Content-Type": "application/json", "Connection": "close"}
    lines = [f"{name}: {value}" for name, value in {**headers, "Content-Length": str(len(content))}.items()]
    writer.write("\r\n".join(["POST / HTTP/1.1", *lines, "", ""]).encode() + content)
    await writer.drain()
    return reader, writer


async def _rest(reader: asyncio.StreamReader) -> bytes:
    parts = []
    async with asyncio.timeout(120):
        while part := await reader.read(1 << 16):
            parts.append(part)
    return b"".join(parts)


def _read_events(body: bytes) -> tuple[str, str]:
    """The text of an answer and its last event, from a chunked response."""
    data, rest = b"", body.partition(b"\r\n\r\n")[2]
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size or b"0", 16)
        data, rest = data + rest[:length], rest[length + 2 :]
    answers = [json.loads(line[5:]) for line in data.splitlines() if line.startswith(b"data:")]
    parts = [
        part.get("text", "")
        for answer in answers
        for part in answer.get("result", {}).get("artifactUpdate", {}).get("artifact", {}).get("parts", ())
    ]
    return "".join(parts), json.dumps(answers[-1]) if answers else ""


async def _first_event(stack: AsyncExitStack, http: httpx.AsyncClient, url: str) -> tuple[str, Any]:
    """Open a stream on a task that waits; its task and the lines that follow."""
    body = call("SendStreamingMessage", "wait")
    answer = await stack.enter_async_context(http.stream("POST", url, json=body, headers=HEADERS))
    lines = answer.aiter_lines()
    async for line in lines:
        if line.startswith("data:"):
            return json.loads(line[5:])["result"]["task"]["id"], lines
    raise AssertionError("a stream without an event")


async def _last(stream: tuple[str, Any]) -> str:
    last = ""
    async for line in stream[1]:
        last = line if line.startswith("data:") else last
    return last


async def _echo(http: httpx.AsyncClient, url: str) -> None:
    assert "COMPLETED" in (await http.post(url, json=call("SendMessage", "hi"), headers=HEADERS)).text


async def _release(http: httpx.AsyncClient, url: str) -> None:
    await http.post(url, json=call("SendMessage", "release"), headers=HEADERS)


async def _ends(http: httpx.AsyncClient, url: str, task: str) -> bool:
    body = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": task}}
    deadline = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < deadline:
        if "COMPLETED" in (await http.post(url, json=body, headers=HEADERS)).text:
            return True
        await asyncio.sleep(0.2)
    return False
