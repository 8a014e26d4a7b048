"""Who is canceled at the moment at which what it waits for is there, is canceled: at whichever turn of the event loop that is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain.agents.middleware import ModelResponse
from langchain_core.messages import AIMessage

from utils.a2a_common.client.delegation.progress import heartbeat
from utils.a2a_common.graph.model.call import ModelCall

TURNS = range(8)
"""Turns of the event loop within which what was waited for has returned."""

Wait = Callable[[Awaitable[Any]], Awaitable[Any]]


async def a_delegation(there: Awaitable[Any]) -> None:
    async with heartbeat(lambda _: None, lambda _: pytest.fail("nobody waits so long"), 60):
        await there


async def a_model_call(there: Awaitable[Any]) -> None:
    async def answers(_: Any) -> ModelResponse[Any]:
        await there
        return ModelResponse([AIMessage("done")])

    class Runtime:
        def stream_writer(self, event: object) -> None:
            pytest.fail(f"nobody waits so long: {event}")

    class Request:
        model = object()
        runtime = Runtime()

    await ModelCall(60, 60).awrap_model_call(Request(), answers)  # type: ignore[arg-type]


@pytest.mark.parametrize("steps", TURNS)
@pytest.mark.parametrize("wait", [a_delegation, a_model_call])
async def test_a_cancel_as_the_answer_comes_is_not_lost(wait: Wait, steps: int) -> None:
    there, began = asyncio.Event(), asyncio.Event()

    async def turn() -> None:
        began.set()
        await wait(there.wait())
        await asyncio.Event().wait()  # the turn goes on

    task = asyncio.create_task(turn())
    await began.wait()
    there.set()
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    ended, _ = await asyncio.wait([task], timeout=5)
    task.cancel()
    assert ended
    assert task.cancelled()
