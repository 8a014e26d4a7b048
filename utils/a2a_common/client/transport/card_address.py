"""Where an agent's card is read. Pure."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

_USUAL = "/.well-known/agent-card.json"


def card_address(url: str) -> str:
    """The address of a card for a configured address: a JSON file as it is, otherwise the well-known path below the agent's address.

    A query, by which some servers distinguish their agents, stays.
    """
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    return urlunsplit(parts._replace(path=path if path.endswith(".json") else f"{path}{_USUAL}", fragment=""))
