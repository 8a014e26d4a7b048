"""`/healthz`, `/readyz` and `/metrics`: what an orchestrator and Prometheus ask."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from utils.a2a_common.protocol.readiness import PROCESS_HEADER, Readiness
from utils.errors import StorageError
from utils.observability import catalogue
from utils.observability.metrics import count, process_metrics

log = structlog.get_logger(__name__)

SIZES_SECONDS = 1.0
"""Longest wait of a scrape for the sizes, which a working storage returns in a few milliseconds. Prometheus gives up after ten seconds."""

_METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def probe_routes(readiness: Callable[[], Awaitable[Readiness]]) -> list[Route]:
    """Routes for liveness, which the event loop answers, and for readiness: 503 with the reason unless `readiness` reports ready."""

    async def healthz(_: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    async def readyz(_: Request) -> JSONResponse:
        try:
            state = await readiness()
        except Exception:  # a hook of an agent: whatever it raises means not ready
            log.exception("readiness.check_failed")
            state = Readiness(ready=False, detail="The readiness check failed. The log has the details.")
        word = "ready" if state.ready else "not ready"
        body = {
            "status": word,
            "detail": state.detail,
            "without": list(state.without),
            "busy": state.busy,
        }
        status = 200 if state.ready else 503
        return JSONResponse(body, status_code=status, headers={PROCESS_HEADER: str(os.getpid())})

    return [Route("/healthz", healthz, methods=["GET"]), Route("/readyz", readyz, methods=["GET"])]


async def nothing_stored() -> Mapping[str, int]:
    """The sizes of an agent that stores nothing."""
    return {}


async def unknown_room() -> int | None:
    """The free bytes of an agent that stores nothing on a disk."""
    return None


class _Sizes:
    """The last known sizes. A scrape waits for the storage only briefly, and at most one query runs at a time."""

    def __init__(self, ask: Callable[[], Awaitable[Mapping[str, int]]]) -> None:
        self._ask = ask
        self._asking: asyncio.Task[None] | None = None

    async def look(self) -> None:
        """Update the sizes if the storage answers in time; otherwise keep the old ones and count the failure."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._set())
        _, late = await asyncio.wait([self._asking], timeout=SIZES_SECONDS)
        if late:
            count(catalogue.STORAGE_ERRORS, file="sizes")
            log.warning("metrics.sizes_late", seconds=SIZES_SECONDS)
        else:
            self._asking.result()

    async def _set(self) -> None:
        with suppress(StorageError):  # the storage counts and logs what is wrong
            for kind, size in (await self._ask()).items():
                process_metrics().set(catalogue.STORED, size, kind=kind)


def metrics_route(
    sizes: Callable[[], Awaitable[Mapping[str, int]]] = nothing_stored,
    free: Callable[[], Awaitable[int | None]] = unknown_room,
) -> Route:
    """Answers with every metric of this process: counts, and names of parts; nothing about users.

    Args:
        sizes: Bytes of what the agent has stored, by kind; called on every scrape.
        free: Free bytes of the storage; `None` if unknown.
    """
    counted = process_metrics()  # made now, so that the first turn does not wait for it
    stored = _Sizes(sizes)

    async def metrics(_: Request) -> Response:
        counted.set(catalogue.LOOP_TASKS, len(asyncio.all_tasks()))
        if (room := await free()) is not None:
            counted.set(catalogue.FREE, room)
        await stored.look()
        return Response(counted.text(), media_type=_METRICS_TYPE)

    return Route("/metrics", metrics, methods=["GET"])
