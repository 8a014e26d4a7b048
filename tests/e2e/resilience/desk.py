"""An agent whose tools go wrong in every way, for the tests of what must not break it.

It also runs as a process of its own: `python -m utils.a2a_common.server.serve tests.e2e.resilience.desk:Desk`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

from langchain_core.tools import BaseTool, tool

from utils.a2a_common import BaseLangGraphAgent
from utils.testing.strict_provider import Call, ChatRequest, Reply

PROVIDERS = ["openai", "openai-compatible", "azure-openai", "aws-bedrock"]
QUICK = {"LLM_TIMEOUT_SECONDS": "20"}


class Desk(BaseLangGraphAgent):
    """Reads notes; one of its tools never returns."""

    name = "desk"
    description = "Reads notes."

    def system_prompt(self) -> str:
        return "Use the tools."

    async def tools(self) -> Sequence[BaseTool]:
        home = self.runtime.home

        @tool
        async def read(note: str) -> str:
            """Reads a note."""
            return f"note {note}"

        @tool
        async def long_read(words: int) -> str:
            """Reads a long note."""
            return " ".join(f"word{index}" for index in range(words))

        @tool
        async def hang(note: str) -> str:
            """Never returns. Says that it has begun by a file."""
            await asyncio.to_thread((home / f"hangs-{note}").touch)
            await asyncio.Event().wait()
            return ""

        return [read, long_read, hang]


class BlockedDesk(Desk):
    """The same, whose tool that never returns blocks a thread."""

    async def tools(self) -> Sequence[BaseTool]:
        home = self.runtime.home

        @tool
        def hang(note: str) -> str:
            """Never returns. Says that it has begun by a file."""
            (home / f"hangs-{note}").touch()
            threading.Event().wait()
            return ""

        read, long_read, _ = await super().tools()
        return [read, long_read, hang]


async def until_exists(path: Path, seconds: float = 60) -> None:
    async with asyncio.timeout(seconds):
        while not await asyncio.to_thread(path.exists):
            await asyncio.sleep(0.01)


def by_request(request: ChatRequest) -> Reply:
    """A brain that does what the user's last message says: `read a`, `hang b`, `both a b`; else it recalls.

    An answer lists what the user said so far, so that a test sees whether anything was lost.
    """
    last = request.messages[-1]
    if last.role == "tool":
        return Reply(f"The tool said: {last.text[:60]}")
    words = request.last_user_text.split()
    calls = {
        "read": [Call("c1", "read", {"note": words[-1]})],
        "long": [Call("c1", "long_read", {"words": int(words[-1]) if words[-1].isdigit() else 10})],
        "hang": [Call("c1", "hang", {"note": words[-1]})],
        "both": [Call("c1", "read", {"note": words[-1]}), Call("c2", "hang", {"note": words[-1]})],
    }.get(words[0], [])
    if calls:
        return Reply("", calls)
    said = [each.text for each in request.messages if each.role == "user"]
    return Reply(f"You said: {' / '.join(text[:40] for text in said)}")
