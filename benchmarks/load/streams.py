"""Streams on our server and on the bare SDK's: a slow reader, idle ones, dropped ones."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import urlsplit

import httpx

from benchmarks.load.footprint import Footprint, footprint, memory_kilobytes
from benchmarks.wire import HEADERS, Server, call

EVENTS = 4_000
SIZE = 20
SLOW_SECONDS = 15
REST_SECONDS = 600.0
"""How long the rest of a slow reader may take: the bare SDK stores the whole task again with each event."""
IDLE = 500
DROPPED = 1_000
AT_ONCE = 100
SETTLE_SECONDS = 30.0
KEEP_ALIVE_SECONDS = 6.0
"""uvicorn keeps the timer of a connection for 5 s, also when the connection is closed."""

ROUNDS = 3
MOST_LEFT = {"blocks": 2, "heap_kilobytes": 1}
"""What one stream of the last round may leave behind; a leak of one object a stream is more."""

SPARE = Footprint(1 << 30, 3, 3)
"""What a server may hold more than before: descriptors of files that it opened meanwhile, and the loop tasks of the one that asks."""

Fault = Callable[[str, str], None]
Ends = Callable[[], Awaitable[int]]
"""Waits for the ends of what was opened; how many did not end."""


async def slow_reader(server: Server, fault: Fault) -> None:
    """One client reads a byte a second for a while; the task goes on, and in the end the client has all of it."""
    before = memory_kilobytes(server.pid)
    reader, writer = await _raw(server.url, call("SendStreamingMessage", f"chunks {EVENTS} {SIZE}"))
    head = b""
    async with _client() as http:
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
        f" {time.monotonic() - began:.0f} s; {held / 1024:.1f} MB held; another request meanwhile {answered * 1000:.0f} ms",
        flush=True,
    )


async def idle_streams(server: Server, fault: Fault) -> None:
    """Many streams on which nothing happens, and all their ends; several rounds of it."""

    async def opened() -> Ends:
        stack = AsyncExitStack()
        http = await stack.enter_async_context(_client())
        streams = [await _first_event(stack, http, server.url) for _ in range(IDLE)]

        async def ends() -> int:
            async with stack:
                return sum("COMPLETED" not in last for last in await asyncio.gather(*map(_last, streams)))

        return ends

    await _rounds(server, f"{IDLE} idle streams", opened, fault)


async def dropped_streams(server: Server, fault: Fault) -> None:
    """Many clients that open a stream and leave; their tasks go on. Several rounds of it."""

    async def open_and_leave() -> str:
        async with _client() as http, AsyncExitStack() as stack:
            return str((await _first_event(stack, http, server.url))[0])

    async def opened() -> Ends:
        tasks: list[str] = []
        for _ in range(DROPPED // AT_ONCE):
            tasks += await asyncio.gather(*(open_and_leave() for _ in range(AT_ONCE)))

        async def ends() -> int:
            async with _client() as http:
                return sum([not await _ends(http, server.url, task) for task in tasks])

        return ends

    await _rounds(server, f"{DROPPED} opened and dropped", opened, fault)


async def _rounds(server: Server, what: str, opened: Callable[[], Awaitable[Ends]], fault: Fault) -> None:
    """The same load several times: what stays of each is a leak, what stays of the first alone is warm-up or the allocator's."""
    count = int(what.split(maxsplit=1)[0])
    async with _client() as http:
        base, in_use = await footprint(http, server.pid, server.url)
        before_last = in_use
        for number in range(1, ROUNDS + 1):
            ends = await opened()
            more, used = await footprint(http, server.pid, server.url)
            print(
                f"  {server.kind:5} {what}, round {number}: {more.minus(base)}; in use {used.minus(in_use)};"
                f" {(used.heap_kilobytes - in_use.heap_kilobytes) / count:.1f} kB of the C heap,"
                f" {(used.blocks - in_use.blocks) / count:.0f} blocks, {more.minus(base).kilobytes / count:.0f} kB resident each"
            )
            await _release(http, server.url)
            if unfinished := await ends():
                fault("unfinished", f"{server.kind}: {unfinished} of {what} did not end")
            await _back_at(http, server, base, fault)
            left = (await footprint(http, server.pid, server.url))[1]
            print(
                f"  {'':5} afterwards: {left.minus(in_use)}; more than after the round before: {left.minus(before_last)}"
            )
            grown, before_last = left.minus(before_last), left
    leaked = [name for name, most in MOST_LEFT.items() if getattr(grown, name) > most * count]
    if leaked and server.kind == "ours":
        fault("left", f"{', '.join(leaked)} after the last of {ROUNDS} rounds: {grown}")


async def _back_at(http: httpx.AsyncClient, server: Server, base: Footprint, fault: Fault) -> None:
    """Wait until the server holds no more loop tasks and descriptors than before, and its timers of connections are over."""
    await asyncio.sleep(KEEP_ALIVE_SECONDS)
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        left = (await footprint(http, server.pid, server.url))[0].minus(base)
        over = [name for name, value, spare in zip(left._fields, left, SPARE, strict=True) if value > spare]
        if not over:
            break
        if time.monotonic() > deadline:
            print(f"  {'':5} NOT back: {left}")
            if server.kind == "ours":
                fault("left", f"{', '.join(over)}: {left}")
            break
        await asyncio.sleep(0.5)
    print(f"  {'':5} afterwards more than before: {left}")


def _client() -> httpx.AsyncClient:
    """Connections that are not used twice: the server may close an idle one while the next request is on its way."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    return httpx.AsyncClient(timeout=120, trust_env=False, limits=limits)


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
    async with asyncio.timeout(REST_SECONDS):
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
