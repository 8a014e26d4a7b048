"""The certificate of an agent's HTTP port, and the client certificates that it accepts."""

from __future__ import annotations

import ssl
from typing import Any

from utils.errors import SettingsError
from utils.net.tls_files import PairNames, add_authorities
from utils.settings import ServerSettings

_CLIENTS = "TLS_CLIENT_CA_FILE"
_NAMES = PairNames("TLS_CERT_FILE", "TLS_KEY_FILE")


def https_options(settings: ServerSettings) -> dict[str, Any]:
    """The options of uvicorn for HTTPS with TLS 1.2 or later; empty if the port speaks plain HTTP.

    Raises:
        SettingsError: A file is missing or cannot be used, or gRPC would accept clients without a certificate.
    """
    clients = settings.tls_client_ca_file
    pair = _NAMES.pair(settings.tls_cert_file, settings.tls_key_file)
    if pair is None:
        if clients is not None:
            text = f"{_CLIENTS} needs {_NAMES.certificate} and {_NAMES.key}: no client shows a certificate without HTTPS."
            raise SettingsError(_CLIENTS, text)
        return {}
    tried = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)  # uvicorn would end with a traceback
    _NAMES.load(tried, pair)
    options: dict[str, Any] = {"ssl_certfile": pair.certificate, "ssl_keyfile": pair.key}
    if clients is not None:
        add_authorities(tried, _CLIENTS, clients)
        _check_grpc(settings)
        options |= {"ssl_ca_certs": str(clients), "ssl_cert_reqs": ssl.CERT_REQUIRED}
    return options


def _check_grpc(settings: ServerSettings) -> None:
    """The same agent is served over gRPC: it must not be a way around the certificates of clients."""
    if settings.grpc_port is not None and settings.grpc_tls_client_ca_file is None:
        text = f"gRPC would let in clients without a certificate: set GRPC_TLS_CLIENT_CA_FILE as {_CLIENTS}, or do not set GRPC_PORT."
        raise SettingsError("GRPC_TLS_CLIENT_CA_FILE", text)
