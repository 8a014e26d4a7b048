"""The tools `read_tool_output` and `recall`, which read what was left out of a request.

Both read the calling conversation only: its thread's artifacts and messages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from langchain.tools import ToolRuntime
from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool
from pydantic import Field

from utils.context.compaction import Compaction, cut_of
from utils.context.grep import grep_lines
from utils.context.rendering import render
from utils.context.search import bm25, passages_of
from utils.messages.media.stored import stored_block
from utils.messages.repair import repair
from utils.messages.repeatable import READ_ONLY
from utils.messages.tool_patterns import patterned
from utils.messages.transcript import with_ids

if TYPE_CHECKING:
    from utils.context.protocols import ArtifactStore, TokenCounter

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
"""Example requests of users, for a model that selects tools by similarity."""

PAGE = 6_000
"""Most characters that one call reads; well below the size at which results are truncated."""

_FOUND = 4_200
"""Most characters that `recall` returns: six passages of prose, or about forty short results."""

_LATE = 0.2
_SAMPLED = 40
_LEAST = 800
"""Characters that a call returns in any window: the longest passage."""


@dataclass(frozen=True, slots=True)
class Room:
    """How much one call may return in a small window: a page of Chinese has three times the tokens of an English one.

    Attributes:
        tokens: Most tokens.
        counter: Counts them.
    """

    tokens: int
    counter: TokenCounter

    def characters(self, sample: str, most: int) -> int:
        """Most characters of texts like `sample`, never more than `most`."""
        part = sample[:most]
        cost = max(1, self.counter.text(part))
        return min(most, max(_LEAST, len(part) * self.tokens // cost))


def context_tools(store: ArtifactStore, room: Room | None = None) -> list[BaseTool]:
    """The two tools for a store; without `room`, only the number of characters limits what a call returns."""

    def fitting(sample: str, most: int) -> int:
        return room.characters(sample, most) if room else most

    async def read_tool_output(
        handle: Annotated[str, Field(description="The handle, such as art_0123456789ab.")],
        runtime: ToolRuntime[Any, Any],
        offset: Annotated[int, Field(description="Character to begin at.", ge=0)] = 0,
        grep: Annotated[
            str,
            Field(description="Show only places with this text, or one of several separated by |."),
        ] = "",
    ) -> str | list[dict[str, Any]]:
        """Read what is stored under a handle: a tool output, a part of the conversation that was cut out, a picture or a file."""
        text = await store.get(scope_of(runtime.config), handle)
        if text is None:
            return f"There is no stored text {handle} in this conversation."
        if block := stored_block(handle, text):
            return [{"type": "text", "text": f"{handle}:"}, block]
        page = fitting(text[offset : offset + PAGE], PAGE)
        if not grep:
            return page_of(text, offset, page)
        return await asyncio.to_thread(grep_lines, text, grep, page, offset)

    async def recall(
        query: Annotated[str, Field(description="Words to search for.")], runtime: ToolRuntime[Any, Any]
    ) -> str:
        """Search the earlier part of this conversation that is no longer shown."""
        state: Any = runtime.state
        messages, compaction = state.get("messages", ()), Compaction.from_state(state.get("compaction"))
        return await asyncio.to_thread(_recalled, query, messages, compaction, fitting)

    return [_tool(read_tool_output), _tool(recall)]


def _tool(run: Callable[..., Any]) -> BaseTool:
    return patterned(run, metadata={"examples": list(_EXAMPLES[run.__name__]), READ_ONLY: True})


def scope_of(config: Any) -> str:
    """The artifact store's scope for a run: the id of its thread."""
    return str((config or {}).get("configurable", {}).get("thread_id", ""))


def page_of(text: str, offset: int, page: int = PAGE) -> str:
    """One page of a text, with a last line about its position."""
    part = text[offset : offset + page]
    end = offset + len(part)
    if end < len(text):
        return f"{part}\n[characters {offset:,} to {end:,} of {len(text):,}; go on with offset={end}]"
    return (
        f"{part}\n[the end, {len(text):,} characters]" if part else f"[the text has {len(text):,} characters]"
    )


def hidden(messages: Sequence[BaseMessage], compaction: Compaction) -> list[BaseMessage]:
    """Messages that are left out of requests or shown with other content."""
    history = repair(with_ids(messages)).history
    cut = cut_of(history, compaction)
    return [
        message for place, message in enumerate(history) if place < cut or message.id in compaction.replaced
    ]


def _recalled(
    query: str, messages: Sequence[BaseMessage], compaction: Compaction, fitting: Callable[[str, int], int]
) -> str:
    return found_text(query, hidden(messages, compaction), fitting)


def found_text(
    query: str, messages: Sequence[BaseMessage], fitting: Callable[[str, int], int] = lambda _, most: most
) -> str:
    """The passages that match a query best, as many as fit, in the conversation's order.

    Later passages get a higher weight: "the order" usually means the last one.

    Args:
        query: Words to search for.
        messages: Where to search.
        fitting: How many characters may be returned of texts like this one, of at most so many.
    """
    passages = [passage for message in messages for passage in passages_of(render(message))]
    hits = bm25(query, passages, len(passages))
    late = {hit.place: hit.score * (1 + _LATE * hit.place / len(passages)) for hit in hits}
    best = sorted(late, key=lambda place: -late[place])
    chosen, room = list[int](), fitting("\n\n".join(passages[place] for place in best[:_SAMPLED]), _FOUND)
    for place in best:
        if len(passages[place]) <= room:
            chosen.append(place)
            room -= len(passages[place]) + 2
    if not chosen:
        return "Nothing earlier in this conversation matches."
    return "\n\n".join(passages[place] for place in sorted(chosen))
