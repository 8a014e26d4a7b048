"""gRPC with TLS by settings, with certificates of an authority of the test."""

from __future__ import annotations

from pathlib import Path

import grpc.aio
import pytest
from a2a.types import a2a_pb2, a2a_pb2_grpc

from tests.certificates import Authority
from tests.e2e.wire.agents import Stage
from tests.e2e.wire.wiring import Wire, serving
from utils.a2a_common.server.grpc.credentials import server_credentials
from utils.errors import SettingsError
from utils.settings import ServerSettings

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


async def quiet(stage: Stage) -> None:
    await stage.task()


async def listed(wire: Wire, credentials: grpc.ChannelCredentials | None) -> int | grpc.StatusCode:
    """The number of tasks, or how the call ended."""
    address = f"127.0.0.1:{wire.app.state.grpc_port}"
    channel = (
        grpc.aio.insecure_channel(address)
        if credentials is None
        else grpc.aio.secure_channel(address, credentials)
    )
    async with channel:
        stub = a2a_pb2_grpc.A2AServiceStub(channel)
        try:
            answer = await stub.ListTasks(
                a2a_pb2.ListTasksRequest(), metadata=(("a2a-version", "1.0"),), timeout=20
            )
        except grpc.aio.AioRpcError as error:
            return error.code()
        return len(answer.tasks)


async def test_grpc_is_served_with_the_certificate_of_the_settings(tmp_path: Path) -> None:
    ours, other = Authority(), Authority()
    certificate, key = ours.issue("agent").files(tmp_path, "agent")
    settings = {"GRPC_PORT": "0", "GRPC_TLS_CERT_FILE": certificate, "GRPC_TLS_KEY_FILE": key}
    async with serving(quiet, settings=settings) as wire:
        assert await listed(wire, grpc.ssl_channel_credentials(ours.root.certificate)) == 0
        assert (
            await listed(wire, grpc.ssl_channel_credentials(other.root.certificate))
            is grpc.StatusCode.UNAVAILABLE
        )
        assert await listed(wire, None) is grpc.StatusCode.UNAVAILABLE


async def test_clients_without_a_certificate_of_the_named_authority_are_kept_out(tmp_path: Path) -> None:
    ours, clients, other = Authority(), Authority(), Authority()
    certificate, key = ours.issue("agent").files(tmp_path, "agent")
    authority, _ = clients.root.files(tmp_path, "clients")
    settings = {
        "GRPC_PORT": "0",
        "GRPC_TLS_CERT_FILE": certificate,
        "GRPC_TLS_KEY_FILE": key,
        "GRPC_TLS_CLIENT_CA_FILE": authority,
    }
    async with serving(quiet, settings=settings) as wire:
        for by, expected in ((clients, 0), (other, grpc.StatusCode.UNAVAILABLE)):
            mine = by.issue("client")
            known = grpc.ssl_channel_credentials(ours.root.certificate, mine.key, mine.certificate)
            assert await listed(wire, known) == expected
        nobody = grpc.ssl_channel_credentials(ours.root.certificate)
        assert await listed(wire, nobody) is grpc.StatusCode.UNAVAILABLE


def test_what_is_wrong_with_the_files_is_said_before_anything_is_served(tmp_path: Path) -> None:
    one, two = Authority(), Authority()
    certificate, key = one.issue("a").files(tmp_path, "a")
    _, strange = two.issue("b").files(tmp_path, "b")
    (tmp_path / "empty.pem").write_text("")
    cases = (
        ({"GRPC_TLS_CERT_FILE": certificate}, "go together"),
        ({"GRPC_TLS_CERT_FILE": certificate, "GRPC_TLS_KEY_FILE": str(tmp_path / "none")}, "cannot be read"),
        (
            {"GRPC_TLS_CERT_FILE": certificate, "GRPC_TLS_KEY_FILE": strange},
            "must name a certificate and its private key",
        ),
        (
            {
                "GRPC_TLS_CERT_FILE": certificate,
                "GRPC_TLS_KEY_FILE": key,
                "GRPC_TLS_CLIENT_CA_FILE": str(tmp_path / "empty.pem"),
            },
            "holds no certificates in PEM form",
        ),
    )
    for settings, sentence in cases:
        with pytest.raises(SettingsError, match=sentence):
            server_credentials(ServerSettings.load(settings))
