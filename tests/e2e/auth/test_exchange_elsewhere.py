"""A turn that goes on in another process has no exchanged token, and no second owner at the agent."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.e2e.auth.exchanging import Houses, Vault, exchanging, houses, vault_beside
from tests.e2e.auth.provider import Provider, provider
from tests.e2e.conversations.asking import files_with
from tests.e2e.delegation.teams import model, results
from tests.e2e.resume.test_killed_turns import ROOT
from tests.postgres import PostgresServer
from tests.preloaded import process as preloaded
from utils.testing.scripted_model import ScriptedReply, call, calls

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(300)]

FRESH = "it takes requests in your name only while your message is fresh. Please send your message again."


@asynccontextmanager
async def supervisor(home: Path, idp: Provider, vault: str) -> AsyncIterator[str]:
    """A supervisor in a process of its own, which is killed at the end of the block; its address."""
    settings = exchanging(idp, {"vault": vault}, "vault=vault agent:vault:use")
    process = await preloaded.start(
        ["-m", "tests.e2e.auth.supervisor_process", str(home)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **settings},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(90):
            async for line in process.stdout:
                if line.startswith(b"http"):
                    break
        yield line.decode().strip()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.servers
@pytest.mark.xdist_group("postgres")
async def test_a_replica_that_takes_its_turns_from_the_queue_has_the_tokens_and_the_database_has_not(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    url = postgres.new_database()
    script = [calls(call("vault", "c1", request="What is a?")), "It is 1."]
    async with houses(tmp_path, script, ["a is 1"], ours={"DATABASE_URL": url}) as it:
        task = await it.say("What is a? It begins with zanzibar-4713.")
        assert task["artifacts"][0]["parts"][0]["text"] == "It is 1."
        assert results(it.top)[-1] == "a is 1"
        postgres.execute("CHECKPOINT", url)

        def found(text: str) -> list[bool]:
            places = (postgres.files_of(url), postgres.write_ahead_log)
            return [bool(files_with(place, text)) for place in places]

        assert found("zanzibar-4713") == [True, True]
        for token in (*it.sent, *it.idp.exchange.given):
            assert found(token) == [False, False]
            assert found(token.rpartition(".")[2][:60]) == [False, False]


@pytest.mark.long
async def test_a_turn_that_a_killed_process_left_asks_for_the_message_again_and_that_goes_through(
    tmp_path: Path,
) -> None:
    started, gate = asyncio.Event(), asyncio.Event()
    below = model([ScriptedReply(text="a is 1", started=started, gate=gate), "a is 1"])
    async with (
        provider() as idp,
        vault_beside(idp, tmp_path, below) as vault,
        httpx.AsyncClient(trust_env=False, timeout=60) as http,
    ):
        async with supervisor(tmp_path / "ours", idp, vault) as url:
            it = Houses(idp, url, vault, model([]), tmp_path, http)
            saying = asyncio.create_task(it.say("What is a?"))
            async with asyncio.timeout(60):
                await started.wait()
            [task] = (await it.rpc("ListTasks", {}, it.token()))["result"]["tasks"]
        with pytest.raises(httpx.TransportError):
            await saying
        gate.set()
        seen = len(Vault.seen)
        async with supervisor(tmp_path / "ours", idp, vault) as it.url:
            async with asyncio.timeout(60):
                while True:
                    found = (await it.rpc("GetTask", {"id": task["id"]}, it.token()))["result"]
                    if found["status"]["state"] not in ("TASK_STATE_WORKING", "TASK_STATE_SUBMITTED"):
                        break
                    await asyncio.sleep(0.05)
            assert found["status"]["state"] == "TASK_STATE_FAILED"
            assert FRESH in str(found["status"])
            assert len(Vault.seen) == seen
            again = await it.say("What is a?", contextId=task["contextId"])
            assert again["artifacts"][0]["parts"][0]["text"] == "Told: a is 1"
            owners = {token: await it.tasks_at_vault(it.token("vault", token)) for token in ("ann", "bob")}
            assert {name: len(tasks) for name, tasks in owners.items()} == {"ann": 2, "bob": 0}
            assert len({each["contextId"] for each in owners["ann"]}) == 1
        assert it.found([*it.sent, *idp.exchange.given]) == []
