"""A supervisor and its agents that show each other certificates, over real sockets."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from structlog.testing import capture_logs

from multi_agents.cli.errors import ServiceUnreachable
from multi_agents.cli.peer.connection import connect
from tests.certificates import Authority
from tests.e2e.agents.peers import Answer, Keys, ask, connected
from tests.e2e.delegation.teams import model, results, supervising
from tests.ports import free_port
from tests.preloaded import process as preloaded
from utils.a2a_common.client.transport.tls import client_context
from utils.a2a_common.server.http.https import https_options
from utils.errors import SettingsError
from utils.protection_settings import ClientTlsSettings
from utils.settings import ServerSettings
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

AT_ONCE = {"SUB_AGENT_WAIT_SECONDS": "0"}
"""For supervisors whose agent lets nobody in: it is not waited for at the start."""

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.timeout(180),
]

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class House:
    """One authority, whose certificates the agent and its clients have, and a second one that nobody knows."""

    folder: Path
    ours: Authority
    other: Authority

    @property
    def authority(self) -> str:
        return self.ours.root.files(self.folder, "ours")[0]

    def agent(self) -> dict[str, str]:
        """Settings of an agent that demands a certificate."""
        certificate, key = self.ours.issue("agent").files(self.folder, "agent")
        return {"TLS_CERT_FILE": certificate, "TLS_KEY_FILE": key, "TLS_CLIENT_CA_FILE": self.authority}

    def client(self, signer: Authority | None) -> dict[str, str]:
        """Settings of a client that trusts the agent's authority, with a certificate of `signer`."""
        if signer is None:
            return {"TLS_CA_FILE": self.authority}
        certificate, key = signer.issue("client").files(self.folder, "client")
        return {
            "TLS_CA_FILE": self.authority,
            "TLS_CLIENT_CERT_FILE": certificate,
            "TLS_CLIENT_KEY_FILE": key,
        }


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path, Authority(), Authority())


@asynccontextmanager
async def keys_agent(settings: Mapping[str, str]) -> AsyncIterator[tuple[str, ScriptedModel]]:
    own = model(["The value of a is 1."])
    async with running_agent(Keys, environ=settings, model=own) as url:
        yield url, own


async def delegated(agent: str, settings: Mapping[str, str], home: Path | None = None) -> tuple[Answer, str]:
    """A turn of a supervisor over one agent, and what its model was told of the delegation."""
    top = model([calls(call("keys", request="What is a?")), "So it is."])
    settings = {"SUB_AGENT_RESTART_SECONDS": "0", **settings}
    async with supervising({"keys": agent}, top, settings, home) as url, connected(url) as client:
        answer = await ask(client, "What is a?")
    return answer, results(top, 1)[0]


async def test_a_supervisor_with_a_certificate_delegates_to_an_agent_that_demands_one(house: House) -> None:
    async with keys_agent(house.agent()) as (agent, _):
        assert agent.startswith("https://")
        answer, told = await delegated(agent, house.client(house.ours))
    assert (answer.state, told) == ("completed", "The value of a is 1.")


@pytest.mark.parametrize("signer", ["nobody", "other"])
async def test_without_a_certificate_that_the_agent_takes_it_cannot_be_reached_and_the_turn_says_so(
    house: House, signer: str
) -> None:
    by = house.other if signer == "other" else None
    home = house.folder / "supervisor"
    async with keys_agent(house.agent()) as (agent, asked):
        await delegated(agent, house.client(house.ours), home)  # so that it knows the agent
        with capture_logs() as logs:
            answer, told = await delegated(agent, {**house.client(by), **AT_ONCE}, home)
    (said,) = answer.events[-1].status_update.status.message.parts
    assert (answer.state, said.text) == ("failed", "The keys agent cannot be reached right now.")
    assert "The keys agent cannot be reached" in told
    assert len(asked.requests) == 1
    assert {each["agent"] for each in logs if each["event"] == "sub_agent.certificate_refused"} == {"keys"}


async def test_an_agent_whose_certificate_is_not_trusted_is_told_nothing(house: House) -> None:
    home = house.folder / "supervisor"
    known = house.client(house.ours)
    async with keys_agent(house.agent()) as (agent, asked):
        await delegated(agent, known, home)  # so that it knows the agent
        with capture_logs() as logs:
            _, told = await delegated(agent, {**known, **AT_ONCE, "TLS_CA_FILE": ""}, home)
    assert "The keys agent cannot be reached" in told
    assert len(asked.requests) == 1
    said = [each["reason"] for each in logs if each["event"] == "sub_agent.certificate_refused"]
    assert "Its certificate is not trusted" in said[0]


async def test_readiness_says_of_an_agent_that_its_certificate_is_why_it_is_not_reached(house: House) -> None:
    settings = {**house.client(house.ours), **AT_ONCE, "TLS_CA_FILE": ""}
    async with (
        keys_agent(house.agent()) as (agent, _),
        supervising({"keys": agent}, model([]), settings) as url,
        httpx.AsyncClient(trust_env=False) as http,
    ):
        said = (await http.get(f"{url}/readyz")).text
    assert "keys (Its certificate is not trusted: " in said


