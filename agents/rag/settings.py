"""Settings of the RAG agent."""

from __future__ import annotations

from pydantic import Field

from utils.settings import EnvSettings

_NOT_READ = frozenset({"README.md", "changing.md", "releasing.md", "testing.md"})
"""Pages in docs/ that answer no question of a user: the list of pages, and those for maintainers; the folders below it (decisions, promises) hold no others."""

_BESIDES = ("README.md", "CONTRIBUTING.md", "SECURITY.md")


class RagSettings(EnvSettings):
    """What is ingested and how it is searched."""

    sources: str | None = Field(
        None,
        alias="RAG_SOURCES",
        description="Files, folders and URLs ingested at start, separated by commas; "
        "README.md, CONTRIBUTING.md, SECURITY.md and the pages in docs/ that are for users when unset, nothing when `none`.",
    )
    ready_seconds: float = Field(
        0,
        alias="RAG_READY_SECONDS",
        ge=0,
        description="Longest time that the agent is not ready because passages are still being embedded; until then only "
        "keyword search works.",
    )
    chunk_tokens: int = Field(
        220, alias="RAG_CHUNK_TOKENS", ge=50, le=2000, description="Word pieces that a passage has at most."
    )
    search_limit: int = Field(
        6, alias="RAG_SEARCH_LIMIT", ge=1, le=50, description="Passages that a search returns by default."
    )
    max_searches: int = Field(
        4,
        alias="RAG_MAX_SEARCHES_PER_TURN",
        ge=1,
        le=50,
        description="Searches per request before the agent is told to answer with what it has.",
    )
    max_file_bytes: int = Field(
        20_000_000, alias="RAG_MAX_FILE_BYTES", gt=0, description="Largest file that is ingested, in bytes."
    )
    max_passages: int = Field(
        5_000,
        alias="RAG_MAX_PASSAGES_PER_DOCUMENT",
        gt=0,
        description="Passages past which a document is skipped: embedding 5,000 takes minutes.",
    )
    max_url_bytes: int = Field(
        10_000_000, alias="RAG_MAX_URL_BYTES", gt=0, description="Largest page that is ingested, in bytes."
    )
    url_timeout_seconds: float = Field(
        20,
        alias="RAG_URL_TIMEOUT_SECONDS",
        gt=0,
        description="Seconds that one page may take, redirects included.",
    )
    allow_private_urls: bool = Field(
        False,
        alias="RAG_ALLOW_PRIVATE_URLS",
        description="Allow pages at private and loopback addresses.",
    )

    def targets(self) -> tuple[str, ...]:
        """What to ingest at start."""
        if self.sources is None:
            from agents.rag.ingest.names import REPOSITORY

            docs = [page for page in (REPOSITORY / "docs").glob("*.md") if page.name not in _NOT_READ]
            others = [page for name in _BESIDES if (page := REPOSITORY / name).exists()]
            return tuple(map(str, [*others, *sorted(docs)]))
        if self.sources.lower() == "none":
            return ()
        return tuple(part.strip() for part in self.sources.split(",") if part.strip())
