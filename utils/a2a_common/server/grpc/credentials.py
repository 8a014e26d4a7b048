"""The certificate that gRPC is served with, read from the files of the settings."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from utils.errors import SettingsError
from utils.net.tls_files import PairNames, add_authorities, read
from utils.settings import ServerSettings

if TYPE_CHECKING:
    import grpc

_CLIENTS = "GRPC_TLS_CLIENT_CA_FILE"
_NAMES = PairNames("GRPC_TLS_CERT_FILE", "GRPC_TLS_KEY_FILE")


def server_credentials(settings: ServerSettings) -> grpc.ServerCredentials | None:
    """The credentials of the gRPC server; `None` without TLS.

    Raises:
        SettingsError: One of the two files is missing or cannot be used.
    """
    import grpc

    clients = settings.grpc_tls_client_ca_file
    pair = _NAMES.pair(settings.grpc_tls_cert_file, settings.grpc_tls_key_file)
    if pair is None:
        if clients is not None:
            raise SettingsError(_NAMES.certificate, f"{' and '.join(_NAMES)} go together: set both.")
        return None
    # gRPC itself only logs that the two do not match, and then accepts no connection.
    _NAMES.load(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), pair)
    chain, private = (read(name, path) for name, path in zip(_NAMES, pair, strict=True))
    known = (
        None
        if clients is None
        else add_authorities(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), _CLIENTS, clients)
    )
    return grpc.ssl_server_credentials([(private, chain)], known, require_client_auth=known is not None)
