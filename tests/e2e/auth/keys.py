"""Keys and tokens as an OpenID provider makes them, and as somebody forges them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def segment(value: Any) -> str:
    return b64(json.dumps(value).encode())


def _number(value: int) -> str:
    return b64(value.to_bytes((value.bit_length() + 7) // 8, "big"))


@dataclass(frozen=True)
class Key:
    """A private key, its public half as JWK, and how it signs."""

    private: Any
    jwk: Mapping[str, Any]
    sign: Callable[[bytes], bytes] = field(repr=False)

    @property
    def algorithm(self) -> str:
        return str(self.jwk.get("alg", ""))


def rsa_key(kid: str, bits: int = 2048, **changes: Any) -> Key:
    private = rsa.generate_private_key(65537, bits)
    numbers = private.public_key().public_numbers()
    jwk = {
        "kty": "RSA",
        "n": _number(numbers.n),
        "e": _number(numbers.e),
        "kid": kid,
        "use": "sig",
        "alg": "RS256",
    }
    return Key(
        private, {**jwk, **changes}, lambda data: private.sign(data, padding.PKCS1v15(), hashes.SHA256())
    )


def ec_key(kid: str) -> Key:
    private = ec.generate_private_key(ec.SECP256R1())
    numbers = private.public_key().public_numbers()
    x, y = (b64(each.to_bytes(32, "big")) for each in (numbers.x, numbers.y))
    jwk = {"kty": "EC", "crv": "P-256", "x": x, "y": y, "kid": kid, "use": "sig", "alg": "ES256"}

    def sign(data: bytes) -> bytes:
        r, s = decode_dss_signature(private.sign(data, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    return Key(private, jwk, sign)


def ed_key(kid: str) -> Key:
    private = ed25519.Ed25519PrivateKey.generate()
    x = b64(private.public_key().public_bytes_raw())
    return Key(
        private,
        {"kty": "OKP", "crv": "Ed25519", "x": x, "kid": kid, "use": "sig", "alg": "EdDSA"},
        private.sign,
    )


def signed(header: Mapping[str, Any], claims: Any, sign: Callable[[bytes], bytes]) -> str:
    """A token; `claims` is an object, or the text of one."""
    payload = b64(claims.encode()) if isinstance(claims, str) else segment(claims)
    text = f"{segment(header)}.{payload}"
    return f"{text}.{b64(sign(text.encode()))}"


def with_public_key_as_secret(key: Key) -> Callable[[bytes], bytes]:
    """HS256 with what everybody knows."""
    pem = key.private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return lambda data: hmac.new(pem, data, hashlib.sha256).digest()
