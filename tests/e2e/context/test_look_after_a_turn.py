"""After an answer a conversation is read again where it may need a compaction, and not where it has room."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from tests.e2e.context.test_check_before_a_turn import LONG, Talker, runtime, say


class CountedSaver(InMemorySaver):
    """Counts how often a conversation is read."""

    reads = 0

    async def aget_tuple(self, config: Any) -> Any:
        self.reads += 1
        return await super().aget_tuple(config)


async def reads_after(home: Path, turns: int, **environ: str) -> list[int]:
    """How often the conversation was read after each of its answers."""
    saver = CountedSaver()
    agent = Talker(runtime(home, saver, **environ))
    found = []
    for number in range(turns):
        await say(agent, f"Question {number}? {LONG}", number)
        before = saver.reads
        await asyncio.gather(*agent._after._tasks)
        found.append(saver.reads - before)
    return found


async def test_a_conversation_with_room_is_not_read_again_after_its_answers(tmp_path: Path) -> None:
    assert await reads_after(tmp_path, 4, MAX_CONTEXT_TOKENS="128000") == [0, 0, 0, 0]


async def test_a_conversation_that_may_soon_be_too_long_is_read_again(tmp_path: Path) -> None:
    found = await reads_after(tmp_path, 12, MAX_CONTEXT_TOKENS="8000")
    assert not found[0]
    assert all(found[-4:])
