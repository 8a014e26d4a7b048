"""The three bindings of a server as a client sees them: each answers as JSON-RPC does, with a result or an error."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Protocol

import httpx

HEADERS = {"A2A-Version": "1.0"}
JSONRPC, REST, GRPC = "jsonrpc", "http+json", "grpc"
BINDINGS = (JSONRPC, REST, GRPC)
_INTERNAL = -32603
_RETRY_AFTER = "retry-after"
_WHOLE_ANSWER = {"SendMessage", "GetTask"}


class ComeAgain(Exception):
    """The server takes no request now."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Door(Protocol):
    """One binding of one server. A broken connection is an `httpx.TransportError`."""

    def events(self, method: str, params: Any) -> AsyncGenerator[Any, None]:
        """The answers of a stream, one JSON-RPC response each.

        Raises:
            ComeAgain: The server takes no request now.
        """


async def whole(door: Door, method: str, params: Any) -> Any:
    """The whole answer to one call."""
    async with aclosing(door.events(method, params)) as answers:
        async for answer in answers:
            return answer
    raise httpx.RemoteProtocolError("no answer")


class RpcDoor:
    """JSON-RPC."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http = http
        self._url = url

    async def events(self, method: str, params: Any) -> AsyncGenerator[Any, None]:
        """See `Door`."""
        async with self._http.stream(
            "POST", f"{self._url}/", json=body(method, params), headers=HEADERS
        ) as answer:
            async for each in _answers(answer):
                yield each


async def call(http: httpx.AsyncClient, url: str, method: str, params: Any) -> Any:
    """The whole answer to one call of JSON-RPC."""
    return await whole(RpcDoor(http, url), method, params)


class RestDoor:
    """HTTP+JSON."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http = http
        self._url = f"{url}/rest"

    async def events(self, method: str, params: Any) -> AsyncGenerator[Any, None]:
        """See `Door`."""
        verb, path = {
            "SendMessage": ("POST", "/message:send"),
            "SendStreamingMessage": ("POST", "/message:stream"),
            "SubscribeToTask": ("POST", f"/tasks/{params.get('id')}:subscribe"),
            "GetTask": ("GET", f"/tasks/{params.get('id')}"),
        }[method]
        content = params if "message" in params else None
        async with self._http.stream(verb, f"{self._url}{path}", json=content, headers=HEADERS) as answer:
            async for each in _answers(answer):
                yield _as_rpc(each)


class GrpcDoor:
    """gRPC, each call over a connection of its own, since servers die under them."""

    def __init__(self, target: str) -> None:
        self._target = target

    async def events(self, method: str, params: Any) -> AsyncGenerator[Any, None]:
        """See `Door`."""
        import grpc.aio
        from a2a.types import a2a_pb2, a2a_pb2_grpc
        from google.protobuf.json_format import MessageToDict, ParseDict

        kind = "SendMessage" if "message" in params else method
        request = ParseDict(params, getattr(a2a_pb2, f"{kind}Request")())
        metadata = tuple((name.lower(), value) for name, value in HEADERS.items())
        try:
            async with grpc.aio.insecure_channel(self._target) as channel:
                call = getattr(a2a_pb2_grpc.A2AServiceStub(channel), method)(request, metadata=metadata)
                if method in _WHOLE_ANSWER:
                    yield {"result": MessageToDict(await call)}
                    return
                async for event in call:
                    yield {"result": MessageToDict(event)}
        except grpc.aio.AioRpcError as error:
            yield _refused(error)


def _refused(error: Any) -> Any:
    """The error of a gRPC call as one of JSON-RPC.

    Raises:
        ComeAgain: The server takes no request now.
        httpx.ReadError: It is gone.
    """
    import grpc

    busy = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED)
    told = dict(error.trailing_metadata() or ())
    if error.code() in busy and _RETRY_AFTER in told:
        raise ComeAgain(float(told[_RETRY_AFTER])) from error
    if error.code() in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}:
        raise httpx.ReadError(str(error.details())) from error
    return {"error": {"code": _INTERNAL, "message": f"{error.code().name}: {error.details()}"}}


def _as_rpc(answer: Any) -> Any:
    if "error" not in answer:
        return {"result": answer}
    return {"error": {"code": _INTERNAL, "message": str(answer["error"].get("message"))}}


async def _answers(answer: httpx.Response) -> AsyncGenerator[Any, None]:
    """The JSON values of a response: of each event, or of its body."""
    if answer.status_code == httpx.codes.SERVICE_UNAVAILABLE:
        raise ComeAgain(float(answer.headers.get(_RETRY_AFTER, "1")))
    if not answer.headers.get("content-type", "").startswith("text/event-stream"):
        yield json.loads(await answer.aread())
        return
    async for line in answer.aiter_lines():
        if line.startswith("data:"):
            yield json.loads(line[5:])


def body(method: str, params: Any) -> Any:
    """A JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
