"""What a client reads whose request is open when the server gives up waiting for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from utils.a2a_common.server.http.retry_after import CUT_OFF, CutOff

pytestmark = pytest.mark.listens


class Slow:
    """Answers nothing, or the first piece only, and says when it was asked."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def never(self, _request: Request) -> Response:
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError("the wait has no end")

    async def a_piece(self, _request: Request) -> Response:
        async def pieces() -> AsyncIterator[str]:
            yield "one"
            self.asked.set()
            await asyncio.Event().wait()

        return StreamingResponse(pieces())


@asynccontextmanager
async def stopping(slow: Slow) -> AsyncIterator[str]:
    """A server that stops at the end of the block, and waits a second for what is open."""
    routes = [
        Route("/", slow.never, methods=["POST"]),
        Route("/rest", slow.never),
        Route("/stream", slow.a_piece),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(CutOff)])
    config = uvicorn.Config(app, port=0, log_config=None, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    served = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await served


@pytest.mark.parametrize("method, path", [("POST", "/"), ("GET", "/rest")])
async def test_a_request_that_is_given_up_is_refused_in_the_form_of_its_binding(
    method: str, path: str
) -> None:
    slow = Slow()
    async with httpx.AsyncClient(trust_env=False, timeout=30) as http:
        async with stopping(slow) as url:
            asked = asyncio.create_task(http.request(method, url + path))
            await slow.asked.wait()
        answer = await asked
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert answer.json()["error"]["message"] == CUT_OFF


async def test_a_response_that_has_begun_breaks_off() -> None:
    slow = Slow()
    async with httpx.AsyncClient(trust_env=False, timeout=30) as http:
        async with stopping(slow) as url:
            asked = asyncio.create_task(http.get(url + "/stream"))
            await slow.asked.wait()
        with pytest.raises(httpx.RemoteProtocolError):
            await asked
