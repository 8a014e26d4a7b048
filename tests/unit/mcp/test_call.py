"""A result of very many blocks is read in pieces, between which everything else goes on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp import types
from pydantic import BaseModel, ValidationError

from utils.mcp.call import BLOCKS_AT_ONCE, call_tool


class Session:
    """A session whose server answers each call with this content."""

    def __init__(self, content: list[dict[str, Any]]) -> None:
        self.sent = {"content": content, "_meta": {"m": 1}, "structuredContent": {"s": 1}, "isError": True}

    async def send_request(self, request: object, result_type: type[BaseModel]) -> BaseModel:
        return result_type.model_validate(self.sent)


async def called(content: list[dict[str, Any]]) -> tuple[types.CallToolResult, int]:
    """The result, and how often another task could run meanwhile."""
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    running = asyncio.create_task(other())
    try:
        return await call_tool(Session(content), "t", {}), turns  # type: ignore[arg-type]  # has what is used of it
    finally:
        running.cancel()


@pytest.mark.parametrize("count", [0, 1, BLOCKS_AT_ONCE, BLOCKS_AT_ONCE + 1, 10 * BLOCKS_AT_ONCE])
async def test_other_tasks_run_while_a_large_result_is_read_and_all_of_it_is_there(count: int) -> None:
    result, turns = await called([{"type": "text", "text": str(number)} for number in range(count)])
    texts = [block.text for block in result.content if isinstance(block, types.TextContent)]
    assert texts == [str(number) for number in range(count)]
    assert (result.meta, result.structuredContent, result.isError) == ({"m": 1}, {"s": 1}, True)
    assert turns >= (count // BLOCKS_AT_ONCE if count > BLOCKS_AT_ONCE else 0)


async def test_blocks_of_an_unknown_kind_are_refused_at_the_first_piece() -> None:
    with pytest.raises(ValidationError) as raised:
        await called([{"type": "video"}] * 10 * BLOCKS_AT_ONCE)
    assert raised.value.error_count() <= 20 * BLOCKS_AT_ONCE
