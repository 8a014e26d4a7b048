"""Makes the supervisor's long-term memory from its runtime."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from utils.memory.settings import MemorySettings
from utils.persistence.compaction import compact
from utils.persistence.files import StoreFile

if TYPE_CHECKING:
    from utils.a2a_common.graph.runtime import AgentRuntime
    from utils.memory.long_term import LongTermMemory

_FILE = StoreFile.MEMORIES


async def long_term_memory(runtime: AgentRuntime, settings: MemorySettings) -> LongTermMemory | None:
    """The memory, not yet open; `None` if it is off and has no earlier data.

    Memories from the time when it was on can be listed and forgotten when it is off, and are deleted with their conversation.
    """
    kept = runtime.database is not None or await asyncio.to_thread((runtime.home / _FILE).exists)
    if not settings.on and not kept:
        return None
    from utils.embeddings.cache import unstored
    from utils.memory.long_term import LongTermMemory, nothing_to_wipe
    from utils.memory.store import LongTermStore

    memories = runtime.stores.memories()
    in_file = runtime.database is None and isinstance(runtime.folder, Path)
    wipe = partial(compact, runtime.home / _FILE) if in_file else nothing_to_wipe
    return LongTermMemory(memories, LongTermStore(memories, unstored(runtime.embedder)), settings, wipe)
