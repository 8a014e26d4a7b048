"""Where the processes of the service are: tools and streams of the model report to the driver and wait until they may go on."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from utils.testing.live_server import loopback_socket, running

if TYPE_CHECKING:
    import httpx
    from starlette.requests import Request
    from starlette.responses import Response

GATE_URL = "BENCHMARK_GATE_URL"
"""Variable with the gate's address; without it nothing waits."""

Present = Callable[[], Awaitable[bool]]
"""Whether the one that waits is still there: its process may have been killed."""

Arrival = Callable[[str, str, Present], Awaitable[None]]


class Gate:
    """The driver's side.

    Attributes:
        url: Its address; set by `open_gate`.
        on_arrival: Called with a turn's key, a place and whether the caller is still there; the caller waits until it returns.
        remarks: What the models' double saw that should not be there.
        asked: Model calls, by agent.
        process: The process of an agent that asked the model last for a turn, by the turn's key and the agent.
    """

    def __init__(self, on_arrival: Arrival | None = None) -> None:
        self.url = ""
        self.on_arrival = on_arrival
        self.remarks: Counter[tuple[str, str]] = Counter()
        self.asked: Counter[str] = Counter()
        self.process: dict[tuple[str, str], str] = {}

    async def arrive(self, request: Request) -> Response:
        """Somebody is at a place; nobody, where it was killed while it said so."""
        from starlette.responses import Response

        if (said := await _body(request)) is None:
            return Response()

        async def present() -> bool:
            return not await request.is_disconnected()

        if self.on_arrival is not None:
            await self.on_arrival(said["key"], said["place"], present)
        return Response()

    async def note(self, request: Request) -> Response:
        """The double tells of one model call."""
        from starlette.responses import Response

        if (said := await _body(request)) is None:
            return Response()
        self.asked[said["agent"]] += 1
        self.process[said["key"], said["agent"]] = said["process"]
        for remark in said["remarks"]:
            self.remarks[said["key"], remark] += 1
        return Response()


async def _body(request: Request) -> Any:
    from starlette.requests import ClientDisconnect

    try:
        return await request.json()
    except ClientDisconnect:
        return None


@asynccontextmanager
async def open_gate(gate: Gate) -> AsyncIterator[Gate]:
    """Serve it."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    listener = loopback_socket()
    gate.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    routes = [Route("/at", gate.arrive, methods=["POST"]), Route("/note", gate.note, methods=["POST"])]
    async with running(Starlette(routes=routes), listener=listener):
        yield gate


class GateClient:
    """The side of a process of the service. A gate that is gone lets everybody through."""

    def __init__(self) -> None:
        self._http: httpx.AsyncClient | None = None

    async def at(self, key: str, place: str) -> None:
        """Report a place and wait until the driver lets go on."""
        await self._post("/at", {"key": key, "place": place})

    async def note(self, key: str, agent: str, remarks: tuple[str, ...], process: str = "") -> None:
        """Report a model call, and which process made it."""
        said = {"key": key, "agent": agent, "remarks": remarks, "process": process}
        await self._post("/note", said)

    async def _post(self, path: str, said: Any) -> None:
        import httpx

        url = os.environ.get(GATE_URL)  # now: modules are imported before the environment is there
        if not url:
            return
        if self._http is None:
            self._http = httpx.AsyncClient(timeout=None, trust_env=False)
        with suppress(httpx.TransportError):
            await self._http.post(f"{url}{path}", content=json.dumps(said), headers={"Connection": "close"})
