"""A GitHub that the real gh can talk to: over an HTTP proxy on loopback, as api.github.localhost."""

from __future__ import annotations

import io
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from agents.github.testing.data import FAILED_STEP, example, job_log
from agents.github.testing.recorder import Recorder
from agents.github.testing.server import github_app
from utils.testing.live_server import running

API_URL = "http://api.github.localhost"
"""gh speaks plain HTTP to this host only; every request goes to the proxy, so none leaves the machine."""
WORKFLOW = {"id": 159038, "name": "Build", "state": "active", "path": ".github/workflows/build.yml"}
FAILED_LOG = job_log(60).split("2020-01-20T17:44:39", 1)[0]


class AsProxy:
    """Takes requests with a whole address in the first line, as proxies get them."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"].startswith("http"):
            parts = urlsplit(scope["path"])
            assert parts.hostname in {"api.github.localhost", "github.localhost"}
            scope = {**scope, "path": parts.path, "raw_path": parts.path.encode()}
        await self._app(scope, receive, _here(send))


def _here(send: Any) -> Any:
    """Bodies whose addresses lead here: gh follows those of a run's jobs."""

    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            kept = [(name, value) for name, value in message["headers"] if name.lower() != b"content-length"]
            message = {**message, "headers": kept}
        elif message["type"] == "http.response.body":
            body = message.get("body", b"").replace(b"https://api.github.com", API_URL.encode())
            message = {**message, "body": body}
        await send(message)

    return sent


def logs(_: Request) -> Response:
    """The archive of a run's logs, one file a step."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for step in example("job")["steps"]:
            text = FAILED_LOG if step["name"] == FAILED_STEP else "nothing\n"
            archive.writestr(f"build/{step['number']}_{step['name']}.txt", text)
    return Response(data.getvalue(), media_type="application/zip")


@asynccontextmanager
async def gh_github() -> AsyncIterator[tuple[str, Recorder]]:
    """The proxy's address, and what was asked."""
    recorder = Recorder()
    repo = "/repos/{owner}/{name}/actions"
    app = Starlette(
        routes=[
            Route(f"{repo}/runs/{{number:int}}/logs", logs),
            Route(f"{repo}/workflows", lambda _: JSONResponse({"total_count": 1, "workflows": [WORKFLOW]})),
            Route(f"{repo}/workflows/{{number:int}}", lambda _: JSONResponse(WORKFLOW)),
            Mount("/", github_app(recorder)),
        ]
    )
    async with running(AsProxy(app)) as url:
        yield url, recorder
