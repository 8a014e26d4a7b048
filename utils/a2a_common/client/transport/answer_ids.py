"""Each JSON-RPC answer of an agent is held to the id of its request: the SDK's client takes one with any id.

A response to another request, as from a proxy that mixes up two callers, must not be accepted. HTTP+JSON has no ids.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from utils.a2a_common.client.transport.sentences import SUB_AGENT_ANSWER_WRONG
from utils.errors import ProtocolViolation
from utils.net import sse

COMPLAINT = "carries a different JSON-RPC id than the request"

_ID = re.compile(rb'"id": ?("[0-9a-f-]{36}"), ?"jsonrpc": ?"2\.0"\}$')
"""How the SDK's client ends a request. Found so, the body of a large message is not parsed for it."""

_DATA = "data:"


@dataclass(frozen=True, slots=True)
class AnswerIds:
    """Holds the answers of one agent to the ids of its requests.

    Attributes:
        agent: The name of the agent in the error message.
    """

    agent: str

    async def match(self, response: httpx.Response) -> None:
        """Hold a response whose body was not read yet to the id of its request: the last response hook of an HTTP client."""
        request = response.request
        asked = _id_in(request.content) if isinstance(request.stream, httpx.ByteStream) else b""
        if not asked or not response.is_success:
            return
        assert isinstance(response.stream, httpx.AsyncByteStream)
        streams = sse.MEDIA_TYPE in response.headers.get("content-type", "")
        response.encoding = "utf-8"  # another charset would be decoded differently here and by the client
        response.stream = _Matched(response.stream, asked, self, streams=streams)

    def check(self, answer: bytes, asked: bytes, *, event: bool) -> None:
        """Whether a body or an event answers the request with this id.

        The rest of a body is not parsed for the id: an agent that knows the id gains nothing by writing it elsewhere. A
        body that is not a JSON-RPC response is left to the client, which reports it.

        Raises:
            ProtocolViolation: It answers another one.
        """
        if asked in answer:
            return
        try:
            text = answer.decode()
            response = json.loads(_data_of(text) if event else text)
        except (ValueError, RecursionError):
            return
        if (
            isinstance(response, dict)
            and ("result" in response or "error" in response)
            and not _answers(response, asked)
        ):
            raise ProtocolViolation(SUB_AGENT_ANSWER_WRONG.format(agent=self.agent, complaint=COMPLAINT))


def _id_in(request: bytes) -> bytes:
    """The id of a JSON-RPC request, as JSON; empty for another request."""
    if found := _ID.search(request):
        return found[1]
    if b'"jsonrpc"' not in request:
        return b""
    asked = json.loads(request)
    return json.dumps(asked.get("id")).encode() if isinstance(asked, dict) and "jsonrpc" in asked else b""


def _answers(response: dict[str, Any], asked: bytes) -> bool:
    """Whether it has the id, or is the error of an agent that could not read it."""
    given = response.get("id")
    return given == json.loads(asked) or (given is None and bool(response.get("error")))


def _data_of(event: str) -> str:
    return "\n".join(line[len(_DATA) :] for line in event.splitlines() if line.startswith(_DATA))


class _Matched(httpx.AsyncByteStream):
    """A response body that ends with an error if it answers another request."""

    def __init__(self, inner: httpx.AsyncByteStream, asked: bytes, ids: AnswerIds, *, streams: bool) -> None:
        self._inner, self._asked, self._ids, self._streams = inner, asked, ids, streams

    async def __aiter__(self) -> AsyncIterator[bytes]:
        held, ends = bytearray(), sse.EventEnds()
        async for piece in self._inner:
            before = len(held)
            held += piece
            if self._streams and (ready := self._checked(held, [before + end for end in ends.of(piece)])):
                yield bytes(held[:ready])
                del held[:ready]
        rest = bytes(held)
        if not self._streams:
            self._ids.check(rest, self._asked, event=False)
        yield rest

    def _checked(self, held: bytearray, ends: Sequence[int]) -> int:
        """Check the events in front of `held` that end at these places; the bytes that they take."""
        begin = 0
        for end in ends:
            self._ids.check(bytes(held[begin:end]), self._asked, event=True)
            begin = end
        return begin

    async def aclose(self) -> None:
        """Close the connection's side of the body."""
        await self._inner.aclose()
