"""The GitHub agent's process is killed while a change is on its way: nobody sends it a second time."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import httpx
import pytest
from a2a.client import Client
from a2a.types.a2a_pb2 import GetTaskRequest, TaskState

from agents.github.testing.server import GitHubServer, run_github_server
from tests.e2e.agents.commenting import commenting
from tests.e2e.agents.peers import Answer, ask, connected
from tests.ports import free_port
from tests.preloaded import process as preloaded
from utils.testing.strict_provider import StrictProvider, run_strict_provider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

ROOT = Path(__file__).resolve().parents[3]
# GitHub takes this repository's requests and answers them after five seconds.
COMMENT = {"owner": "faulty", "repo": "slow", "number": 5, "body": "Thank you!"}


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
async def github_agent(environ: dict[str, str]) -> AsyncIterator[tuple[Client, asyncio.subprocess.Process]]:
    """`python -m agents.github`, as it is deployed."""
    port = free_port()
    command = ["-m", "agents.github", "--port", str(port)]
    started = await preloaded.start(command, env=environ, cwd=ROOT, stderr=asyncio.subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        await _until_ready(url, started)
        async with connected(url) as client:
            yield client, started
    finally:
        if started.returncode is None:
            started.send_signal(signal.SIGTERM)
        await started.wait()


async def _until_ready(url: str, started: asyncio.subprocess.Process) -> None:
    async with httpx.AsyncClient(trust_env=False) as http, asyncio.timeout(60):
        while True:
            assert started.returncode is None, "the agent ended at start"
            try:
                if (await http.get(f"{url}/readyz")).status_code == 200:
                    return
            except httpx.TransportError:
                await asyncio.sleep(0.05)


async def _until_sent(github: GitHubServer) -> None:
    async with asyncio.timeout(60):
        while not github.recorder.changes():
            await asyncio.sleep(0.01)


def _states(home: Path) -> list[str]:
    """What the journal says of every change."""
    with closing(sqlite3.connect(home / "github" / "changes.sqlite")) as connection:
        return [state for (state,) in connection.execute("SELECT state FROM changes ORDER BY asked_at")]


async def _killed_on_the_way(environ: dict[str, str], github: GitHubServer) -> Answer:
    """Ask for the comment, say yes, and kill the process when GitHub has the request and did not answer."""
    async with github_agent(environ) as (client, started):
        question = await ask(client, "Comment on it")
        assert question.state == "input_required"
        assert "Thank you!" in question.last_words
        where = {"context_id": question.context_id, "task_id": question.task_id, "nonce": question.nonce}
        answering = asyncio.create_task(ask(client, "yes", **where))
        await _until_sent(github)
        started.send_signal(signal.SIGKILL)
        assert await started.wait() == -signal.SIGKILL
        with pytest.raises(Exception, match=r".*"):  # the line broke
            await answering
    return question


async def test_a_change_on_its_way_at_a_kill_is_reported_as_unknown_and_never_sent_again(
    github: GitHubServer, provider: StrictProvider, tmp_path: Path
) -> None:
    environ = {
        **os.environ, "PYTHONPATH": str(ROOT), **provider.environment("openai"),
        "PLATFORM_ENGINEER_HOME": str(tmp_path), "GITHUB_API_URL": github.url,
        "GITHUB_TOKEN": "token-of-the-test", "GITHUB_WRITE": "true", "GITHUB_TIMEOUT_SECONDS": "60", "EMBEDDINGS_PROVIDER": "none",
    }  # fmt: skip
    question = await _killed_on_the_way(environ, github)
    assert _states(tmp_path) == ["intended"]

    async with github_agent(environ) as (client, _):
        later = await ask(
            client, "What became of it?", context_id=question.context_id
        )  # once the turn has ended
        task = await client.get_task(GetTaskRequest(id=question.task_id))
        with pytest.raises(Exception, match=r"has ended"):
            await ask(client, "yes", context_id=question.context_id, task_id=question.task_id)
        again = await ask(client, "Comment once more", context_id=question.context_id)

    assert task.status.state == TaskState.TASK_STATE_FAILED
    (told,) = [
        "".join(part.text for part in each.parts) for each in task.artifacts if each.name == "response"
    ]
    assert told.startswith("The tool said:")
    assert '"error":"unknown_outcome"' in told
    note = task.status.message.parts[0].text
    assert note.startswith("GitHub did not confirm a comment on #5 of faulty/slow")
    assert "may have arrived on GitHub or not" in note
    assert later.text == "I looked."
    assert again.state == "input_required"
    assert "may do it twice" in again.last_words
    assert _states(tmp_path) == ["unknown", "asked"]
    assert len(github.recorder.changes()) == 1
