"""The command and the environment of every rendered pod, run as local processes, serve a chat."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agents.github.testing.server import run_github_server
from tests.e2e.agents.peers import Answer, connected, message
from tests.helm.chart import Helm, of_kind
from tests.helm.local_pods import Cluster, Pod, started
from tests.ports import free_port
from tests.postgres import PostgresServer

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

DOCUMENT = "# Zebra rollout\n\nThe zebra rollout window is Tuesday at 14:00 UTC.\n"
PULLS = "List the open pull requests of octocat/hello-world"
QUESTION = "When is the zebra rollout window?"


def _values(github: str) -> dict:
    return {
        "settings": {"LOG_LEVEL": "DEBUG"},
        "test": {"ask": QUESTION},
        "agents": [
            {
                "name": "github",
                "port": 8001,
                "env": {"GITHUB_API_URL": github},
                "secrets": {"values": {"GITHUB_TOKEN": "a-token"}},
            },
            {"name": "rag", "port": 8002, "documents": {"configMap": "handbook"}},
        ],
    }


async def asked(url: str, text: str) -> str:
    """The answer to a message of one conversation."""
    async with connected(url) as client:
        answer = Answer([event async for event in client.send_message(message(text, context_id="talk"))])
    assert answer.state == "completed"
    return answer.text.lower()


async def test_a_conversation_goes_on_at_the_other_replica_when_one_is_killed(
    helm4: Helm, tmp_path: Path, postgres: PostgresServer
):
    with run_github_server(pulls=3) as github:
        given = _values(github.url)
        values = {
            **given,
            "settings": {
                **given["settings"],
                "DATABASE_MIGRATE": "never",
            },  # the job alone upgrades the tables
            "database": {"url": postgres.new_database()},
            "supervisor": {"replicas": 2, "storage": {"enabled": False}},
            "agents": given["agents"][:1],
        }
        cluster = Cluster.of(helm4.render(values), tmp_path)
        code, said = await cluster.pod("migrate").run()
        assert code == 0, said
        first, agent = cluster.pod("supervisor"), cluster.pod("github")
        other = replace(cluster, folders=tmp_path / "other").pod("supervisor")
        port = str(free_port())
        here = {"PORT": port, "PUBLIC_URL": f"http://127.0.0.1:{port}"}  # no service stands before them
        second = replace(other, name="supervisor-2", environment=other.environment | here)
        async with started([agent, second]):
            doomed = await first.start()
            await first.passes("readinessProbe", doomed)
            assert "feature" in await asked(f"http://127.0.0.1:{first.environment['PORT']}", PULLS)
            doomed.kill()
            await doomed.wait()
            assert "closed" in await asked(f"http://127.0.0.1:{port}", "And the closed ones?")


async def test_the_rendered_pods_chat(helm4: Helm, tmp_path: Path):
    (tmp_path / "handbook").mkdir()
    (tmp_path / "handbook" / "zebra.md").write_text(DOCUMENT)
    with run_github_server(pulls=3) as github:
        cluster = Cluster.of(helm4.render(_values(github.url)), tmp_path)
        everyone: list[Pod] = [cluster.pod(name) for name in ("supervisor", "github", "rag")]
        async with started(everyone):
            test = cluster.pod("test")
            code, said = await test.run()
            assert code == 0, said
            assert "Tuesday at 14:00 UTC" in said
            code, said = await replace(test, command=[*test.command[:-1], PULLS]).run()
            assert code == 0, said
            assert "amazing new feature" in said.lower()
    assert everyone[1].environment["GITHUB_TOKEN"] == "a-token"
    assert "GITHUB_TOKEN" not in everyone[0].environment | everyone[2].environment
    for name in ("supervisor", "github", "rag"):
        claim = tmp_path / f"first-platform-engineer-{name}"
        assert list(claim.rglob("*.sqlite")), f"{name} keeps nothing on its volume"


def test_a_pod_whose_one_process_runs_all_turns_ends_before_the_next_one_starts(helm4: Helm):
    values = {
        "database": {"existing": "db"},
        "settings": {"ENGINE": "local"},
        "defaults": {"storage": {"enabled": False}},
    }
    for deployment in of_kind(helm4.render(values), "Deployment").values():
        assert deployment["spec"]["strategy"] == {"type": "Recreate"}
