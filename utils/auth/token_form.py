"""Parses a signed token before anything in it is trusted: format, sizes, header. Pure."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from utils.auth.refusal import AuthRefused, RefusalReason

LARGEST_TOKEN = 8_192
"""Characters; larger ones do not fit into the headers that servers take."""

_SEGMENT = re.compile(r"[A-Za-z0-9_-]+")
_KEY_ID = re.compile(r"[A-Za-z0-9._~:+=@-]{1,128}")
_MOST_LEVELS = 8
_SEGMENTS = 3
_DANGEROUS = frozenset({"crit", "b64", "jwk", "jku", "x5u", "x5c", "enc", "zip"})
"""Header parameters by which a token would choose its own key, or change what is signed."""


@dataclass(frozen=True, slots=True)
class Token:
    """A signed token, parsed but not verified.

    Attributes:
        text: The token as sent.
        algorithm: The `alg` of its header.
        key_id: The `kid` of its header; empty if it has none.
        type: Its media type in lower case, without `application/`.
        claims: Its claims.
    """

    text: str
    algorithm: str
    key_id: str
    type: str
    claims: Mapping[str, Any]


def bearer_of(headers: Sequence[str]) -> str:
    """The token of the one Authorization header.

    Raises:
        AuthRefused: There is none, there are several, or it is of another scheme.
    """
    if not headers:
        raise AuthRefused(RefusalReason.MISSING)
    if len(headers) > 1:
        raise AuthRefused(RefusalReason.MALFORMED)
    scheme, _, token = headers[0].partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise AuthRefused(RefusalReason.MISSING)
    if len(token) > LARGEST_TOKEN:
        raise AuthRefused(RefusalReason.TOO_LARGE)
    if not token.isascii() or any(one.isspace() or one == "," for one in token):
        raise AuthRefused(RefusalReason.MALFORMED)
    return token


def parse_token(text: str) -> Token:
    """Parse a signed token in compact serialisation.

    Raises:
        AuthRefused: It has another format, or a header parameter that is not accepted.
    """
    segments = text.split(".")
    if len(segments) != _SEGMENTS or not all(map(_SEGMENT.fullmatch, segments)):
        raise AuthRefused(RefusalReason.MALFORMED)
    header, claims = _object(segments[0]), _object(segments[1])
    if _DANGEROUS & header.keys():
        raise AuthRefused(RefusalReason.HEADER)
    algorithm, key_id, kind = (header.get(name, "") for name in ("alg", "kid", "typ"))
    if not all(isinstance(value, str) for value in (algorithm, key_id, kind)):
        raise AuthRefused(RefusalReason.HEADER)
    if "kid" in header and not _KEY_ID.fullmatch(key_id):
        raise AuthRefused(RefusalReason.UNKNOWN_KEY)
    return Token(text, algorithm, key_id, kind.lower().removeprefix("application/"), claims)


def _object(segment: str) -> Mapping[str, Any]:
    try:
        decoded = base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
        value = json.loads(decoded.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (binascii.Error, ValueError, RecursionError):
        raise AuthRefused(RefusalReason.MALFORMED) from None
    if not isinstance(value, dict) or _levels(value) > _MOST_LEVELS:
        raise AuthRefused(RefusalReason.MALFORMED)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name comes twice")
    return found


def _no_constant(_name: str) -> None:
    raise ValueError("no number of JSON")


def _levels(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_levels, value.values()), default=0)
    return 1 + max(map(_levels, value), default=0) if isinstance(value, list) else 0
