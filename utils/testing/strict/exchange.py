"""One HTTP request to the strict provider, and the ways to answer or fail it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from utils.testing.strict import anthropic_wire, bedrock_wire, gemini_wire, openai_wire, responses_wire
from utils.testing.strict.conversation import Api, ChatRequest, Rejection, Reply, Wire
from utils.testing.strict.faults import Fault, FaultKind, refusal

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_WIRES: Mapping[Api, Any] = {
    Api.OPENAI: openai_wire,
    Api.BEDROCK: bedrock_wire,
    Api.ANTHROPIC: anthropic_wire,
    Api.GEMINI: gemini_wire,
    Api.RESPONSES: responses_wire,
}
_NOTHING = frozenset({FaultKind.EMPTY, FaultKind.NULL_CHOICES})
_GATEWAY_PAGE = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"


@dataclass(frozen=True)
class ModelTarget:
    """Which API and model a path asks for."""

    api: Api
    model: str | None
    stream: bool


@dataclass(frozen=True)
class Exchange:
    """One HTTP request and the ways to answer it."""

    target: ModelTarget
    headers: Mapping[bytes, bytes]
    receive: Receive
    send: Send

    @property
    def wire(self) -> Any:
        """The module that writes the answers of this API."""
        return _WIRES[self.target.api]

    async def refuse(self, rejection: Rejection, retry_after: float | None = None) -> None:
        """Answer with the provider's error for a rejection."""
        headers = [(b"x-request-id", b"req_double")]
        body = self.wire.refusal_body(rejection)
        if self.target.api is Api.BEDROCK:
            headers = [*_amazon_headers(), (b"x-amzn-errortype", (rejection.code or "").encode())]
        if retry_after is not None:
            headers.append((b"retry-after", f"{retry_after:g}".encode()))
        await send_json(self.send, rejection.status, body, headers)

    async def refuse_for(self, fault: Fault) -> None:
        """Answer with the provider's error for a fault."""
        if fault.kind is FaultKind.GATEWAY_PAGE:
            await _start(self.send, 502, b"text/html")
            await _body(self.send, _GATEWAY_PAGE)
            return
        rejection = fault.rejection or refusal(self.target.api, fault.kind)
        await self.refuse(rejection, fault.retry_after)

    async def answer(self, request: ChatRequest, reply: Reply) -> None:
        """Answer as requested: in one response or streamed."""
        if not request.stream:
            await send_json(self.send, 200, self.wire.answer_body(request, reply), _amazon_headers())
            return
        await _start(self.send, 200, self.wire.CONTENT_TYPE, _amazon_headers())
        await _stream(self.send, self.wire.events(request, reply))

    async def send_bytes(self, wire: Wire) -> None:
        """Answer with the bytes of another server."""
        headers = [(name.encode(), value.encode()) for name, value in wire.headers.items()]
        await _start(self.send, wire.status, wire.content_type.encode() or self.wire.CONTENT_TYPE, headers)
        for part in wire.parts:
            await _body(self.send, part, more=True)
        if wire.open_end:
            await self._until_client_leaves()
        else:
            await _body(self.send, b"")

    async def spoil(self, request: ChatRequest, fault: Fault) -> None:
        """Begin an answer of status 200 and let it go wrong."""
        if not request.stream:
            await self._spoil_whole(request, fault)
            return
        await _start(self.send, 200, self.wire.CONTENT_TYPE)
        if fault.kind in _NOTHING:
            await _body(self.send, self.wire.end())
            return
        await _body(self.send, self.wire.opening(request, fault.text), more=True)
        if fault.kind is FaultKind.ERROR_EVENT:
            await _body(self.send, self.wire.error_event())
        elif fault.kind is FaultKind.ENDED:
            await _body(self.send, b"")
        elif fault.kind is FaultKind.STALL:
            await self._until_client_leaves()

    async def _spoil_whole(self, request: ChatRequest, fault: Fault) -> None:
        if fault.kind is FaultKind.NULL_CHOICES and self.target.api is Api.OPENAI:
            await send_json(self.send, 200, openai_wire.answer_body(request, Reply()) | {"choices": None})
        elif fault.kind in _NOTHING:
            await self.answer(request, Reply())
        elif fault.kind is FaultKind.STALL:
            await self._until_client_leaves()
        elif fault.kind is FaultKind.ERROR_EVENT:
            await self.refuse(refusal(self.target.api, FaultKind.SERVER_ERROR))
        elif fault.kind is FaultKind.ENDED:
            await _start(self.send, 200, b"application/json")
            await _body(self.send, b'{"id": "')
        else:
            await _start(self.send, 200, b"application/json", [(b"content-length", b"1000")])
            await _body(self.send, b'{"id": "', more=True)

    async def _until_client_leaves(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            continue


def _amazon_headers() -> list[tuple[bytes, bytes]]:
    return [(b"x-amzn-requestid", str(uuid.uuid4()).encode())]


async def send_json(
    send: Send, status: int, value: Mapping[str, Any], headers: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    """Answer with JSON."""
    await _start(send, status, b"application/json", headers)
    await _body(send, json.dumps(value).encode())


async def _start(
    send: Send, status: int, content_type: bytes, headers: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    all_headers = [(b"content-type", content_type), *headers]
    await send({"type": "http.response.start", "status": status, "headers": all_headers})


async def _body(send: Send, body: bytes, *, more: bool = False) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})


async def _stream(send: Send, parts: Iterable[bytes]) -> None:
    for part in parts:
        await _body(send, part, more=True)
    await _body(send, b"")
