"""Several replicas over PostgreSQL: `python -m benchmarks scale`. Needs PostgreSQL installed; the server is one of its own.

Ratios in one run on one machine, on whose processors all replicas, the database and the clients share: what a second replica adds
here is less than it adds on a machine of its own.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from benchmarks.service.client import COMPLETED, Talk, http_client
from benchmarks.service.doors import RpcDoor
from benchmarks.service.gate import Gate, Present, open_gate
from benchmarks.service.processes import Service, replica_name, running_service
from benchmarks.service.script import SAY, SUPERVISOR, WORK, Order
from benchmarks.wire import HEADERS, Server, call, connections, in_turn, print_ratios, served
from tests.postgres import PostgresServer, running_server

ROUNDS = 3
REQUESTS = 96
TURNS = 24
TAKEOVERS = 3
AT_ONCE = 8
PIECES, PIECE_MS = 60, 50
QUIET = {"LOG_LEVEL": "WARNING", "DATABASE_CONNECT_SECONDS": "60"}


async def run() -> None:
    """Measure and print."""
    with running_server() as server:
        await _beside_the_sdk(server)
        await _echo(server)
        with tempfile.TemporaryDirectory() as folder:
            await _services(server, Path(folder))


async def _beside_the_sdk(server: PostgresServer) -> None:
    with served("ours", server.new_database()) as ours, served("bare", server.new_database()) as bare:
        async with connections() as http:
            await in_turn(http, [ours, bare], ROUNDS)
    print_ratios("one replica over PostgreSQL, beside the bare SDK's database store", ours, bare)


async def _echo(server: PostgresServer) -> None:
    """Requests a second that echo: of two replicas, and of one."""
    database, rates = server.new_database(), {1: 0.0, 2: 0.0}
    with served("ours", database) as first, served("ours", database) as second:
        async with connections() as http:
            for number in range(ROUNDS + 1):
                for urls in ([first], [first, second]):
                    rate = await _echoes(http, urls)
                    rates[len(urls)] = max(rates[len(urls)], rate if number else 0.0)
    _compare("an echo", "requests/s", rates[2], rates[1])


async def _echoes(http: httpx.AsyncClient, servers: Sequence[Server]) -> float:
    async def some(number: int) -> None:
        url = servers[number % len(servers)].url
        for _ in range(REQUESTS // AT_ONCE):
            answer = await http.post(url, json=call("SendMessage", "hi"), headers=HEADERS)
            assert '"TASK_STATE_COMPLETED"' in answer.text, answer.text

    began = time.perf_counter()
    await asyncio.gather(*(some(number) for number in range(AT_ONCE)))
    return REQUESTS // AT_ONCE * AT_ONCE / (time.perf_counter() - began)


async def _services(server: PostgresServer, folder: Path) -> None:
    """Both sizes of the service, measured in turn, and then what only the larger one can show."""
    held: dict[str, asyncio.Event] = {}
    gate, rates = Gate(), {1: 0.0, 2: 0.0}
    took_over = Takeover(held)
    gate.on_arrival = took_over.arrive
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(open_gate(gate))
        http = await stack.enter_async_context(http_client())
        services: Mapping[int, Service] = {
            replicas: await stack.enter_async_context(
                running_service(
                    _made(folder / str(replicas)),
                    gate,
                    {**QUIET, "DATABASE_URL": server.new_database()},
                    replicas=replicas,
                )
            )
            for replicas in rates
        }
        for number in range(ROUNDS + 1):
            for replicas, service in services.items():
                rate = await _delegated(http, service)
                rates[replicas] = max(rates[replicas], rate if number else 0.0)
        _compare("a delegated turn", "turns/s", rates[2], rates[1])
        late = [await _followed(http, gate, services[2]) for _ in range(ROUNDS)]
        _print_latency([each for some in late for each in some])
        seconds = [await took_over.measure(http, gate, services[2]) for _ in range(TAKEOVERS)]
        print(
            f"take-over: a killed replica's turn runs at the other one after {min(seconds):.1f} to {max(seconds):.1f} s, "
            f"{max(seconds) / 10:.2f} of TAKEOVER_SECONDS (10)"
        )


async def _delegated(http: httpx.AsyncClient, service: Service) -> float:
    """Delegated turns a second."""
    urls = [each.url for each in service.replicas[SUPERVISOR]]

    async def some(number: int) -> None:
        for _ in range(TURNS // AT_ONCE):
            order = Order(uuid4().hex[:8], WORK)
            seen = await Talk(http, urls[number % len(urls)]).send(order.text)
            assert (seen.state, seen.stored) == (COMPLETED, order.answer), seen

    began = time.perf_counter()
    await asyncio.gather(*(some(number) for number in range(AT_ONCE)))
    return TURNS // AT_ONCE * AT_ONCE / (time.perf_counter() - began)


async def _followed(http: httpx.AsyncClient, gate: Gate, service: Service) -> list[float]:
    """How much later each piece of an answer comes from the replica that does not run its turn, in milliseconds."""
    order = Order(uuid4().hex[:8], SAY, 3 * PIECES, PIECE_MS)
    first, second = (RpcDoor(http, each.url) for each in service.replicas[SUPERVISOR])
    task = asyncio.get_running_loop().create_future()
    sent = asyncio.create_task(_arrivals(first, "SendStreamingMessage", {"message": _message(order)}, task))
    other = await _arrivals(second, "SubscribeToTask", {"id": await task})
    own = await sent
    if gate.process[order.key, SUPERVISOR] != replica_name(SUPERVISOR, 0):
        own, other = other, own
    return [(other[at] - own[at]) * 1000 for at in own.keys() & other.keys()]


async def _arrivals(
    door: RpcDoor, method: str, params: Any, task: asyncio.Future[str] | None = None
) -> dict[int, float]:
    """When each length of the answer was reached."""
    length, found = 0, {}
    async with aclosing(door.events(method, params)) as answers:
        async for answer in answers:
            event = answer["result"]
            if shown := event.get("task"):
                length = sum(len(_text(each)) for each in shown.get("artifacts", ()))
                if task is not None:
                    task.set_result(shown["id"])
            elif update := event.get("artifactUpdate"):
                length = (length if update.get("append") else 0) + len(_text(update["artifact"]))
                found[length] = time.perf_counter()
    return found


def _text(artifact: Any) -> str:
    return "".join(part.get("text", "") for part in artifact.get("parts", ()))


def _message(order: Order) -> Any:
    return {"messageId": str(uuid4()), "role": "ROLE_USER", "parts": [{"text": order.text}]}


class Takeover:
    """Kills the replica that runs a turn, and waits until the other one asks the model for it.

    Args:
        held: By the key of a turn, set when somebody works on it; only these turns wait.
    """

    def __init__(self, held: dict[str, asyncio.Event]) -> None:
        self._held = held
        self._go_on = asyncio.Event()

    async def arrive(self, key: str, place: str, present: Present) -> None:
        """A turn is somewhere."""
        del place, present
        if key in self._held:
            self._held[key].set()
            await self._go_on.wait()

    async def measure(self, http: httpx.AsyncClient, gate: Gate, service: Service) -> float:
        """Seconds from the kill."""
        order, self._go_on = Order(uuid4().hex[:8], SAY), asyncio.Event()
        works = self._held[order.key] = asyncio.Event()
        supervisors = service.replicas[SUPERVISOR]
        talks = [asyncio.create_task(Talk(http, supervisors[0].url).send(order.text))]
        await works.wait()
        works.clear()
        names = [replica_name(SUPERVISOR, number) for number in range(len(supervisors))]
        victim = supervisors[names.index(gate.process[order.key, SUPERVISOR])]
        await victim.kill()
        killed = time.perf_counter()
        await works.wait()
        seconds = time.perf_counter() - killed
        await victim.start()
        self._go_on.set()
        for talk in talks:
            seen = await talk
            assert (seen.state, seen.stored) == (COMPLETED, order.answer), seen
        return seconds


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _compare(what: str, unit: str, two: float, one: float) -> None:
    print(f"{what}: two replicas {two:.1f} {unit}, one {one:.1f}, ratio {two / one:.2f}")


def _print_latency(late: list[float]) -> None:
    """The median, and what one in a hundred exceeds, beside the time between two pieces."""
    ordered = sorted(late)
    worst = ordered[int(0.99 * (len(ordered) - 1))]
    middle = statistics.median(ordered)
    print(
        f"follower: a piece comes {middle:.1f} ms later from the other replica, p99 {worst:.1f} ms "
        f"({len(ordered)} pieces); {middle / PIECE_MS:.2f} and {worst / PIECE_MS:.2f} of the {PIECE_MS} ms between two pieces"
    )


if __name__ == "__main__":
    asyncio.run(run())
