"""A question of a restored database: its "yes" may have been carried out after the backup, so none is accepted.

That holds also where a process still runs when its database is replaced.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from a2a.client import Client
from a2a.client.errors import A2AClientError
from a2a.types.a2a_pb2 import GetTaskRequest, Task, TaskState

from agents.github.testing.server import GitHubServer, run_github_server
from tests.e2e.agents.commenting import commenting
from tests.e2e.agents.peers import Answer, ask, connected
from tests.e2e.observability.processes import Served, ready, started
from tests.postgres import PostgresServer
from utils.persistence.postgres.restored import REPLACED
from utils.testing.strict_provider import StrictProvider, run_strict_provider

pytestmark = [
    pytest.mark.servers,
    pytest.mark.processes,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
]

END_SECONDS = 60

COMMENT = {"owner": "octocat", "repo": "hello-world", "number": 5, "body": "Thank you!"}


@pytest.fixture(scope="module")
def github() -> Iterator[GitHubServer]:
    with run_github_server(pulls=2) as server:
        yield server


@pytest.fixture(scope="module")
def provider() -> Iterator[StrictProvider]:
    with run_strict_provider() as running:
        running.reset(commenting(COMMENT))
        yield running


@asynccontextmanager
async def github_agent(folder: Path, environ: dict[str, str]) -> AsyncIterator[Client]:
    """`python -m agents.github`, stopped with the block."""
    async with serving_github(folder, environ) as (served, client):
        yield client
        served.stop()


@asynccontextmanager
async def serving_github(folder: Path, environ: dict[str, str]) -> AsyncIterator[tuple[Served, Client]]:
    """The process of the agent, and a client of it."""
    folder.mkdir()
    with started(folder, "github", ("-m", "agents.github"), environ) as served:
        async with ready(served), connected(served.url) as client:
            yield served, client


def replaced(server: PostgresServer, database: str, backup: str) -> None:
    """Put a backup in the place of a database that a process uses."""
    name, copy = (url.rpartition("/")[2] for url in (database, backup))
    server.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    server.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    server.execute(f"ALTER DATABASE {name} RENAME TO {name}_replaced")
    server.execute(f"ALTER DATABASE {copy} RENAME TO {name}")


async def answered(client: Client, question: Answer) -> str:
    """What comes of a yes to a question."""
    where = {"context_id": question.context_id, "task_id": question.task_id, "nonce": question.nonce}
    return (await ask(client, "yes", **where)).state


@pytest.fixture
def environ(github: GitHubServer, provider: StrictProvider) -> dict[str, str]:
    return {
        **os.environ, **provider.environment("openai"), "GITHUB_API_URL": github.url, "GITHUB_TOKEN": "token-of-the-test",
        "GITHUB_WRITE": "true", "EMBEDDINGS_PROVIDER": "none", "DATABASE_CONNECT_SECONDS": "60",
    }  # fmt: skip


@pytest.mark.parametrize("engine", ["distributed", "local"])
async def test_a_question_that_was_open_at_the_backup_takes_no_second_yes_and_its_task_says_why(
    postgres: PostgresServer, github: GitHubServer, environ: dict[str, str], tmp_path: Path, engine: str
) -> None:
    original = await postgres.migrated("github")
    environ = {**environ, "ENGINE": engine}
    before = len(github.recorder.changes())
    async with github_agent(tmp_path / "asks", {**environ, "DATABASE_URL": original}) as client:
        question = await ask(client, "Comment on it")
    backup = postgres.new_database(original.rpartition("/")[2])
    async with github_agent(tmp_path / "goes-on", {**environ, "DATABASE_URL": original}) as client:
        first = await answered(client, question)

    async with github_agent(tmp_path / "restored", {**environ, "DATABASE_URL": backup}) as client:
        with pytest.raises(Exception, match=r"has ended"):
            await answered(client, question)
        again = await ask(client, "yes", context_id=question.context_id)
        task: Task = await client.get_task(GetTaskRequest(id=question.task_id))

    assert (question.state, first) == ("input_required", "completed")
    assert task.status.state == TaskState.TASK_STATE_FAILED
    assert "unknown_outcome" in str(task.metadata)
    assert "restored from a backup" in task.status.message.parts[0].text
    assert (again.state, again.text) == ("completed", "I looked.")
    assert len(github.recorder.changes()) == before + 1


async def test_a_process_whose_database_is_replaced_by_a_backup_takes_no_second_yes_and_ends(
    postgres: PostgresServer, github: GitHubServer, environ: dict[str, str], tmp_path: Path
) -> None:
    database = await postgres.migrated("github")
    environ = {**environ, "DATABASE_URL": database}
    before = len(github.recorder.changes())
    async with github_agent(tmp_path / "asks", environ) as client:
        question = await ask(client, "Comment on it")
    backup = postgres.new_database(database.rpartition("/")[2])

    async with serving_github(tmp_path / "runs", environ) as (served, client):
        assert await answered(client, question) == "completed"
        await asyncio.to_thread(replaced, postgres, database, backup)
        with pytest.raises(A2AClientError):
            await answered(client, question)
        ended = await asyncio.to_thread(served.process.wait, END_SECONDS)
        log = served.log.read_text()
    async with github_agent(tmp_path / "restarted", environ) as client:
        with pytest.raises(Exception, match=r"has ended"):
            await answered(client, question)

    assert "database.replaced" in log
    assert (ended, log.splitlines()[-1]) == (1, REPLACED)
    assert len(github.recorder.changes()) == before + 1
