"""Builds the principal from a token's claims, once the signature is verified. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from utils.auth.principal import Principal, PrincipalKind
from utils.auth.refusal import AuthRefused, RefusalReason
from utils.auth.token_form import Token

_LONGEST = 255
_PLAIN = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_ACTORS = 3
_OF_ID_TOKENS = frozenset({"nonce", "at_hash", "c_hash"})
_ACCESS_TYPES = frozenset({"", "jwt", "at+jwt"})


@dataclass(frozen=True, slots=True)
class Rules:
    """What a token has to contain.

    Attributes:
        issuer: Its issuer.
        audience: Its audience.
        leeway: Seconds that clocks may differ by.
        type: The type that its header must name; empty for any type of access tokens.
        tenant_claim: The claim that names the tenant; empty without tenants.
        longest_subject: Most characters of a subject.
    """

    issuer: str
    audience: str
    leeway: float = 30.0
    type: str = ""
    tenant_claim: str = ""
    longest_subject: int = _LONGEST


def principal_of(token: Token, rules: Rules, now: float) -> Principal:
    """The caller of a token whose signature is verified.

    Raises:
        AuthRefused: It has another issuer or audience, is not valid now, or lacks a claim.
    """
    claims = token.claims
    _check_type(token, rules)
    if claims.get("iss") != rules.issuer:
        raise AuthRefused(RefusalReason.ISSUER)
    _check_times(claims, rules.leeway, now)
    audiences = claims.get("aud")
    if rules.audience not in (audiences if isinstance(audiences, list) else [audiences]):
        raise AuthRefused(RefusalReason.AUDIENCE)
    subject = plain_text(claims.get("sub"), RefusalReason.SUBJECT, rules.longest_subject)
    actors = _actors(claims, subject)
    program = bool(actors) or subject in (claims.get("client_id"), claims.get("azp"))
    return Principal(
        issuer=rules.issuer,
        subject=subject,
        scopes=_scopes(claims),
        kind=PrincipalKind.AGENT if program else PrincipalKind.USER,
        tenant=plain_text(claims.get(rules.tenant_claim), RefusalReason.TENANT) if rules.tenant_claim else "",
        actors=actors,
    )


def _check_type(token: Token, rules: Rules) -> None:
    wanted = rules.type.lower().removeprefix("application/")
    fits = token.type == wanted if wanted else token.type in _ACCESS_TYPES
    if not fits or _OF_ID_TOKENS & token.claims.keys() or token.claims.get("token_use") == "id":
        raise AuthRefused(RefusalReason.TOKEN_TYPE)


def _check_times(claims: Mapping[str, Any], leeway: float, now: float) -> None:
    expires = _seconds(claims.get("exp"))
    if expires + leeway <= now:
        raise AuthRefused(RefusalReason.EXPIRED)
    if any(_seconds(claims[name]) > now + leeway for name in ("nbf", "iat") if name in claims):
        raise AuthRefused(RefusalReason.TIME)


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise AuthRefused(RefusalReason.TIME)
    return float(value) if value < 2**53 else math.inf


def plain_text(value: object, why: RefusalReason, longest: int = _LONGEST) -> str:
    """A claim that is a short string without control characters.

    Raises:
        AuthRefused: It is something else, for the reason `why`.
    """
    if not isinstance(value, str) or len(value) > longest or not _PLAIN.fullmatch(value):
        raise AuthRefused(why)
    return value


def _scopes(claims: Mapping[str, Any]) -> frozenset[str]:
    """The scopes of `scope` (RFC 9068) or `scp`, a string or a list."""
    value = claims.get("scope", claims.get("scp", ""))
    words = value.split(" ") if isinstance(value, str) else value if isinstance(value, list) else []
    return frozenset(word for word in words if isinstance(word, str) and word)


def _actors(claims: Mapping[str, Any], subject: str) -> tuple[str, ...]:
    """Who acts for the subject (RFC 8693), the newest first."""
    found: list[str] = []
    act = claims.get("act")
    while act is not None:
        if not isinstance(act, Mapping) or len(found) == _ACTORS:
            raise AuthRefused(RefusalReason.ACTOR)
        found.append(plain_text(act.get("sub"), RefusalReason.ACTOR))
        act = act.get("act")
    if len({*found, subject}) != len(found) + 1:
        raise AuthRefused(RefusalReason.ACTOR)
    return tuple(found)
