"""The RAG agent: answers from ingested documents, with sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from agents.rag.index.opening import index_in
from agents.rag.retrieve.examples import FETCH_DOCUMENT, LIST_SOURCES, SEARCH
from agents.rag.settings import RagSettings
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.protocol.readiness import Readiness
from utils.a2a_common.protocol.skill import Skill

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from agents.rag.index.contract import DocumentIndex
    from agents.rag.startup import StartupIngestion
    from utils.a2a_common.graph.tools.agent_tool import AgentTool

log = structlog.get_logger(__name__)

_PROMPT = (Path(__file__).parent / "prompts" / "system.md").read_text("utf-8")


class RagAgent(BaseLangGraphAgent):
    """Searches, reads and lists documents."""

    name = "rag"
    description = (
        "Answers questions from the documentation and other ingested documents, with sources: how-to, "
        "concepts, settings, architecture, decisions, runbooks."
    )
    skills = (
        Skill("search", "Search documents", "Answers a question from the documents.", SEARCH, ("docs",)),
        Skill("fetch_document", "Read a document", "Shows a document in full.", FETCH_DOCUMENT, ("docs",)),
        Skill("list_sources", "List documents", "Lists what can be searched.", LIST_SOURCES, ("docs",)),
    )

    own_tables = Path(__file__).parent / "tables"

    def __init__(self, runtime: AgentRuntime) -> None:
        super().__init__(runtime)
        self._settings = RagSettings.load(runtime.environ)
        self._index: DocumentIndex = index_in(runtime.home, runtime.database)
        self._ingestion: StartupIngestion | None = None

    def system_prompt(self) -> str:
        """The text of `prompts/system.md`."""
        return _PROMPT

    async def tools(self) -> Sequence[BaseTool | AgentTool]:
        """The three tools, on the index, and those that a subclass marks with `@agent_tool`."""
        from agents.rag.retrieve.library import Library
        from agents.rag.retrieve.tools import build_tools

        library = Library(self._index, self.runtime.embedder, self._missing, self._words_only)
        return [*await super().tools(), *build_tools(library, self._settings)]

    async def start(self) -> None:
        """Open the index and begin to ingest the configured sources."""
        from agents.rag.startup import StartupIngestion

        await self._index.open()
        if self.runtime.embedder is None:
            log.warning("rag.no_embedder", effect="documents are searched by words only")
        targets = self._settings.targets()
        self._ingestion = StartupIngestion(self._index, self._settings, self.runtime.embedder, targets)
        self._ingestion.start()

    async def stop(self) -> None:
        """End an ingestion that still runs."""
        if self._ingestion is not None:
            await self._ingestion.stop()

    async def readiness(self) -> Readiness:
        """Ready once every document was read; passages may still be embedded then, which it says."""
        if self._ingestion is None:
            return Readiness(ready=False, detail="not started")
        doing = self._ingestion.detail
        if self._ingestion.ready:
            return Readiness(ready=True, busy=doing)
        return Readiness(ready=False, detail=doing, busy=doing if self._ingestion.works else "")

    def _missing(self) -> str:
        return self._ingestion.missing if self._ingestion is not None else ""

    def _words_only(self) -> str:
        return self._ingestion.words_only if self._ingestion is not None else ""
