"""`Principal`: a caller whose credentials were verified. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

PRINCIPAL = "principal"
"""Key in the state of a call: its principal."""


class PrincipalKind(StrEnum):
    """Whether a credential belongs to a user or to a program."""

    USER = "user"
    AGENT = "agent"
    """A program that acts by itself or for a user."""


class Right(StrEnum):
    """What a scope of an agent allows."""

    USE = "use"
    APPROVE = "approve"
    ADMIN = "admin"


def scope_for(agent: str, right: Right) -> str:
    """The scope that allows this at an agent."""
    return f"agent:{agent}:{right.value}"


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller.

    Attributes:
        issuer: Who authenticated it; never contains a space.
        subject: Its ID at that issuer.
        scopes: What it may do.
        kind: Whether it is a user or a program.
        tenant: Its tenant; empty without tenants.
        actors: Who acts for the subject; the sender of the request comes first.
        task: Reference to the task that an agent works on; empty for others.
        consent: Digest of what the user of the agent that sent this has approved; empty where nothing was.
    """

    issuer: str
    subject: str
    scopes: frozenset[str]
    kind: PrincipalKind = PrincipalKind.USER
    tenant: str = ""
    actors: Sequence[str] = ()
    task: str = ""
    consent: str = ""

    @property
    def name(self) -> str:
        """The key of the caller: issuer and subject, since a subject is unique for its issuer alone."""
        return f"{self.issuer} {self.subject}"

    def may(self, agent: str, right: Right) -> bool:
        """Whether a scope allows it."""
        return scope_for(agent, right) in self.scopes

    def may_approve(self, agent: str, digest: str) -> bool:
        """Whether the caller may approve what has this digest.

        A person with the scope may. An agent may not, whatever its scopes: it passes on what its own user approved, and our
        supervisor signs the digest of exactly that.
        """
        if self.kind is PrincipalKind.AGENT:
            return bool(digest) and self.consent == digest
        return self.may(agent, Right.APPROVE)
