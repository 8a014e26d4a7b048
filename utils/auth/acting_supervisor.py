"""Recognises tokens that the provider exchanged for our supervisor, and names their user as the owner of the request. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from utils.auth.principal import Principal, PrincipalKind
from utils.auth.service_tokens import ISSUER

_CLIENT_CLAIMS = ("azp", "client_id")


def as_supervisors(caller: Principal, claims: Mapping[str, Any], actor: str) -> Principal:
    """The caller as a service token would name them, if the provider says that our supervisor acts for them.

    A conversation therefore has one owner, whichever of the two tokens the supervisor sends. The issuer is part of the
    name, so users of other issuers are not affected. Like a service token, the result cannot approve by itself.

    Args:
        caller: The caller of the token.
        claims: The claims of that token.
        actor: The provider's name for our supervisor; empty if not known.
    """
    if not actor:
        return caller
    if caller.actors:
        is_supervisor = caller.actors[0] == actor
    else:  # some providers name the client of an exchange instead of an actor
        is_supervisor = any(claims.get(name) == actor for name in _CLIENT_CLAIMS)
    if not is_supervisor:
        return caller
    actors = caller.actors or (actor,)
    return replace(caller, issuer=ISSUER, subject=caller.name, kind=PrincipalKind.AGENT, actors=actors)
