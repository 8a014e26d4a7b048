"""A release that knows its callers: its pods, run as local processes, answer whoever proves who they are, and nobody else."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from multi_agents.cli.exit_codes import ExitCode
from tests.e2e.auth.provider import provider
from tests.helm.cases import ACCEPTED, PROMETHEUS
from tests.helm.chart import CHART, Helm, Values, pods
from tests.helm.local_pods import Cluster, started
from utils.auth.service_tokens import new_private_key

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

DOCUMENT = "# Zebra rollout\n\nThe zebra rollout window is Tuesday at 14:00 UTC.\n"
SECRET = "engineer-test"


def _values(**settings: str) -> dict[str, Any]:
    private = new_private_key()
    public = {name: value for name, value in private.items() if name != "d"}
    return {
        "settings": {"LOG_LEVEL": "DEBUG", "AUTH_SERVICE_PUBLIC_KEY": json.dumps(public), **settings},
        "supervisor": {"secrets": {"values": {"AUTH_SERVICE_KEY": json.dumps(private)}}},
        "test": {"ask": "When is the zebra rollout window?", "existing": SECRET},
        "agents": [{"name": "rag", "port": 8002, "documents": {"configMap": "handbook"}}],
    }


@dataclass(frozen=True)
class Release:
    """The running pods of a release.

    Attributes:
        cluster: What they were rendered to.
        values: What they were rendered from.
    """

    cluster: Cluster
    values: Values

    async def tested(self, helm: Helm, credential: str | None) -> tuple[int, str]:
        """Run the pod of `helm test`, with a credential in its Secret or without a Secret in its values."""
        test = {name: value for name, value in self.values["test"].items() if credential or name == "ask"}
        made = replace(
            self.cluster,
            manifests=helm.render({**self.values, "test": test}),
            secrets={SECRET: {"PLATFORM_ENGINEER_TOKEN": credential or ""}},
        )
        return await made.pod("test").run()

    async def statuses(self, credential: str = "") -> dict[str, int]:
        """How each service answers a list of tasks."""
        headers = {"A2A-Version": "1.0"} | ({"Authorization": f"Bearer {credential}"} if credential else {})
        async with httpx.AsyncClient(trust_env=False, headers=headers) as http:
            ports = self.cluster.ports.items()
            return {
                name.rpartition("-")[2]: (await http.get(f"http://127.0.0.1:{port}/rest/tasks")).status_code
                for name, port in ports
            }

    async def scraped(self, path: str) -> dict[str, int]:
        """How each service answers at the port of its metrics, without a credential."""
        async with httpx.AsyncClient(trust_env=False) as http:
            ports = self.cluster.metrics.items()
            return {
                name.rpartition("-")[2]: (await http.get(f"http://127.0.0.1:{port}{path}")).status_code
                for name, port in ports
            }

    def logs(self) -> str:
        """All that the pods wrote."""
        return "".join(file.read_text() for file in self.cluster.folders.glob("*.log"))


@asynccontextmanager
async def release(helm: Helm, folder: Path, values: Values) -> AsyncIterator[Release]:
    """Start the supervisor and its agent."""
    (folder / "handbook").mkdir()
    (folder / "handbook" / "zebra.md").write_text(DOCUMENT)
    cluster = Cluster.of(helm.render(values), folder)
    async with started([cluster.pod("supervisor"), cluster.pod("rag")]):
        yield Release(cluster, values)


async def test_the_test_of_a_release_chats_with_a_token_of_the_provider_and_not_without(
    helm4: Helm, tmp_path: Path
):
    async with provider() as idp:
        values = _values(AUTH_MODE="oidc", AUTH_ISSUERS=idp.issuer())
        values["metrics"] = {"serviceMonitor": {"enabled": True}, "from": [PROMETHEUS]}
        async with release(helm4, tmp_path, values) as it:
            token = idp.token("platform-engineer")
            code, said = await it.tested(helm4, token)
            assert code == 0, said
            assert "Tuesday at 14:00 UTC" in said, "the supervisor and its agent do not know each other"
            for wrong in (None, idp.token("another-release"), idp.token("platform-engineer", exp=1)):
                code, said = await it.tested(helm4, wrong)
                assert (code, "14:00" in said) == (ExitCode.TASK_FAILED, False), said
                assert "PLATFORM_ENGINEER_TOKEN" in said
            assert await it.statuses() == {"supervisor": 401, "rag": 401}
            assert await it.statuses(token) == {"supervisor": 200, "rag": 401}
            assert token not in it.logs()
            assert await it.scraped("/metrics") == {"supervisor": 200, "rag": 200}
            assert await it.scraped("/rest/tasks") == {"supervisor": 404, "rag": 404}


async def test_the_test_of_a_release_chats_with_an_api_key_that_was_made_in_the_pod_until_it_is_revoked(
    helm4: Helm, tmp_path: Path
):
    async with release(helm4, tmp_path, _values(AUTH_MODE="api-key")) as it:
        supervisor = it.cluster.pod("supervisor")

        async def keys(*arguments: str) -> str:
            command = [supervisor.command[0], "keys", *arguments]
            code, said = await replace(supervisor, name="exec", command=command).run()
            assert code == 0, said
            return said

        key = json.loads(
            await keys("create", "helm-test", "--scope", "agent:platform-engineer:use", "--json")
        )
        code, said = await it.tested(helm4, key["key"])
        assert code == 0, said
        assert "Tuesday at 14:00 UTC" in said
        await keys("revoke", "helm-test")
        code, said = await it.tested(helm4, key["key"])
        assert (code, "14:00" in said) == (ExitCode.TASK_FAILED, False), said


def test_the_notes_say_when_the_test_would_be_refused_and_when_everybody_gets_in(helm4: Helm):
    def notes(values: Values) -> str:
        done = helm4.run("install", "first", str(CHART), "--dry-run=client", values=values)
        assert done.returncode == 0, done.stderr
        return done.stdout.partition("NOTES:")[2]

    refused, open_ = "AUTH_MODE is api-key, and the test has no credential", "since AUTH_MODE is none"
    foreign = ACCEPTED["callers that are known, and no agents of one's own"]
    assert refused in notes(foreign)
    assert refused not in notes({**foreign, "test": {"existing": "engineer-test"}})
    assert refused not in notes({})
    assert open_ not in notes({})
    ingress = ACCEPTED["an ingress for everybody"]
    assert open_ in notes(ingress)
    assert open_ not in notes({**ingress, **foreign})
    assert open_ not in notes(ACCEPTED["an ingress with TLS"])


def test_the_test_of_a_release_alone_has_its_credential(helm4: Helm):
    holders = [
        component
        for component, pod in pods(helm4.render(ACCEPTED["callers that are known"])).items()
        if {"secretRef": {"name": "engineer-test"}} in pod["containers"][0].get("envFrom", [])
    ]
    assert holders == ["test"]
