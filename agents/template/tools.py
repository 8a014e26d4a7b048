"""The tools of the template agent."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field

from utils.errors import UpstreamUnavailable
from utils.messages.results import Items, dump_result

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

EXAMPLES = (
    "List the template entries",
    "What is open in template?",
    "Show me everything that template has",
    "Which template entries are done?",
    "How many entries are there in template?",
)
"""Requests in users' words, for the card and the tool: models choose tools by them."""


class ListEntries(BaseModel):
    """Which entries to list."""

    state: Literal["open", "done", "all"] = Field("all", description="Only entries in this state.")
    limit: int = Field(20, ge=1, le=100, description="Most entries to list.")


def list_entries(file: Path) -> BaseTool:
    """The tool that lists the entries of `file`."""
    from langchain_core.tools import StructuredTool

    async def run(state: str = "all", limit: int = 20) -> str:
        entries = await asyncio.to_thread(read_entries, file)
        found = [entry for entry in entries if state in ("all", entry["state"])]
        return dump_result(Items(kind="entries", items=found[:limit], total=len(found)))

    return StructuredTool.from_function(
        coroutine=run,
        name="list_entries",
        description="List entries with their state, newest first.",
        args_schema=ListEntries,
        metadata={"examples": list(EXAMPLES)},
    )


def read_entries(file: Path) -> list[dict[str, Any]]:
    """The entries of a file.

    Raises:
        UpstreamUnavailable: The file cannot be read.
    """
    try:
        entries: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UpstreamUnavailable("The entries cannot be read right now.") from error
    return entries
