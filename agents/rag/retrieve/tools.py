"""The tools of the RAG agent: search, fetch_document, list_sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from langchain.tools import ToolRuntime
from langchain_core.tools import BaseTool
from pydantic import Field

from agents.rag.retrieve.examples import FETCH_DOCUMENT, LIST_SOURCES, SEARCH
from agents.rag.retrieve.library import Library
from agents.rag.retrieve.limit import searches_before
from agents.rag.settings import RagSettings
from utils.a2a_common.graph.tools.plain_tool import PlainTool
from utils.a2a_common.protocol.request import AgentRequest
from utils.messages.repeatable import READ_ONLY
from utils.messages.results import Articles, Result
from utils.messages.tool_patterns import patterned

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_ENOUGH = (
    "You have searched {count} times for this request, which is the limit. "
    "Answer with what you have, and say what you did not find."
)

Query = Annotated[str, Field(description="The question in full, or keywords.", min_length=1, max_length=2000)]
Limit = Annotated[int | None, Field(description="How many passages at most.", ge=1, le=50)]
Source = Annotated[
    str,
    Field(description="A source as search or list_sources names it, with or without #anchor.", min_length=1),
]


def build_tools(library: Library, settings: RagSettings) -> list[BaseTool]:
    """The tools, on one library. Each result is the JSON of `utils.messages.results`."""

    async def search(query: Query, runtime: ToolRuntime[AgentRequest], limit: Limit = None) -> Articles:
        had = searches_before(runtime.state["messages"], "search", runtime.tool_call_id)
        if had >= settings.max_searches:
            return Articles(articles=[], note=_ENOUGH.format(count=had))
        return await library.search(query, limit or settings.search_limit)

    async def fetch_document(source: Source) -> Result:
        return await library.document(source)

    async def list_sources() -> Result:
        return await library.sources()

    return [
        _tool(search, "Search the documents by meaning and by words.", SEARCH),
        _tool(fetch_document, "Read a whole document, or one section of it, by its source.", FETCH_DOCUMENT),
        _tool(list_sources, "List the documents that can be searched.", LIST_SOURCES),
    ]


def _tool(run: Callable[..., Awaitable[Result]], description: str, examples: tuple[str, ...]) -> BaseTool:
    metadata = {"examples": list(examples), READ_ONLY: True}
    return patterned(run, description=description, kind=PlainTool, metadata=metadata)
