"""The tools that read back what was left out of a request: `read_tool_output` and `recall`.

Both read the calling conversation only: its own thread's artifacts, its own messages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from langchain.tools import ToolRuntime
from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool, tool
from pydantic import Field

from utils.context.compaction import Compaction, cut_of
from utils.context.grep import grep_lines
from utils.context.rendering import render
from utils.context.search import bm25, passages_of
from utils.messages.repair import repair
from utils.messages.transcript import split_system, with_ids

if TYPE_CHECKING:
    from utils.context.protocols import ArtifactStore

READ_TOOL_OUTPUT = "read_tool_output"
RECALL = "recall"
TOOL_NAMES = frozenset({READ_TOOL_OUTPUT, RECALL})

_EXAMPLES = {
    READ_TOOL_OUTPUT: (
        "Read the stored text art_0123456789ab",
        "Show art_0123456789ab from character 6000",
    ),
    RECALL: (
        "Recall what we said about the budget",
        "What did I say earlier about the cluster?",
        "Search the earlier part of this conversation for the name",
    ),
}
"""Requests in users' words, for a model that chooses by likeness."""

PAGE = 6_000
"""Characters that one call reads at most: well under the size at which results are cut."""

_FOUND = 4_200
"""Characters of what is found: six passages of prose, or some forty short results."""

_LATE = 0.2


def context_tools(store: ArtifactStore) -> list[BaseTool]:
    """The two tools over a store."""

    @tool(READ_TOOL_OUTPUT)
    async def read_tool_output(
        handle: Annotated[str, Field(description="The handle, such as art_0123456789ab.")],
        runtime: ToolRuntime[Any, Any],
        offset: Annotated[int, Field(description="Character to begin at.", ge=0)] = 0,
        grep: Annotated[
            str,
            Field(description="Show only places with this text, or one of several separated by |."),
        ] = "",
    ) -> str:
        """Read a stored text by its handle: a tool output or a part of the conversation that was cut out."""
        text = await store.get(scope_of(runtime.config), handle)
        if text is None:
            return f"There is no stored text {handle} in this conversation."
        if not grep:
            return page_of(text, offset)
        return await asyncio.to_thread(grep_lines, text, grep, PAGE, offset)

    @tool(RECALL)
    async def recall(
        query: Annotated[str, Field(description="Words to search for.")], runtime: ToolRuntime[Any, Any]
    ) -> str:
        """Search the earlier part of this conversation that is no longer shown."""
        state: Any = runtime.state
        messages, compaction = state.get("messages", ()), Compaction.from_state(state.get("compaction"))
        return found_text(query, hidden(messages, compaction))

    for made in (read_tool_output, recall):
        made.metadata = {"examples": list(_EXAMPLES[made.name])}
    return [read_tool_output, recall]


def scope_of(config: Any) -> str:
    """The conversation that a run belongs to, as the artifact store knows it."""
    return str((config or {}).get("configurable", {}).get("thread_id", ""))


def page_of(text: str, offset: int) -> str:
    """A page of a text, saying what comes before and after."""
    part = text[offset : offset + PAGE]
    end = offset + len(part)
    if end < len(text):
        return f"{part}\n[characters {offset:,} to {end:,} of {len(text):,}; go on with offset={end}]"
    return (
        f"{part}\n[the end, {len(text):,} characters]" if part else f"[the text has {len(text):,} characters]"
    )


def hidden(messages: Sequence[BaseMessage], compaction: Compaction) -> list[BaseMessage]:
    """Messages that are left out of the view or shown in another form."""
    _, talk = split_system(repair(with_ids(messages)).messages)
    cut = cut_of(talk, compaction)
    return [message for place, message in enumerate(talk) if place < cut or message.id in compaction.replaced]


def found_text(query: str, messages: Sequence[BaseMessage]) -> str:
    """The passages of messages that answer a query best, as many as a page has room for, in their order.

    Of two that answer alike the later one comes first: "the order" is most often the last one.
    """
    passages = [passage for message in messages for passage in passages_of(render(message))]
    hits = bm25(query, passages, len(passages))
    late = {hit.place: hit.score * (1 + _LATE * hit.place / len(passages)) for hit in hits}
    chosen, room = list[int](), _FOUND
    for place in sorted(late, key=lambda place: -late[place]):
        if len(passages[place]) <= room:
            chosen.append(place)
            room -= len(passages[place]) + 2
    if not chosen:
        return "Nothing earlier in this conversation matches."
    return "\n\n".join(passages[place] for place in sorted(chosen))
