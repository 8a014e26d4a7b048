"""The index that replicas share: who sees what when, who may ingest, and its tables."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from agents.rag.agent import RagAgent
from agents.rag.index.postgres.index import OVERTAKEN, PostgresIndex
from agents.rag.ingest.ingester import Ingester
from agents.rag.ingest.names import REPOSITORY
from agents.rag.ingest_command import run_ingest
from agents.rag.settings import RagSettings
from agents.rag.startup import StartupIngestion
from tests.contract.rag.indexes import found, put, show
from tests.postgres import PostgresServer, running_server
from tests.unit.rag.conftest import WordEmbedder
from utils.a2a_common.server.commands.database import Verb, further_tables, tend_database
from utils.errors import RetrievalFailed, SettingsError, StorageError
from utils.persistence.postgres.opening import open_database
from utils.persistence.postgres.own_tables import VERSION_TABLE
from utils.persistence.postgres.pool import PostgresPool

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]


@pytest_asyncio.fixture
async def pool(postgres: PostgresServer) -> AsyncIterator[PostgresPool]:
    async with postgres.opened(RagAgent.name, RagAgent.own_tables) as opened:
        yield opened


class Held(WordEmbedder):
    """Embeds when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.may = asyncio.Event(), asyncio.Event()

    async def embed(self, texts):
        self.asked.set()
        await self.may.wait()
        return self.embed_sync(texts)


async def test_readers_see_the_documents_of_before_until_the_ingestion_is_whole(
    pool: PostgresPool, tmp_path: Path
) -> None:
    ours, theirs, embedder = PostgresIndex(pool), PostgresIndex(pool), WordEmbedder()
    (tmp_path / "a.md").write_text("# A\n\nPears are green.\n")
    (tmp_path / "b.md").write_text("# B\n\nPears are gone.\n")
    await Ingester(ours, RagSettings(), embedder).ingest([str(tmp_path)])
    assert sorted(await found(theirs, "pears", embedder)) == ["Pears are gone.", "Pears are green."]
    (tmp_path / "a.md").write_text("# A\n\nPears are brown.\n")
    (tmp_path / "b.md").unlink()
    (tmp_path / "c.md").write_text("# C\n\nPears are new.\n")
    held = Held()
    task = asyncio.create_task(Ingester(ours, RagSettings(), held).ingest([str(tmp_path)]))
    await held.asked.wait()
    assert sorted(await found(theirs, "pears", embedder)) == ["Pears are gone.", "Pears are green."]
    assert await theirs.complete(embedder.name)
    held.may.set()
    await task
    assert sorted(await found(theirs, "pears", embedder)) == ["Pears are brown.", "Pears are new."]


async def test_a_second_ingestion_is_told_who_ingests_and_waits(pool: PostgresPool, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nPears.\n")
    held, second, waits = Held(), WordEmbedder(), asyncio.Queue[str]()
    first = asyncio.create_task(Ingester(PostgresIndex(pool), RagSettings(), held).ingest([str(tmp_path)]))
    await held.asked.wait()
    other = Ingester(PostgresIndex(pool), RagSettings(), second)
    later = asyncio.create_task(other.ingest([str(tmp_path)], on_wait=waits.put_nowait))
    assert await waits.get()
    assert not later.done()
    held.may.set()
    await first
    assert (await later).unchanged == 1
    assert second.embedded == []


async def test_an_ingestion_that_was_overtaken_writes_nothing_more(pool: PostgresPool) -> None:
    index = PostgresIndex(pool)
    async with index.ingesting():
        await pool.execute("UPDATE rag_state SET ingestion = ingestion + 1")
        with pytest.raises(StorageError, match=OVERTAKEN):
            await put(index)
    assert await index.pending() == []


@pytest.mark.processes
async def test_a_killed_ingestion_loses_and_doubles_nothing(
    postgres: PostgresServer, pool: PostgresPool, tmp_path: Path
) -> None:
    for number in range(60):
        (tmp_path / f"n{number}.md").write_text(f"# N{number}\n\n" + "words of a note. " * 100)
    (database,) = await pool.one("SELECT current_database()") or ()
    url = postgres.url(str(database))
    command = [sys.executable, "-u", "-m", "agents.rag", "ingest", str(tmp_path)]
    environ = {
        "DATABASE_URL": url,
        "EMBEDDINGS_PROVIDER": "none",
        "PLATFORM_ENGINEER_HOME": str(tmp_path / "home"),
    }
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, cwd=REPOSITORY, text=True) as process:
        assert process.stdout is not None
        while not process.stdout.readline().startswith("[20/"):
            assert process.poll() is None
        process.kill()
    index = PostgresIndex(pool)
    assert await index.documents() == []
    summary = await Ingester(index, RagSettings(), None).ingest([str(tmp_path)])
    assert summary.unchanged >= 20
    assert summary.unchanged + summary.added == len(await index.documents()) == 60
    count = "SELECT count(*), count(DISTINCT (document_id, position)), count(DISTINCT document_id) FROM rag_chunks"
    total, distinct, documents = await pool.one(count) or ()
    assert total == distinct
    assert documents == 60


async def test_a_replica_answers_at_once_from_what_another_has_ingested(
    pool: PostgresPool, tmp_path: Path
) -> None:
    embedder = WordEmbedder()
    (tmp_path / "a.md").write_text("# A\n\nPears.\n")
    settings, targets = RagSettings.load({}), [str(tmp_path)]
    await Ingester(PostgresIndex(pool), settings, embedder).ingest(targets)
    async with PostgresIndex(pool).ingesting():
        second = StartupIngestion(PostgresIndex(pool), settings, embedder, targets)
        second.start()
        while not second.ready:
            await asyncio.sleep(0)
        assert (second.missing, second.words_only) == ("", "")
        while not second.detail.startswith("waiting for the ingestion on "):
            await asyncio.sleep(0.01)
    await second.wait()
    assert (second.detail, second.ready) == ("", True)


