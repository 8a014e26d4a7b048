"""Completes a response that arrives as a stream of events: an error response is added if the stream ends early or lasts too long."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx

from utils.mcp.http_failure import HttpFailure, as_response, undecoded
from utils.messages.characters import repaired_json
from utils.net.bounded import AnswerTooLarge

_RESUMABLE = (b"\nid:", b"\rid:")
_LONGEST_MARK = 4
_ENCODED = frozenset({"content-encoding", "content-length", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class Awaited:
    """A request whose response is awaited.

    Attributes:
        number: Its ID.
        due: Until when its response is read, in the loop's time; `None` for no limit.
    """

    number: int | str
    due: float | None = None


def with_certain_response(
    response: httpx.Response, awaited: Awaited, *, resumes: bool = False
) -> httpx.Response:
    """The HTTP response, with a JSON-RPC response in any case: the client of MCP waits on if the stream ends without one.

    Args:
        response: The HTTP response, whose events are not read yet.
        awaited: The request.
        resumes: Whether the stream continues an earlier one. If it ends early, the client requests the rest.
    """
    return httpx.Response(
        response.status_code,
        headers=headers_of(response),
        stream=_CertainResponse(response, awaited, resumes=resumes),
        request=response.request,
    )


def headers_of(response: httpx.Response) -> list[tuple[str, str]]:
    """The headers of a response but those on how its body was sent."""
    return [(name, value) for name, value in response.headers.multi_items() if name not in _ENCODED]


class _CertainResponse(httpx.AsyncByteStream):
    def __init__(self, response: httpx.Response, awaited: Awaited, *, resumes: bool) -> None:
        self._response = response
        self._awaited = awaited
        self._resumable = resumes
        self._end = b"\n"

    async def __aiter__(self) -> AsyncIterator[bytes]:
        failure, lines, parts = HttpFailure(), _Lines(), self._response.aiter_bytes()
        try:
            while part := await self._next(parts):
                if whole := lines.ended_by(part):
                    yield whole
        except AnswerTooLarge as error:
            failure, self._resumable = HttpFailure(largest=error.most), False
        except httpx.DecodingError:
            failure = undecoded(self._response.status_code, self._response.headers)
        except httpx.TransportError as error:
            failure = HttpFailure(late=isinstance(error, httpx.ReadTimeout))
        except TimeoutError:
            failure, self._resumable = HttpFailure(late=True), False
        yield lines.rest()
        if not self._resumable:  # if events have IDs, the client requests the rest
            answer = as_response(self._awaited.number, failure)
            yield b"\n\ndata: " + json.dumps(answer).encode() + b"\n\n"

    async def _next(self, parts: AsyncIterator[bytes]) -> bytes:
        """The next part of the body; empty at its end.

        Raises:
            TimeoutError: The response is no longer awaited.
        """
        async with asyncio.timeout_at(self._awaited.due):
            part = await anext(parts, b"")
        self._resumable = self._resumable or any(mark in self._end + part for mark in _RESUMABLE)
        self._end = (self._end + part)[-_LONGEST_MARK:]
        return part

    async def aclose(self) -> None:
        await self._response.aclose()


class _Lines:
    """Puts the parts of a body together to lines, since a character may be in two parts."""

    def __init__(self) -> None:
        self._held = bytearray()

    def ended_by(self, part: bytes) -> bytes:
        """The lines that end with this part."""
        end = max(part.rfind(b"\n"), part.rfind(b"\r")) + 1
        if not end:
            self._held += part
            return b""
        lines = bytes(self._held) + part[:end]
        self._held[:] = part[end:]
        return repaired_json(lines)

    def rest(self) -> bytes:
        """The line that did not end."""
        return repaired_json(bytes(self._held))
