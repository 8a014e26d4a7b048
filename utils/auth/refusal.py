"""Reasons to refuse a credential, as codes for the log. The caller only learns that it was refused or could not be checked."""

from __future__ import annotations

from enum import StrEnum


class RefusalReason(StrEnum):
    """Why a credential was refused."""

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


_UNCHECKED = frozenset({RefusalReason.KEYS_UNAVAILABLE, RefusalReason.STORAGE})

CHECKED_AGAIN_SECONDS = 5
"""Retry-After for a caller whose credential could not be checked: the pause between two requests to a provider."""


class AuthRefused(Exception):
    """The credential is not valid, or could not be checked.

    Attributes:
        why: The code for the log.
    """

    def __init__(self, why: RefusalReason) -> None:
        super().__init__(why.value)
        self.why = why

    @property
    def unchecked(self) -> bool:
        """Whether the credential may be valid: the keys or records to check it cannot be read now."""
        return self.why in _UNCHECKED
