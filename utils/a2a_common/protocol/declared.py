"""What an agent's card says of extensions. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utils.a2a_common.protocol.extensions import READ_ONLY_EXTENSION

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import AgentCard


def declares(card: AgentCard, uri: str) -> bool:
    """Whether a card declares an extension."""
    return uri in {each.uri for each in card.capabilities.extensions}


def required_extensions(card: AgentCard) -> frozenset[str]:
    """URIs of the extensions that a client must declare to talk to an agent."""
    return frozenset(each.uri for each in card.capabilities.extensions if each.required)


def only_reads(card: AgentCard | None) -> bool:
    """Whether a card declares that its agent changes nothing; an agent whose card is not known may change something."""
    return card is not None and declares(card, READ_ONLY_EXTENSION)
