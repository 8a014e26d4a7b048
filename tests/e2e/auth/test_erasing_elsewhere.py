"""A person who is known elsewhere than the command says, or nowhere: nothing is erased by halves, and the exit code tells it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from a2a.types.a2a_pb2 import TaskState
from cryptography.fernet import Fernet

from tests.e2e.auth.test_erasing import kept_by, lives_here, secret
from tests.e2e.auth.test_github_users import scene
from tests.e2e.cli.command import Finished, run
from tests.e2e.conversations.asking import files_with
from tests.postgres import PostgresServer
from utils.auth.api_keys import ISSUER
from utils.persistence.task_log_sqlite import SqliteTaskLogStore
from utils.persistence.task_log_store import Record, RecordKind, Row, Write

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("postgres"),
]

WORDS = "the words of a conversation"


@pytest.fixture
def agents(tmp_path: Path) -> Path:
    file = tmp_path / "agents.yaml"
    file.write_text("github: {module: agents.github, port: 8001}\n")
    return file


async def talked(home: Path, name: str, tenant: str, task: str = "t1") -> None:
    """Have a person have said something to an agent that stores in files."""
    store = SqliteTaskLogStore(home / "github" / "tasks.sqlite")
    await store.open()
    owner = json.dumps([tenant, f"{ISSUER} {name}"])
    attempt = (await store.claim(task, owner)).attempt
    head = Row(task, owner, f"c-{task}", TaskState.TASK_STATE_COMPLETED, 1, WORDS.encode(), 1)
    await store.append(Write(task, owner, attempt, 0, (Record(1, RecordKind.TASK, b""),), row=head))
    await store.close()


@pytest.mark.servers
async def test_what_stayed_in_files_after_a_move_to_a_database_is_erased_with_the_rest(
    tmp_path: Path, postgres: PostgresServer, agents: Path
) -> None:
    home = tmp_path / "data"
    store = {"DATABASE_URL": postgres.new_database(), "GITHUB_OAUTH_KEYS": Fernet.generate_key().decode()}
    issuers = set[str]()
    for settings in ({}, store):
        async with scene(home, supervisor={"LONG_TERM_MEMORY": "on", **settings}, **settings) as it:
            for name in ("ann", "bob"):
                await lives_here(it, name)
            issuers.add(it.idp.issuer())
    in_rows = kept_by(home, store)
    assert files_with(home, secret("ann"))
    assert in_rows(secret("ann"))

    for issuer in issuers:
        done = await run(
            *("erase", "ann", "--issuer", issuer, "--tenant", "acme", "--agents-file", str(agents), "--yes"),
            home=home,
            **store,
        )
        assert done.code == 0, done.err
    assert not files_with(home, secret("ann"))
    assert not in_rows(secret("ann"))
    assert files_with(home, secret("bob"))
    assert in_rows(secret("bob"))


@pytest.mark.servers
async def test_conversations_that_stayed_in_files_are_told_wherever_they_are_missed(
    tmp_path: Path, postgres: PostgresServer, agents: Path
) -> None:
    await talked(tmp_path, "ann", "")
    store = {"DATABASE_URL": postgres.new_database(), "EMBEDDINGS_PROVIDER": "none", "PORT": "0"}
    told = f"Conversations in files of {tmp_path} are out of sight while DATABASE_URL is set (github 1)"
    here = ("--agents-file", str(agents))
    started = await run("chat", "--ask", "hello", *here, home=tmp_path, **store)
    assert told in started.err
    assert "home.out_of_sight" in (tmp_path / "logs" / "github.log").read_text("utf-8")
    checked = await run("doctor", *here, home=tmp_path, **store)
    assert told in checked.out
    del store["DATABASE_URL"]
    assert told not in (await run("doctor", *here, home=tmp_path, **store)).out


async def erased(home: Path, agents: Path, name: str, *options: str) -> Finished:
    return await run("erase", name, "--yes", "--agents-file", str(agents), *options, home=home)


async def test_a_key_of_another_tenant_is_not_erased_and_the_conversations_are_found(
    tmp_path: Path, agents: Path
) -> None:
    await run("keys", "create", "bob", home=tmp_path)
    await talked(tmp_path, "bob", "")
    refused = await erased(tmp_path, agents, "bob", "--tenant", "acme")
    assert refused.code == 2
    assert (
        "bob is known outside tenants, not in the tenant acme: nothing was erased. Run this with --tenant ''."
        in refused.err
    )
    assert files_with(tmp_path, WORDS)
    listed = await run("keys", "list", "--json", home=tmp_path)
    assert [key["name"] for key in json.loads(listed.out)] == ["bob"]

    done = await erased(tmp_path, agents, "bob", "--tenant", "")
    assert done.code == 0, done.err
    assert not files_with(tmp_path, WORDS)


async def test_who_is_known_in_two_places_is_erased_in_one_and_the_other_is_told(
    tmp_path: Path, agents: Path
) -> None:
    await run("keys", "create", "bob", home=tmp_path)
    await talked(tmp_path, "bob", "", "t1")
    await talked(tmp_path, "bob", "acme", "t2")
    first = await erased(tmp_path, agents, "bob", "--tenant", "acme")
    assert first.code == 2
    assert "github erased: conversations 1" in first.out
    assert "  also known outside tenants: run this with --tenant ''" in first.out.splitlines()
    assert "The API key bob stays: it is outside tenants, run this with --tenant ''." in first.err
    second = await erased(tmp_path, agents, "bob")
    assert second.code == 0, second.err
    assert second.out.splitlines()[-1] == "API keys erased: 1"


@pytest.mark.parametrize("options", [(), ("--dry-run",), ("--issuer", "https://login.example.com")])
async def test_a_name_that_nobody_has_is_told_and_not_taken_for_done(
    tmp_path: Path, agents: Path, options: tuple[str, ...]
) -> None:
    await run("keys", "create", "bob", home=tmp_path)
    await talked(tmp_path, "bob", "")
    missed = await erased(tmp_path, agents, "bbo", *options)
    assert missed.code == 2
    assert 'No person named "bbo" was found' in missed.err


async def test_a_wrong_folder_is_named_and_not_made(tmp_path: Path, agents: Path) -> None:
    wrong = tmp_path / "wrong"
    missed = await run(
        "erase",
        "bob",
        "--yes",
        "--agents-file",
        str(agents),
        home=tmp_path,
        PLATFORM_ENGINEER_HOME=str(wrong),
    )
    assert missed.code == 2
    assert f"{wrong} (which does not exist)" in missed.err
    assert not wrong.exists()


async def test_what_a_later_version_wrote_is_refused_and_stays_whole(tmp_path: Path, agents: Path) -> None:
    """It may keep more of a person than this version knows."""
    await talked(tmp_path, "bob", "")
    with closing(sqlite3.connect(tmp_path / "github" / "tasks.sqlite")) as db:
        db.execute("PRAGMA user_version = 99")
    refused = await erased(tmp_path, agents, "bob")
    assert refused.code == 2
    assert "was written by a later version of this service" in refused.err
    assert files_with(tmp_path, WORDS)
