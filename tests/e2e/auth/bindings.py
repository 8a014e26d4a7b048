"""One message over JSON-RPC, HTTP+JSON, as a stream and over gRPC, with whatever credentials: how it was answered."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import grpc
import grpc.aio
import httpx
from a2a.types import a2a_pb2 as pb
from a2a.types import a2a_pb2_grpc
from google.protobuf import json_format

from tests.e2e.auth.cases import Sent

BINDINGS = ("JSON-RPC", "REST", "SSE", "gRPC")
_GRPC = {
    grpc.StatusCode.UNAUTHENTICATED: 401,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.UNAVAILABLE: 503,
}


@dataclass(frozen=True)
class Answered:
    """How a request was answered: as HTTP has it, also where it went over gRPC."""

    status: int
    body: str
    challenge: str = ""


@dataclass(frozen=True)
class Door:
    """An agent that listens over HTTP and gRPC."""

    agent: str
    url: str
    grpc_port: int

    async def knock(self, binding: str, sent: Sent, http: httpx.AsyncClient) -> Answered:
        """Send "Hello." with these credentials."""
        message = {"messageId": str(uuid4()), "role": "ROLE_USER", "parts": [{"text": "Hello."}]}
        params = {"message": message, **sent.fields}
        if binding == "gRPC":
            return await self._over_grpc(params, sent)
        if binding == "REST":
            return await self._over_http(f"{self.url}/rest/message:send", params, sent, http)
        method = "SendMessage" if binding == "JSON-RPC" else "SendStreamingMessage"
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return await self._over_http(f"{self.url}/", body, sent, http)

    async def _over_http(self, url: str, body: Any, sent: Sent, http: httpx.AsyncClient) -> Answered:
        headers = [(b"a2a-version", b"1.0"), (b"content-type", b"application/json")]
        headers += [(name.encode(), value.encode("latin-1")) for name, value in sent.headers]
        answer = await http.post(
            f"{url}?{sent.query}" if sent.query else url, content=json.dumps(body), headers=headers
        )
        return Answered(answer.status_code, answer.text, answer.headers.get("www-authenticate", ""))

    async def _over_grpc(self, params: Any, sent: Sent) -> Answered:
        request = json_format.ParseDict(params, pb.SendMessageRequest())
        metadata = (("a2a-version", "1.0"), *sent.headers)
        async with grpc.aio.insecure_channel(f"127.0.0.1:{self.grpc_port}") as channel:
            try:
                answer = await a2a_pb2_grpc.A2AServiceStub(channel).SendMessage(
                    request, metadata=metadata, timeout=60
                )
            except grpc.aio.AioRpcError as error:
                return Answered(_GRPC.get(error.code(), 500), str(error.details()))
        return Answered(200, str(answer))
