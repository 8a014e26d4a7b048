"""gRPC with TLS by settings, with certificates of an authority of the test."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

import grpc.aio
import pytest
from a2a.types import a2a_pb2, a2a_pb2_grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from tests.e2e.wire.agents import Stage
from tests.e2e.wire.wiring import Wire, serving
from utils.a2a_common.server.grpc_credentials import server_credentials
from utils.errors import SettingsError
from utils.settings import ServerSettings

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


class Made(NamedTuple):
    """A certificate and its key, as PEM."""

    certificate: bytes
    key: bytes

    def files(self, folder: Path, name: str) -> tuple[str, str]:
        paths = folder / f"{name}.pem", folder / f"{name}.key"
        paths[0].write_bytes(self.certificate)
        paths[1].write_bytes(self.key)
        return str(paths[0]), str(paths[1])


class Authority:
    """Signs certificates."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "An authority of the test")])
        self.root = self._made(self._name, self._key, ca=True)

    def issue(self, name: str) -> Made:
        key = ec.generate_private_key(ec.SECP256R1())
        return self._made(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), key, ca=False)

    def _made(self, name: x509.Name, key: ec.EllipticCurvePrivateKey, *, ca: bool) -> Made:
        now = datetime.now(UTC)
        names = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(hours=1))
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return Made(certificate.public_bytes(Encoding.PEM), private)


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
        ({"GRPC_TLS_CERT_FILE": certificate, "GRPC_TLS_KEY_FILE": strange}, "no certificate and its key"),
        (
            {
                "GRPC_TLS_CERT_FILE": certificate,
                "GRPC_TLS_KEY_FILE": key,
                "GRPC_TLS_CLIENT_CA_FILE": str(tmp_path / "empty.pem"),
            },
            "without certificates",
        ),
    )
    for settings, sentence in cases:
        with pytest.raises(SettingsError, match=sentence):
            server_credentials(ServerSettings.load(settings))
