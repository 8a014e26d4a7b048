"""Checks a token's signature with one of an issuer's public keys. Pure."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from utils.auth.refusal import AuthRefused, RefusalReason
from utils.auth.token_form import Token

LEAST_RSA_BITS = 2_048
_FAMILIES = {"RS": ("RSA", ""), "PS": ("RSA", ""), "EdDSA": ("OKP", "Ed25519")}
_CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}

Jwk = Mapping[str, Any]


def check_signature(token: Token, keys: Sequence[Jwk], algorithms: Collection[str]) -> None:
    """Check that the token was signed with one of these keys.

    Raises:
        AuthRefused: The algorithm is not allowed, the key is unknown or unsuitable, or the signature is wrong.
    """
    from joserfc import jws
    from joserfc.errors import JoseError, SecurityWarning
    from joserfc.jwk import RSAKey, import_key

    if token.algorithm not in algorithms:
        raise AuthRefused(RefusalReason.ALGORITHM)
    key = _chosen(token, keys)
    if not _fits(key, token.algorithm):
        raise AuthRefused(RefusalReason.KEY)
    registry = jws.JWSRegistry(algorithms=[token.algorithm], strict_check_header=False)
    registry.max_header_length = len(token.text)
    try:
        with warnings.catch_warnings():  # of small keys, and of the name EdDSA, which most issuers still use
            warnings.simplefilter("ignore", SecurityWarning)
            public = import_key({**key, "use": "sig"})
            if isinstance(public, RSAKey) and public.public_key.key_size < LEAST_RSA_BITS:
                raise AuthRefused(RefusalReason.KEY)
            jws.deserialize_compact(token.text, public, algorithms=[token.algorithm], registry=registry)
    except (JoseError, ValueError, TypeError):
        raise AuthRefused(RefusalReason.SIGNATURE) from None


def _chosen(token: Token, keys: Sequence[Jwk]) -> Jwk:
    """The key that the token names; if it names none, the only key there is."""
    found = [key for key in keys if key.get("kid") == token.key_id] if token.key_id else list(keys)
    if len(found) != 1:
        raise AuthRefused(RefusalReason.UNKNOWN_KEY)
    return found[0]


def _fits(key: Jwk, algorithm: str) -> bool:
    """Whether a key can verify signatures of this algorithm."""
    kind, curve = _FAMILIES.get(algorithm) or _FAMILIES.get(algorithm[:2]) or ("EC", _CURVES.get(algorithm))
    operations = key.get("key_ops")
    return (
        key.get("kty") == kind
        and (not curve or key.get("crv") == curve)
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
        and (operations is None or (isinstance(operations, list) and "verify" in operations))
    )
