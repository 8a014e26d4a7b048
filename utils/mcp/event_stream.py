"""Completes a response that arrives as a stream of events: if the stream ends early, an error response is added."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import httpx

from utils.mcp.http_failure import HttpFailure, as_response, undecoded
from utils.net.bounded import AnswerTooLarge

_RESUMABLE = (b"\nid:", b"\rid:")
_LONGEST_MARK = 4
_ENCODED = frozenset({"content-encoding", "content-length", "transfer-encoding"})


def with_certain_response(response: httpx.Response, number: int | str) -> httpx.Response:
    """The HTTP response, with a JSON-RPC response in any case: the client of MCP waits on if the stream ends without one.

    Args:
        response: The HTTP response, whose events are not read yet.
        number: The ID of the request.
    """
    headers = [(name, value) for name, value in response.headers.multi_items() if name not in _ENCODED]
    return httpx.Response(
        response.status_code,
        headers=headers,
        stream=_CertainResponse(response, number),
        request=response.request,
    )


class _CertainResponse(httpx.AsyncByteStream):
    def __init__(self, response: httpx.Response, number: int | str) -> None:
        self._response = response
        self._number = number

    async def __aiter__(self) -> AsyncIterator[bytes]:
        failure, end, resumable = HttpFailure(), b"\n", False
        try:
            async for part in self._response.aiter_bytes():
                resumable = resumable or any(mark in end + part for mark in _RESUMABLE)
                end = (end + part)[-_LONGEST_MARK:]
                yield part
        except AnswerTooLarge as error:
            failure, resumable = HttpFailure(largest=error.most), False
        except httpx.DecodingError:
            failure = undecoded(self._response.status_code, self._response.headers)
        except httpx.TransportError as error:
            failure = HttpFailure(late=isinstance(error, httpx.ReadTimeout))
        if not resumable:  # if events have IDs, the client requests the rest
            yield b"\n\ndata: " + json.dumps(as_response(self._number, failure)).encode() + b"\n\n"

    async def aclose(self) -> None:
        await self._response.aclose()
