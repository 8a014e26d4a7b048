"""Tokens that the provider exchanged for our supervisor: whose requests are theirs. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from utils.auth.principal import Principal, PrincipalKind
from utils.auth.service_tokens import ISSUER

_CLIENT_CLAIMS = ("azp", "client_id")


def as_supervisors(caller: Principal, claims: Mapping[str, Any], actor: str) -> Principal:
    """The caller as a service token names them, where the provider says that our supervisor acts for them.

    So the same conversation has one owner, whichever of the two tokens the supervisor sends. It holds for the people of this
    issuer alone, since their issuer is part of the name; and like a service token it never approves by itself.

    Args:
        caller: The caller of the token.
        claims: What it claims.
        actor: What the provider calls our supervisor; empty where that is not known.
    """
    if not actor:
        return caller
    if caller.actors:
        ours = caller.actors[0] == actor
    else:  # providers that name the client of an exchange and no actor
        ours = any(claims.get(name) == actor for name in _CLIENT_CLAIMS)
    if not ours:
        return caller
    actors = caller.actors or (actor,)
    return replace(caller, issuer=ISSUER, subject=caller.name, kind=PrincipalKind.AGENT, actors=actors)
