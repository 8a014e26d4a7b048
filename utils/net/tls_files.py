"""Reads certificates, keys and CA certificates from files that settings name; each error names the setting."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from utils.errors import SettingsError

if TYPE_CHECKING:
    import ssl


class Pair(NamedTuple):
    """The files of a certificate and its key."""

    certificate: Path
    key: Path


class PairNames(NamedTuple):
    """The settings that name the two files."""

    certificate: str
    key: str

    def pair(self, certificate: Path | None, key: Path | None) -> Pair | None:
        """Both files, or `None` if neither is set.

        Raises:
            SettingsError: One is set without the other.
        """
        if certificate is None and key is None:
            return None
        if certificate is None or key is None:
            missing = self.certificate if certificate is None else self.key
            raise SettingsError(missing, f"{self.certificate} and {self.key} go together: set both.")
        return Pair(certificate, key)

    def load(self, context: ssl.SSLContext, pair: Pair) -> None:
        """Make a context present the certificate.

        Raises:
            SettingsError: A file cannot be read, or the two do not belong together.
        """
        for name, path in zip(self, pair, strict=True):
            read(name, path)
        try:
            context.load_cert_chain(*pair, password=lambda: "")
        except (OSError, ValueError) as error:
            text = f"{self.certificate} and {self.key} must name a certificate and its private key in PEM form, without a password."
            raise SettingsError(self.certificate, text) from error


def read(name: str, path: Path) -> bytes:
    """The content of the file of a setting.

    Raises:
        SettingsError: It cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise SettingsError(name, f"The file in {name} cannot be read.") from error


def add_authorities(context: ssl.SSLContext, name: str, path: Path) -> bytes:
    """Make a context trust the certificates of a file, which is returned.

    Raises:
        SettingsError: It cannot be read, or holds no certificates.
    """
    found = read(name, path)
    try:
        context.load_verify_locations(cadata=found.decode("ascii"))
    except (OSError, ValueError) as error:
        raise SettingsError(name, f"The file in {name} holds no certificates in PEM form.") from error
    return found
