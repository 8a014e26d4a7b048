"""The agent of the table: it writes down each line that its tool is given, so that a row sees what was run."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.tools import BaseTool, tool

from utils.a2a_common import BaseLangGraphAgent

WRITTEN: list[str] = []


class Scribe(BaseLangGraphAgent):
    """Writes lines."""

    name = "scribe"
    description = "Writes lines."

    async def tools(self) -> Sequence[BaseTool]:
        @tool
        async def write(line: str, times: int = 1) -> str:
            """Writes a line."""
            WRITTEN.extend([line] * times)
            return f"wrote {line}"

        @tool
        async def now() -> str:
            """Tells the time."""
            WRITTEN.append("now")
            return "noon"

        return [write, now]
