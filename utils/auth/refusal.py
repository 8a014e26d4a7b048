"""Why a credential is refused, as a code for the log. The caller is told only that it was."""

from __future__ import annotations

from enum import StrEnum


class Why(StrEnum):
    """The codes."""

    MISSING = "missing"
    MALFORMED = "malformed"
    TOO_LARGE = "too_large"
    ALGORITHM = "algorithm"
    HEADER = "header"
    KEY = "key"
    UNKNOWN_KEY = "unknown_key"
    SIGNATURE = "signature"
    EXPIRED = "expired"
    TIME = "time"
    ISSUER = "issuer"
    AUDIENCE = "audience"
    TOKEN_TYPE = "token_type"  # noqa: S105 - a code
    SUBJECT = "subject"
    TENANT = "tenant"
    SCOPE = "scope"
    ACTOR = "actor"
    REPLAYED = "replayed"
    STORAGE = "storage"
    KEYS_UNAVAILABLE = "keys_unavailable"
    REVOKED = "revoked"


class AuthRefused(Exception):
    """The credential proves nothing.

    Attributes:
        why: The code for the log.
    """

    def __init__(self, why: Why) -> None:
        super().__init__(why.value)
        self.why = why