@pytest.mark.long
async def test_the_port_answers_nothing_to_a_client_without_a_certificate_of_the_named_authority(
    house: House,
) -> None:
    metrics = free_port()
    settings = {**house.agent(), "METRICS_PORT": str(metrics)}
    async with keys_agent(settings) as (agent, _):
        for known in ("/healthz", "/.well-known/agent-card.json", "/rest/tasks"):
            for signer in (None, house.other):
                context = client_context(ClientTlsSettings.load(house.client(signer)))
                assert context is not None
                async with httpx.AsyncClient(verify=context, trust_env=False) as http:
                    with pytest.raises((httpx.TransportError, ssl.SSLError)):
                        await http.get(f"{agent}{known}")
        context = client_context(ClientTlsSettings.load(house.client(house.ours)))
        assert context is not None
        async with httpx.AsyncClient(verify=context, trust_env=False) as http:
            card = (await http.get(f"{agent}/.well-known/agent-card.json")).json()
        assert {each["url"].startswith(agent) for each in card["supportedInterfaces"]} == {True}
        with pytest.raises(httpx.TransportError):
            httpx.get(agent.replace("https", "http"), trust_env=False)
        async with httpx.AsyncClient(trust_env=False) as http:  # as a kubelet, which has no certificate
            for probe in ("/healthz", "/readyz", "/metrics"):
                assert (await http.get(f"http://127.0.0.1:{metrics}{probe}")).status_code == 200
            for other in ("/", "/.well-known/agent-card.json", "/rest/tasks"):
                assert (await http.get(f"http://127.0.0.1:{metrics}{other}")).status_code == 404


async def test_the_command_line_shows_the_certificate_of_its_settings(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with keys_agent(house.agent()) as (agent, _):
        with pytest.raises(ServiceUnreachable, match="Its certificate is not trusted"):
            async with connect(agent):
                pass
        monkeypatch.setenv("TLS_CA_FILE", house.authority)
        with pytest.raises(ServiceUnreachable, match="may want another certificate"):
            async with connect(agent):
                pass
        for name, value in house.client(house.ours).items():
            monkeypatch.setenv(name, value)
        async with connect(agent) as peer:
            assert peer.card.name == "keys"


def test_what_is_wrong_with_the_files_is_said(house: House) -> None:
    agent, client = house.agent(), house.client(house.ours)
    missing = str(house.folder / "none")
    (house.folder / "empty.pem").write_text("")
    _, strange = house.other.issue("strange").files(house.folder, "strange")
    servers = (
        ({**agent, "TLS_KEY_FILE": ""}, "TLS_CERT_FILE and TLS_KEY_FILE go together"),
        ({"TLS_CLIENT_CA_FILE": house.authority}, "TLS_CLIENT_CA_FILE needs TLS_CERT_FILE"),
        ({**agent, "TLS_CERT_FILE": missing}, "The file in TLS_CERT_FILE cannot be read"),
        ({**agent, "TLS_KEY_FILE": strange}, "must name a certificate and its private key"),
        (
            {**agent, "TLS_CLIENT_CA_FILE": str(house.folder / "empty.pem")},
            "holds no certificates in PEM form",
        ),
        ({**agent, "GRPC_PORT": "0"}, "gRPC would let in clients without a certificate"),
    )
    for settings, sentence in servers:
        with pytest.raises(SettingsError, match=sentence):
            https_options(ServerSettings.load(settings))
    clients = (
        ({**client, "TLS_CLIENT_CERT_FILE": ""}, "TLS_CLIENT_CERT_FILE and TLS_CLIENT_KEY_FILE go together"),
        ({**client, "TLS_CLIENT_KEY_FILE": strange}, "must name a certificate and its private key"),
        ({**client, "TLS_CA_FILE": missing}, "The file in TLS_CA_FILE cannot be read"),
    )
    for settings, sentence in clients:
        with pytest.raises(SettingsError, match=sentence):
            client_context(ClientTlsSettings.load(settings))
    assert client_context(ClientTlsSettings.load({})) is None
    assert https_options(ServerSettings.load({})) == {}


async def test_an_agents_process_with_wrong_files_ends_with_a_sentence(house: House) -> None:
    environ = {**house.agent(), "TLS_KEY_FILE": house.authority, "PLATFORM_ENGINEER_HOME": str(house.folder)}
    process = await preloaded.start(
        ("-m", "utils.a2a_common.server.serve", "tests.e2e.agents.peers:Keys"),
        env={**environ, "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "LLM_PROVIDER": "embedded"},
        cwd=house.folder,
        stderr=asyncio.subprocess.PIPE,
    )
    _, said = await process.communicate()
    assert process.returncode == 2, said.decode()
    assert (
        said.decode().splitlines()[-1]
        == "TLS_CERT_FILE and TLS_KEY_FILE must name a certificate and its private key in PEM form, without a password."
    )
    assert "Traceback" not in said.decode()
