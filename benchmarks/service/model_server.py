"""The double of the model's API in a process of its own: `python -m benchmarks.service.model_server FD`.

FD is a listening socket that the driver keeps open, so that a request that comes while the double is down waits for its
next start, as behind a balancer. A stream of an answer stops in its middle at the gate.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from contextvars import ContextVar
from typing import Any

from benchmarks.service.gate import GateClient
from benchmarks.service.script import Thought, think
from utils.testing.strict_provider import ChatRequest, Fault, Reply, StrictProvider

WINDOW = 128_000
_PIECES_BEFORE = 3
_thought: ContextVar[list[Thought]] = ContextVar("thought")
_asking: ContextVar[str] = ContextVar("asking")


class HeldModel:
    """The strict double, whose streams wait at the gate when some pieces are out."""

    def __init__(self) -> None:
        self._provider = StrictProvider(self._think, window=WINDOW)
        self._gate = GateClient()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        thoughts: list[Thought] = []
        _thought.set(thoughts)
        _asking.set(_process_of(scope))
        pieces = 0

        async def held(message: Any) -> None:
            nonlocal pieces
            await send(message)
            pieces += message["type"] == "http.response.body" and bool(message.get("more_body"))
            reply = thoughts[0].reply if thoughts else None
            if thoughts and thoughts[0].pause_ms and pieces:
                await asyncio.sleep(thoughts[0].pause_ms / 1000)
            if pieces == _PIECES_BEFORE and isinstance(reply, Reply) and reply.chunks:
                pieces += 1
                await self._gate.at(thoughts[0].key, f"{thoughts[0].agent} stream")

        refused = len(self._provider.rejections)
        await self._provider(scope, receive, held)
        for rejected in self._provider.rejections[refused:]:
            await self._gate.note("", "", (f"refused by the provider: {rejected.rule}",))

    async def _think(self, request: ChatRequest) -> Reply | Fault:
        thought = think(request)
        _thought.get().append(thought)
        await self._gate.note(thought.key, thought.agent, thought.remarks, _asking.get())
        return thought.reply


def _process_of(scope: Any) -> str:
    """The process that asks: each shows its name as its key."""
    headers = dict(scope.get("headers", ()))
    return str(headers.get(b"authorization", b"").decode().removeprefix("Bearer "))


async def main(descriptor: int) -> None:
    """Serve until killed."""
    import uvicorn

    listener = socket.socket(fileno=descriptor)
    config = uvicorn.Config(HeldModel(), log_config=None, access_log=False, lifespan="off", ws="none")
    await uvicorn.Server(config).serve([listener])


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
