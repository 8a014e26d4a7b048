"""Records the requests to a test server."""

from __future__ import annotations

from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request."""

    path: str
    query: str
    headers: dict[str, str]
    method: str = "GET"
    body: bytes = b""


@dataclass(slots=True)
class Recorder:
    """All requests since it was made or cleared."""

    requests: list[Recorded] = field(default_factory=list)

    def paths(self) -> list[str]:
        """Paths in the order of the requests."""
        return [request.path for request in self.requests]

    def changes(self) -> list[Recorded]:
        """The requests that change something in a repository."""
        return [
            each for each in self.requests if each.method not in {"GET", "HEAD"} and "/repos/" in each.path
        ]


class RecorderMiddleware:
    """Records each HTTP request."""

    def __init__(self, app: ASGIApp, recorder: Recorder) -> None:
        self._app = app
        self._recorder = recorder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Record the request, then pass it on."""
        if scope["type"] == "http":
            body = b"" if scope["method"] in {"GET", "HEAD"} else await _body(receive)
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
            query = scope["query_string"].decode("latin-1")
            self._recorder.requests.append(Recorded(path, query, headers, scope["method"], body))
            if body:
                receive = _again(body)
        await self._app(scope, receive, send)


def _again(body: bytes) -> Receive:
    """What lets the routes read the body too."""

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


async def _body(receive: Receive) -> bytes:
    """The whole body."""
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if not message.get("more_body"):
            return body
