"""`/metrics`: what Prometheus scrapes."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from utils.observability import catalogue
from utils.observability.metrics import process_metrics

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def metrics_route() -> Route:
    """Answers with every metric of this process; counts and names of parts, nothing about users."""
    counted = process_metrics()  # made now: the first turn shall not wait for it

    async def metrics(_: Request) -> Response:
        counted.set(catalogue.LOOP_TASKS, len(asyncio.all_tasks()))
        return Response(counted.text(), media_type=CONTENT_TYPE)

    return Route("/metrics", metrics, methods=["GET"])
