"""Secrets that prove that two messages come from the same sender. Pure."""

from __future__ import annotations

import hashlib
import hmac
import json


def nonce_for(key: bytes, *about: str) -> str:
    """The secret for these values; it cannot be computed without `key`."""
    return hmac.new(key, json.dumps(about).encode(), hashlib.sha256).hexdigest()


def digest_of(nonce: str) -> str:
    """The digest of a secret, which may be stored and shown."""
    return hashlib.sha256(nonce.encode()).hexdigest()


def same(one: str, other: str) -> bool:
    """Whether two secrets are the same, and not empty; takes the same time for any two."""
    return bool(one) and hmac.compare_digest(one.encode(), other.encode())
