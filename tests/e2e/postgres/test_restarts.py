"""A service whose state is in PostgreSQL: it is started again, killed, left without its database, and deletes what is old."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from a2a.client import Client
from a2a.client.errors import A2AClientError
from langchain_core.messages import BaseMessage

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import Keys, ask, connected
from tests.postgres import PostgresServer, running_server
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = [
    pytest.mark.servers,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
]

SECRET = "zanzibar-4711"


@asynccontextmanager
async def service(home: Path, database: str, *, says: Any, finds: Any, **environ: str) -> AsyncIterator[Any]:
    """A supervisor with one sub-agent over a database, and a client of it."""
    shared = {"DATABASE_URL": database, "DATABASE_CONNECT_SECONDS": "60", **environ}
    async with (
        running_agent(Keys, home=home, model=ScriptedModel(script=finds), environ=shared) as keys,
        running_agent(
            PlatformEngineer,
            home=home,
            model=ScriptedModel(script=says),
            environ={"SUB_AGENTS": f"keys={keys}", **shared},
        ) as url,
        connected(url) as client,
    ):
        yield client


async def asked_once(home: Path, database: str) -> str:
    """A conversation with a delegation; its id."""
    says = [calls(call("keys", request=f"the value of {SECRET}")), f"{SECRET} is 1."]
    finds = [calls(call("lookup", key=SECRET)), f"{SECRET} is 1"]
    async with service(home, database, says=says, finds=finds) as client:
        answer = await ask(client, f"What is {SECRET}?")
    assert (answer.state, answer.text) == ("completed", f"{SECRET} is 1.")
    return str(answer.context_id)


def _remembered(messages: Sequence[BaseMessage]) -> str:
    """What the model says, who is shown the conversation."""
    return f"You asked for {SECRET if SECRET in str(messages) else 'nothing'}."


def tables_with(postgres: PostgresServer, database: str, text: str) -> list[str]:
    """The tables that hold a text anywhere in a row."""
    found = postgres.execute(
        "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname LIKE 'agent%'",
        database,
    )
    hexed = text.encode().hex()
    return [
        str(table)
        for (table,) in found
        if postgres.execute(
            f"SELECT 1 FROM {table} AS t WHERE t::text LIKE '%{text}%' OR t::text LIKE '%{hexed}%' LIMIT 1",
            database,
        )
    ]


async def test_a_conversation_goes_on_after_a_restart_and_no_file_holds_it(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    database = postgres.new_database()
    context_id = await asked_once(tmp_path, database)
    async with service(tmp_path, database, says=_remembered, finds=["Hi."]) as client:
        answer = await ask(client, "What did I ask for?", context_id=context_id)
    assert answer.text == f"You asked for {SECRET}."
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert kept == []
    assert not list(tmp_path.rglob("tasks.sqlite"))


async def test_an_old_conversation_is_deleted_from_every_table(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    database = postgres.new_database()
    await asked_once(tmp_path, database)
    assert len(tables_with(postgres, database, SECRET)) >= 4
    async with service(tmp_path, database, says=["Hi."], finds=["Hi."], RETENTION_DAYS="0.000001"):
        async with asyncio.timeout(120):
            while await asyncio.to_thread(tables_with, postgres, database, SECRET):
                await asyncio.sleep(0.05)


async def test_while_the_database_is_away_requests_fail_cleanly_and_afterwards_the_service_works(
    tmp_path: Path,
) -> None:
    with running_server() as server:
        says: list[Any] = ["One."] * 200
        async with service(tmp_path, server.new_database(), says=says, finds=["Hi."]) as client:
            assert (await ask(client, "a")).text == "One."
            await asyncio.to_thread(server.stop)
            failures = await asyncio.gather(*(ask(client, f"b{n}") for n in range(5)), return_exceptions=True)
            assert [_status_of(each) for each in failures] == [503] * 5
            await asyncio.to_thread(server.start)
            async with asyncio.timeout(120):
                while not await _is_answered(client):  # the connections are not back yet
                    await asyncio.sleep(0.1)


def _status_of(error: object) -> int | None:
    """The HTTP status that a request failed with."""
    assert isinstance(error, A2AClientError)
    assert isinstance(error.__cause__, httpx.HTTPStatusError)
    return error.__cause__.response.status_code


async def _is_answered(client: Client) -> bool:
    """Whether a request is answered, or else fails as one does while the connections come back: refused, or cut off in its turn."""
    (answer,) = await asyncio.gather(ask(client, "c"), return_exceptions=True)
    if isinstance(answer, BaseException):
        assert _status_of(answer) == 503
        return False
    assert answer.state == "failed" or (answer.state, answer.text) == ("completed", "One.")
    return answer.state == "completed"


async def test_turns_of_killed_processes_are_finished_by_the_next_ones() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.chaos_kill", "STORE=postgresql", "N=8", "SEED=2"),
        cwd=Path(__file__).parents[3],
        stdout=asyncio.subprocess.PIPE,
    )
    printed, _ = await process.communicate()
    counts = dict(part.split("=") for part in printed.decode().splitlines()[-1].split())
    assert process.returncode == 0, printed.decode()
    assert int(counts["kills"]) > 0
    wrong = ("lost", "doubled", "stuck", "incomplete", "refused")
    assert {name: counts[name] for name in wrong} == dict.fromkeys(wrong, "0")
