"""Everything that the agents keep of one person is erased by one command; what is another's stays."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from a2a.types.a2a_pb2 import TaskState
from cryptography.fernet import Fernet

from agents.github.authorisation.grant import owner_key
from tests.e2e.auth.test_github_users import ASKED, DONE, WAITS, code, said, scene, state
from tests.e2e.auth.test_people import Scene
from tests.e2e.cli.command import Finished, run
from tests.e2e.conversations.asking import files_with
from tests.postgres import PARAMETER, PostgresServer
from utils.auth.api_keys import ISSUER
from utils.memory.memory import owner_label
from utils.persistence.erasure import BY_TASK_ALONE, SOURCES
from utils.persistence.home_lock import only_process_in
from utils.persistence.owned_tables import BY_CONTEXT, BY_TASK, BY_THREAD, PEOPLE
from utils.persistence.task_log_sqlite import SqliteTaskLogStore
from utils.persistence.task_log_store import Record, RecordKind, Row, Write

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("postgres"),
]

ERASED = {
    *BY_THREAD, PEOPLE, *BY_CONTEXT, *BY_TASK, *BY_TASK_ALONE, SOURCES,
}  # fmt: skip
PERSONAL = {"memories", "authorisations", "github_authorisations"}
NOBODYS = {
    "agent_cards",
    "used_tokens",
    "secrets",
    "write_probe",
    "sqlite_sequence",
    "vectors",
    "schema_version",
    "checkpoint_migrations",
}


@pytest.fixture(params=["sqlite", PARAMETER])
def store(request: pytest.FixtureRequest) -> dict[str, str]:
    if request.param == "sqlite":
        return {}
    server: PostgresServer = request.getfixturevalue("postgres")
    keys = Fernet.generate_key().decode()
    return {"DATABASE_URL": server.new_database(), "GITHUB_OAUTH_KEYS": keys}


@pytest.fixture
def agents(tmp_path: Path) -> Path:
    file = tmp_path / "agents.yaml"
    file.write_text("github: {module: agents.github, port: 8001}\n")
    return file


def secret(name: str) -> str:
    return f"zanzibar-of-{name}"


async def lives_here(it: Scene, name: str) -> None:
    """Have a person talk, authorise at GitHub, change something there, and have something remembered."""
    token = it.token(name)
    waits = await said(it, f"Thank them on issue 5 for {secret(name)}.", token)
    assert state(waits) == WAITS
    it.github.accounts.enter(code(waits), f"{name}-at-github")
    asked = await said(it, "done", token, waits)
    assert state(asked) == ASKED
    assert state(await said(it, "yes", token, asked)) == DONE
    added = await run(
        "memory", "add", f"I like {secret(name)}.", "--url", it.url, "--token", token, home=it.home
    )
    assert added.code == 0, added.err


def counted(done: Finished) -> dict[str, tuple[int, dict[str, int]]]:
    told = json.loads(done.out)
    return {each["agent"]: (len(each["conversations"]), each["counts"]) for each in told["agents"]}


def all_with(memories: int) -> dict[str, tuple[int, dict[str, int]]]:
    return {
        "platform-engineer": (1, {"memories": memories}),
        "github": (1, {"memories": 0, "authorisations at GitHub": 1}),
    }


SOME = (1, 2)
"""What was added, and what may have been learnt of the conversation before the service ended."""


async def test_all_of_a_person_is_erased_at_every_agent_and_nothing_of_another(
    tmp_path: Path, store: dict[str, str], agents: Path
) -> None:
    home = tmp_path / "data"
    async with scene(home, supervisor={"LONG_TERM_MEMORY": "on", **store}, **store) as it:
        for name in ("ann", "bob"):
            await lives_here(it, name)
        issuer = it.idp.issuer()

    async def erase(name: str, *options: str) -> Finished:
        at = ("--issuer", issuer, "--tenant", "acme", "--agents-file", str(agents))
        return await run("erase", name, *at, *options, home=home, **store)

    seen = kept_by(home, store)
    assert seen(secret("ann"))
    before = counted(await erase("ann", "--dry-run", "--json"))
    assert before in map(all_with, SOME)
    assert counted(await erase("ann", "--dry-run", "--json")) == before, "the first look erased something"

    done = await erase("ann", "--yes")
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        f"platform-engineer erased: conversations 1, memories {before['platform-engineer'][1]['memories']}",
        "github erased: conversations 1, memories 0, authorisations at GitHub 1",
        "API keys erased: 0",
    ]
    for traces in (secret("ann"), "ann-at-github", f"{issuer} ann", *labels(issuer, "ann")):
        assert not seen(traces), traces
    assert seen(secret("bob"))
    again = await erase("ann", "--dry-run")
    assert again.code == 2
    assert 'No person named "ann" was found' in again.err
    assert counted(await erase("bob", "--dry-run", "--json")) in map(all_with, SOME)
    assert (
        tables(home, store)
        <= {name for table in ERASED for name in (table.name, table.shared)} | PERSONAL | NOBODYS
    ), "a new table: say in utils/persistence/erasure.py whose it is"


def labels(issuer: str, name: str) -> list[str]:
    """What a person is called where no name may stand."""
    person = f"{issuer} {name}"
    return [owner_key("acme", person), str(owner_label("acme", person))]


def kept_by(home: Path, store: Mapping[str, str]) -> Callable[[str], bool]:
    """Whether a text stands anywhere in the files of a folder, or in the rows of a database."""

    def in_rows(text: str) -> bool:
        with psycopg.connect(store["DATABASE_URL"]) as db:
            for schema, table in tables_of(db):
                rows = db.execute(f'SELECT * FROM "{schema}"."{table}"'.encode()).fetchall()
                if any(text.encode() in _bytes(value) for row in rows for value in row):
                    return True
        return False

    return in_rows if store else lambda text: bool(files_with(home, text))


def _bytes(value: object) -> bytes:
    return bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()


def tables_of(db: psycopg.Connection[Any]) -> list[tuple[str, str]]:
    found = db.execute(
        "SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    )
    return [(str(schema), str(table)) for schema, table in found.fetchall()]


def tables(home: Path, store: Mapping[str, str]) -> set[str]:
    """The tables of all agents, but for those of libraries."""
    if store:
        with psycopg.connect(store["DATABASE_URL"]) as db:
            names = {table for _, table in tables_of(db)}
        return {name for name in names if not name.startswith(("procrastinate_", "alembic_"))}
    found: set[str] = set()
    for file in home.glob("*/*.sqlite"):
        with closing(sqlite3.connect(file)) as db:
            rows = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            found |= {str(name) for (name,) in rows.fetchall()}
    return found


async def test_the_key_of_a_person_goes_with_the_rest_and_names_the_tenant(
    tmp_path: Path, agents: Path
) -> None:
    for name, tenant in (("ann", "acme"), ("bob", "")):
        made = await run("keys", "create", name, "--tenant", tenant, home=tmp_path)
        assert made.code == 0, made.err
    done = await run("erase", "ann", "--agents-file", str(agents), "--yes", home=tmp_path)
    assert done.code == 0, done.err
    assert done.out.splitlines()[-1] == "API keys erased: 1"
    listed = await run("keys", "list", "--json", home=tmp_path)
    assert [key["name"] for key in json.loads(listed.out)] == ["bob"]


async def test_nothing_is_erased_unasked_or_while_an_agent_runs_on_its_files(
    tmp_path: Path, agents: Path
) -> None:
    await run("keys", "create", "ann", home=tmp_path)
    unasked = await run("erase", "ann", "--agents-file", str(agents), home=tmp_path)
    assert unasked.code == 2
    assert "Add --yes to erase without asking." in unasked.err
    assert "API keys to be erased: 1" in unasked.err

    (tmp_path / "github").mkdir()
    async with only_process_in(tmp_path / "github"):
        refused = await run("erase", "ann", "--agents-file", str(agents), "--yes", home=tmp_path)
    assert refused.code == 2
    assert "This agent runs already" in refused.err
    assert json.loads((await run("keys", "list", "--json", home=tmp_path)).out)[0]["name"] == "ann"


async def test_who_is_known_in_a_tenant_is_not_erased_before_the_tenant_is_named(
    tmp_path: Path, agents: Path
) -> None:
    """The key is gone, so that nothing here says which tenant is meant."""
    store = SqliteTaskLogStore(tmp_path / "github" / "tasks.sqlite")
    await store.open()
    owner = json.dumps(["acme", f"{ISSUER} ann"])
    attempt = (await store.claim("t1", owner)).attempt
    head = Row("t1", owner, "c1", TaskState.TASK_STATE_COMPLETED, 1, b"", 1)
    await store.append(Write("t1", owner, attempt, 0, (Record(1, RecordKind.TASK, b""),), row=head))

    refused = await run("erase", "ann", "--agents-file", str(agents), "--yes", home=tmp_path)
    assert refused.code == 2
    assert "ann is known in a tenant, and no API key here says in which: add --tenant (acme)." in refused.err
    assert await store.look("t1", owner) is not None
    await store.close()

    done = await run("erase", "ann", "--tenant", "acme", "--agents-file", str(agents), "--yes", home=tmp_path)
    assert done.code == 0, done.err
    assert "github erased: conversations 1" in done.out
