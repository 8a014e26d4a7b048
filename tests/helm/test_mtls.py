"""Mutual TLS between the supervisor and its agents: what is rendered, and a chat over it."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.github.testing.server import run_github_server
from tests.certificates import Authority
from tests.helm.cases import ACCEPTED, PROMETHEUS
from tests.helm.chart import Helm, Manifest, of_kind, pods
from tests.helm.local_pods import Cluster, started

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

SECRET = "engineer-tls"
MUTUAL = ACCEPTED["mutual TLS"]
AGENTS = ("github", "rag")


def _settings(manifests: list[Manifest], name: str) -> dict[str, str]:
    found: dict[str, str] = of_kind(manifests, "ConfigMap")[f"first-platform-engineer-{name}"]["data"]
    return found


def _probed(pod: Manifest) -> set[str]:
    (container,) = pod["containers"]
    return {container[f"{kind}Probe"]["httpGet"]["port"] for kind in ("startup", "liveness", "readiness")}


def test_agents_want_a_certificate_that_the_supervisor_shows(helm4: Helm):
    manifests = helm4.render(MUTUAL)
    supervisor = _settings(manifests, "supervisor")
    assert supervisor["SUB_AGENTS"] == (
        "github=https://first-platform-engineer-github:8001,rag=https://first-platform-engineer-rag:8002"
    )
    assert {name for name in supervisor if name.startswith("TLS_")} == {
        "TLS_CA_FILE",
        "TLS_CLIENT_CERT_FILE",
        "TLS_CLIENT_KEY_FILE",
    }
    assert supervisor["PUBLIC_URL"].startswith("http://")  # people reach it as before
    for name in AGENTS:
        settings = _settings(manifests, name)
        assert settings["PUBLIC_URL"].startswith(f"https://first-platform-engineer-{name}:")
        assert (settings["TLS_CERT_FILE"], settings["TLS_KEY_FILE"], settings["TLS_CLIENT_CA_FILE"]) == (
            "/tls/tls.crt",
            "/tls/tls.key",
            "/tls/ca.crt",
        )


def test_the_secret_is_mounted_read_only_in_the_supervisor_and_the_agents_alone(helm4: Helm):
    found = pods(helm4.render(MUTUAL))
    for name in ("supervisor", *AGENTS):
        (container,) = found[name]["containers"]
        assert {"name": "tls", "mountPath": "/tls", "readOnly": True} in container["volumeMounts"]
        volumes = {one["name"]: one for one in found[name]["volumes"]}
        assert volumes["tls"]["secret"] == {"secretName": SECRET, "defaultMode": 0o440}
    assert "tls" not in {one["name"] for one in found["test"]["volumes"]}


def test_the_kubelet_asks_agents_at_the_port_that_wants_no_certificate(helm4: Helm):
    manifests = helm4.render(MUTUAL)
    found = pods(manifests)
    assert _probed(found["supervisor"]) == {"http"}
    for name in AGENTS:
        assert _probed(found[name]) == {"metrics"}
        assert _settings(manifests, name)["METRICS_PORT"] == "9090"
        (rule,) = of_kind(manifests, "NetworkPolicy")[f"first-platform-engineer-{name}"]["spec"]["ingress"]
        assert rule["ports"] == [{"port": "http", "protocol": "TCP"}]  # no other pod reaches that port


def test_a_scraper_is_let_in_to_the_port_that_wants_no_certificate(helm4: Helm):
    watched: dict[str, Any] = {"serviceMonitor": {"enabled": True}, "from": [PROMETHEUS]}
    manifests = helm4.render({**MUTUAL, "metrics": watched})
    (monitor,) = of_kind(manifests, "ServiceMonitor").values()
    assert [one["port"] for one in monitor["spec"]["endpoints"]] == ["metrics"]
    for name in ("supervisor", *AGENTS):
        rules = of_kind(manifests, "NetworkPolicy")[f"first-platform-engineer-{name}"]["spec"]["ingress"]
        assert rules[-1] == {"ports": [{"port": "metrics", "protocol": "TCP"}], "from": [PROMETHEUS]}


def test_nothing_of_it_is_there_by_default(helm4: Helm):
    text = helm4.text()
    assert "TLS_" not in text
    assert "https://" not in text
    assert all(_probed(pod) == {"http"} for name, pod in pods(helm4.render()).items() if name != "test")


async def test_the_rendered_pods_chat_and_an_agent_answers_nobody_without_a_certificate(
    helm4: Helm, tmp_path: Path
):
    ours = Authority()
    made = ours.issue("engineer")
    folder = tmp_path / SECRET
    folder.mkdir()
    for name, content in (
        ("tls.crt", made.certificate),
        ("tls.key", made.key),
        ("ca.crt", ours.root.certificate),
    ):
        (folder / name).write_bytes(content)
    with run_github_server(pulls=3) as github:
        values = {
            **MUTUAL,
            "test": {"ask": "List the open pull requests of octocat/hello-world"},
            "agents": [{"name": "github", "port": 8001, "env": {"GITHUB_API_URL": github.url}}],
        }
        cluster = Cluster.of(helm4.render(values), tmp_path)
        async with started([cluster.pod("supervisor"), cluster.pod("github")]):
            code, said = await cluster.pod("test").run()
            assert code == 0, said
            assert "amazing new feature" in said.lower()
            agent = f"https://127.0.0.1:{cluster.ports['first-platform-engineer-github']}"
            trusting = ssl.create_default_context(cafile=str(folder / "ca.crt"))
            async with httpx.AsyncClient(verify=trusting, trust_env=False) as http:
                with pytest.raises((httpx.TransportError, ssl.SSLError)):
                    await http.get(f"{agent}/.well-known/agent-card.json")
            with pytest.raises(httpx.TransportError):
                await asyncio.to_thread(httpx.get, agent.replace("https", "http"), trust_env=False)
