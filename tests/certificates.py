"""Authorities of a test, and the certificates that they sign."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

VALID = (timedelta(hours=-1), timedelta(days=60))


class Made(NamedTuple):
    """A certificate and its key, as PEM."""

    certificate: bytes
    key: bytes

    def files(self, folder: Path, name: str) -> tuple[str, str]:
        paths = folder / f"{name}.pem", folder / f"{name}.key"
        paths[0].write_bytes(self.certificate)
        paths[1].write_bytes(self.key)
        return str(paths[0]), str(paths[1])


def _usage(*, ca: bool) -> x509.KeyUsage:
    """What a key may sign; Python 3.13 and later take no authority that does not say that it signs certificates."""
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=ca,
        crl_sign=ca,
        encipher_only=False,
        decipher_only=False,
    )


class Authority:
    """Signs certificates."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "An authority of the test")])
        self.root = self._made(self._name, self._key, ca=True)

    def issue(self, name: str, valid: tuple[timedelta, timedelta] = VALID) -> Made:
        """A certificate that is valid from and until so long after now."""
        key = ec.generate_private_key(ec.SECP256R1())
        return self._made(
            x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), key, ca=False, valid=valid
        )

    def _made(
        self,
        name: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        *,
        ca: bool,
        valid: tuple[timedelta, timedelta] = VALID,
    ) -> Made:
        now = datetime.now(UTC)
        names = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + valid[0])
            .not_valid_after(now + valid[1])
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False
            )
            .add_extension(_usage(ca=ca), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return Made(certificate.public_bytes(Encoding.PEM), private)
