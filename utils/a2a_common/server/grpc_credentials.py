"""The certificate that gRPC is served with, read from the files of the settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from utils.errors import SettingsError
from utils.settings import ServerSettings

if TYPE_CHECKING:
    import grpc

_CLIENTS = "GRPC_TLS_CLIENT_CA_FILE"
UNREADABLE = "{name} names a file that cannot be read."


def server_credentials(settings: ServerSettings) -> grpc.ServerCredentials | None:
    """What gRPC is served with; `None` without TLS.

    Raises:
        SettingsError: One of the two files is missing or cannot be used.
    """
    import grpc

    certificate, key = settings.grpc_tls_cert_file, settings.grpc_tls_key_file
    clients = settings.grpc_tls_client_ca_file
    if certificate is None and key is None and clients is None:
        return None
    if certificate is None or key is None:
        name = "GRPC_TLS_CERT_FILE" if certificate is None else "GRPC_TLS_KEY_FILE"
        raise SettingsError(name, "GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE go together: set both.")
    chain, private = read("GRPC_TLS_CERT_FILE", certificate), read("GRPC_TLS_KEY_FILE", key)
    _check(certificate, key)
    known = None if clients is None else _authorities(clients)
    return grpc.ssl_server_credentials([(private, chain)], known, require_client_auth=known is not None)


def _authorities(path: Path) -> bytes:
    import ssl

    found = read(_CLIENTS, path)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=found.decode("ascii"))
    except (OSError, ValueError) as error:
        raise SettingsError(_CLIENTS, f"{_CLIENTS} names a file without certificates as PEM.") from error
    return found


def read(name: str, path: Path) -> bytes:
    """The content of the file of a setting.

    Raises:
        SettingsError: It cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise SettingsError(name, UNREADABLE.format(name=name)) from error


def _check(certificate: Path, key: Path) -> None:
    """See that the two belong together: gRPC itself only logs that, and serves nobody."""
    import ssl

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=lambda: "")
    except (OSError, ValueError) as error:
        text = "GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE are no certificate and its key without password, as PEM."
        raise SettingsError("GRPC_TLS_CERT_FILE", text) from error
