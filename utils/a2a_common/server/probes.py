"""`/healthz` and `/readyz`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from utils.a2a_common.protocol.readiness import Readiness

log = structlog.get_logger(__name__)


def probe_routes(readiness: Callable[[], Awaitable[Readiness]]) -> list[Route]:
    """Alive: the event loop answers. Ready: `readiness` says so, else 503 with the reason."""

    async def healthz(_: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    async def readyz(_: Request) -> JSONResponse:
        try:
            state = await readiness()
        except Exception:  # a hook of an agent: whatever it raises means not ready
            log.exception("readiness_check_failed")
            state = Readiness(ready=False, detail="The readiness check failed. The log has the details.")
        word = "ready" if state.ready else "not ready"
        body = {
            "status": word,
            "detail": state.detail,
            "without": list(state.without),
            "busy": state.busy,
        }
        return JSONResponse(body, status_code=200 if state.ready else 503)

    return [Route("/healthz", healthz, methods=["GET"]), Route("/readyz", readyz, methods=["GET"])]
