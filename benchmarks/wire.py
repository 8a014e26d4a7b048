"""Our server against a bare SDK server, in one run on one machine: `python -m benchmarks.wire`.

The ratios are what counts; the numbers are this machine's, now. The pairs are measured in turn,
round by round, so that what else runs here weighs on both.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import httpx

ROUNDS = 5
REQUESTS = 150
CONCURRENCY = 16
CHUNKS = 300
HEADERS = {"A2A-Version": "1.0"}
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Server:
    """A running server and what was measured of it."""

    kind: str
    pid: int
    url: str
    figures: dict[str, list[float]] = field(default_factory=dict)

    def cpu(self) -> float:
        """Seconds of processor time so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def note(self, name: str, value: float) -> None:
        self.figures.setdefault(name, []).append(value)

    def best(self, name: str) -> float:
        """The round that the rest of the machine disturbed least."""
        return max(self.figures[name]) if name.endswith("/s") else min(self.figures[name])


@contextmanager
def served(kind: str, storage: str) -> Iterator[Server]:
    """Run one of the servers of `wire_server.py`."""
    command = [sys.executable, "-m", "benchmarks.wire_server", kind, storage]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        port = process.stdout.readline().strip()
        yield Server(kind, process.pid, f"http://127.0.0.1:{port}/")
        process.stdin.close()
        process.wait(30)


def call(method: str, text: str) -> dict[str, object]:
    message = {"messageId": str(uuid4()), "role": "ROLE_USER", "parts": [{"text": text}]}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}


async def unary(http: httpx.AsyncClient, server: Server) -> None:
    async def some(count: int) -> None:
        for _ in range(count):
            answer = await http.post(server.url, json=call("SendMessage", "hi"), headers=HEADERS)
            assert '"TASK_STATE_COMPLETED"' in answer.text, answer.text

    began, cpu = time.perf_counter(), server.cpu()
    await asyncio.gather(*(some(REQUESTS // CONCURRENCY) for _ in range(CONCURRENCY)))
    done = REQUESTS // CONCURRENCY * CONCURRENCY
    server.note("unary requests/s", done / (time.perf_counter() - began))
    server.note("CPU ms per request", (server.cpu() - cpu) / done * 1000)


async def stream(http: httpx.AsyncClient, server: Server, count: int, size: int) -> tuple[float, float]:
    """Seconds to the first event and to the last."""
    began = time.perf_counter()
    first = 0.0
    body = call("SendStreamingMessage", f"chunks {count} {size}")
    async with http.stream("POST", server.url, json=body, headers=HEADERS) as answer:
        last = {}
        async for line in answer.aiter_lines():
            if line.startswith("data:"):
                first = first or time.perf_counter() - began
                last = json.loads(line[5:])
    assert "COMPLETED" in json.dumps(last), last
    return first, time.perf_counter() - began


async def streamed(http: httpx.AsyncClient, server: Server) -> None:
    cpu = server.cpu()
    first, total = await stream(http, server, CHUNKS, 20)
    server.note("ms to the first event", first * 1000)
    server.note("streamed events/s", CHUNKS / total)
    server.note("CPU ms per event", (server.cpu() - cpu) / CHUNKS * 1000)


async def long_answers(http: httpx.AsyncClient, server: Server, counts: list[int]) -> list[float]:
    """Seconds that a unary send of so many chunks of 600 characters takes."""
    taken = []
    for count in counts:
        began = time.perf_counter()
        answer = await http.post(server.url, json=call("SendMessage", f"chunks {count} 600"), headers=HEADERS)
        parts = answer.json()["result"]["task"]["artifacts"][0]["parts"]
        assert sum(len(part["text"]) for part in parts) == count * 600
        taken.append(time.perf_counter() - began)
    return taken


def connections() -> httpx.AsyncClient:
    """As many connections as calls at the same time."""
    limits = httpx.Limits(max_connections=CONCURRENCY)
    return httpx.AsyncClient(timeout=600, trust_env=False, limits=limits)


async def in_turn(http: httpx.AsyncClient, servers: Sequence[Server], rounds: int) -> None:
    """Measure all, round by round, after a round that does not count."""
    for server in servers:
        await unary(http, server)
        server.figures.clear()
    for _ in range(rounds):
        for server in servers:
            await unary(http, server)
            await streamed(http, server)


async def compare(storage: str, folder: Path) -> None:
    with ExitStack() as stack:
        pair = [
            stack.enter_context(served(kind, "memory" if storage == "memory" else str(folder / f"{kind}.db")))
            for kind in ("ours", "bare")
        ]
        async with connections() as http:
            await in_turn(http, pair, ROUNDS)
            print_ratios(storage, *pair)
            counts = {"ours": [1000, 10_000], "bare": [1000, 3000]}
            for server in pair:
                small, large = await long_answers(http, server, counts[server.kind])
                growth = (large / small) / (counts[server.kind][1] / counts[server.kind][0])
                print(
                    f"  {server.kind}: 1,000 chunks of 600 in {small:.2f} s,"
                    f" {counts[server.kind][1]:,} in {large:.2f} s (cost per chunk x {growth:.1f})"
                )


def print_ratios(storage: str, ours: Server, bare: Server) -> None:
    """The best round of each."""
    print(f"{storage}:")
    for name in ours.figures:
        mine, theirs = ours.best(name), bare.best(name)
        print(f"  {name:24} ours {mine:9.2f}   bare {theirs:9.2f}   ratio {mine / theirs:6.2f}")


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for storage in ("memory", "sqlite"):
            await compare(storage, Path(folder))


if __name__ == "__main__":
    asyncio.run(main())