async def test_the_shipped_vectors_serve_the_shared_index_too(pool: PostgresPool) -> None:
    from agents.rag.ingest.shipped import read_shipped
    from utils.embeddings.minilm import MiniLmEmbedder

    class NoWork(WordEmbedder):
        async def embed(self, texts):
            raise AssertionError(texts)

    assert read_shipped().model == MiniLmEmbedder.name
    index, settings = PostgresIndex(pool), RagSettings.load({})
    ingestion = StartupIngestion(
        index, settings, NoWork(MiniLmEmbedder.name), [str(REPOSITORY / "CONTRIBUTING.md")]
    )
    ingestion.start()
    await ingestion.wait()
    assert ingestion.words_only == ""
    assert await index.complete(MiniLmEmbedder.name)


async def test_vectors_of_another_model_go_when_all_have_those_of_this_one(pool: PostgresPool) -> None:
    index = PostgresIndex(pool)
    await put(index)
    await show(index, WordEmbedder("old"))
    await show(index, WordEmbedder("new"))
    assert await pool.one("SELECT count(*), min(model), max(model) FROM rag_vectors") == (3, "new", "new")
    assert (await found(index, "pears", WordEmbedder("old")))[0] == "Pears are green."


async def test_a_database_that_is_away_is_a_failed_retrieval(tmp_path: Path) -> None:
    with running_server() as server:
        async with server.opened(RagAgent.name, RagAgent.own_tables, DATABASE_WAIT_SECONDS="1") as opened:
            index = PostgresIndex(opened)
            server.stop()
            try:
                for act in (index.search("x", 1), index.find_text("x"), index.closest_sources("x", 1)):
                    with pytest.raises(RetrievalFailed):
                        await act
            finally:
                server.start()


@asynccontextmanager
async def started(server: PostgresServer, url: str, **others: str) -> AsyncIterator[PostgresPool]:
    """The database as an agent's process opens it."""
    further = further_tables(RagAgent.own_tables)
    async with AsyncExitStack() as stack:
        opened = await open_database(
            server.settings(url, **others),
            RagAgent.name,
            stack,
            alone=False,
            on_lost=lambda _: None,
            further=further,
        )
        assert opened is not None
        yield opened


async def test_the_upgrade_makes_the_tables_that_an_agent_declares(
    postgres: PostgresServer, capsys: pytest.CaptureFixture[str]
) -> None:
    url = postgres.new_database()
    with pytest.raises(SettingsError, match="not there yet"):
        async with started(postgres, url, DATABASE_MIGRATE="never"):
            pass
    for _ in range(2):
        await tend_database(RagAgent.name, postgres.settings(url), Verb.UPGRADE, RagAgent.own_tables)
        assert json.loads(capsys.readouterr().out.splitlines()[-1])["current"] is True
    async with started(postgres, url, DATABASE_MIGRATE="never") as opened:
        assert await PostgresIndex(opened).documents() == []


async def test_own_tables_of_an_earlier_version_are_upgraded_and_of_a_later_one_refused(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    (tmp_path / "0001_a.sql").write_text("CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1);")
    url = postgres.new_database()

    async def open_with(migrate: str) -> list[tuple[object, ...]]:
        async with AsyncExitStack() as stack:
            settings = postgres.settings(url, DATABASE_MIGRATE=migrate)
            await open_database(
                settings,
                "x",
                stack,
                alone=False,
                on_lost=lambda _: None,
                further=further_tables(tmp_path),
            )
        return postgres.execute(
            f'SELECT * FROM "agent_x".a, (SELECT max(version_num) FROM "agent_x".{VERSION_TABLE}) v', url
        )

    assert await open_with("start") == [(1, "0001")]
    (tmp_path / "0002_b.sql").write_text("ALTER TABLE a ADD y INTEGER DEFAULT 2")
    with pytest.raises(SettingsError, match="earlier version"):
        await open_with("never")
    assert await open_with("start") == [(1, 2, "0002")]
    (tmp_path / "0002_b.sql").unlink()
    with pytest.raises(SettingsError, match="later version"):
        await open_with("start")
    (tmp_path / "notes.sql").write_text("")
    with pytest.raises(ValueError, match="0001_name"):
        further_tables(tmp_path)


async def test_documents_that_are_ingested_by_hand_are_in_the_shared_index(
    postgres: PostgresServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = postgres.new_database()
    (tmp_path / "a.md").write_text("# A\n\nPears.\n")
    environ = {
        "DATABASE_URL": url,
        "EMBEDDINGS_PROVIDER": "none",
        "PLATFORM_ENGINEER_HOME": str(tmp_path / "home"),
    }
    assert await asyncio.to_thread(run_ingest, [str(tmp_path / "a.md")], environ) == 0
    async with started(postgres, url) as opened:
        assert await found(PostgresIndex(opened), "pears") == ["Pears."]
        assert await asyncio.to_thread(run_ingest, ["--remove", "a.md"], environ) == 0
        assert await PostgresIndex(opened).documents() == []
    assert "1 removed." in capsys.readouterr().out
    assert not list((tmp_path / "home").rglob("index.sqlite"))
