"""Finds the id of a JSON-RPC request whose caller is refused before the body is parsed."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.types import Receive, Scope

from utils.a2a_common.protocol.json_body import BadJson, parse
from utils.a2a_common.server.http.answers import is_json_rpc, note_rpc_id

SMALL = 65_536
"""Bytes of the largest body that is read for its id: no more than uvicorn buffers of an unread body."""

SECONDS = 5.0
"""Longest wait for it: a stranger who sends slowly is answered without."""


async def read_rpc_id(scope: Scope, receive: Receive) -> None:
    """Note the id of a JSON-RPC request, for the refusal that follows. A body that is large, late or no JSON leaves it unknown."""
    length = Headers(scope=scope).get("content-length", "")
    if not is_json_rpc(scope) or not length.isdecimal() or int(length[:20]) > SMALL:
        return
    with suppress(TimeoutError, BadJson):
        async with asyncio.timeout(SECONDS):
            body = await _body(receive)
        note_rpc_id(scope, parse(body))


async def _body(receive: Receive) -> bytes:
    """The body as far as it came."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body
