"""The certificate that is shown to agents, and the authorities that theirs are taken from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utils.net.tls_files import PairNames, add_authorities
from utils.protection_settings import ClientTlsSettings

if TYPE_CHECKING:
    import ssl

_NAMES = PairNames("TLS_CLIENT_CERT_FILE", "TLS_CLIENT_KEY_FILE")


def client_context(settings: ClientTlsSettings) -> ssl.SSLContext | None:
    """The TLS context for calls of agents; `None` if nothing is set, so that only the machine's authorities are trusted.

    Make it once: each one reads all authorities of the machine.

    Raises:
        SettingsError: A file is missing or cannot be used.
    """
    pair = _NAMES.pair(settings.tls_client_cert_file, settings.tls_client_key_file)
    if pair is None and settings.tls_ca_file is None:
        return None
    import httpx

    context = httpx.create_ssl_context()  # as every other client: of the machine, or of SSL_CERT_FILE
    if settings.tls_ca_file is not None:
        add_authorities(context, "TLS_CA_FILE", settings.tls_ca_file)
    if pair is not None:
        _NAMES.load(context, pair)
    return context
