"""Delegation chain of a request; detects delegation loops. Pure.

Each agent that delegates adds itself with a digest of the request that it works on. An agent that
is about to send an agent of the trail the same request that this one had sent on is in a loop.
Agents are identified by the address on their cards, which both sides know; it is only in the digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MOST_HOPS = 8
"""Agents in one chain. Agents that rephrase a request have no equal digests; the length ends such a chain."""

LOOP = "delegation_loop"
"""Code of a delegation that was not made."""

_LONGEST_NAME = 200
_DIGEST_CHARACTERS = 32


@dataclass(frozen=True, slots=True)
class Hop:
    """One agent of the chain: its own name, and a digest of its address and the request it works on."""

    agent: str
    digest: str


def hop(agent: str, url: str, request: str) -> Hop:
    """The hop of an agent that works on a request. Case, spaces and marks at its end make no other request."""
    normalised = " ".join(request.casefold().split()).rstrip(".!? ")
    digest = hashlib.sha256(f"{url.rstrip('/')}\n{normalised}".encode()).hexdigest()
    return Hop(agent, digest[:_DIGEST_CHARACTERS])


def refusal(trail: Sequence[Hop], following: Hop) -> str:
    """Why the chain must not continue with `following`, as the delegating model reads it; empty if it may."""
    if any(each.digest == following.digest for each in trail):
        return (
            f"The {following.agent} agent was not asked: it handed on this very request itself, so that it would come "
            "back again. Answer with what you have, ask for a part of it, or say what cannot be found out."
        )
    if len(trail) >= MOST_HOPS:
        return (
            f"The {following.agent} agent was not asked: the request was handed on by {len(trail)} agents already. "
            "Answer with what you have, or say what cannot be found out."
        )
    return ""


def without_digests(trail: Sequence[Hop], but: str) -> list[Hop]:
    """The trail with one digest only: who can guess a request could find it out from its digest."""
    return [each if each.digest == but else Hop(each.agent, "") for each in trail]


def parse_trail(value: object) -> list[Hop]:
    """The hops in a peer's data; anything else is left out, and only the newest are kept."""
    entries = value if isinstance(value, list | tuple) else []
    found = [each for each in entries if isinstance(each, Mapping) and isinstance(each.get("digest"), str)]
    newest = found[-MOST_HOPS:]
    return [Hop(str(e.get("agent", ""))[:_LONGEST_NAME], e["digest"][:_DIGEST_CHARACTERS]) for e in newest]
