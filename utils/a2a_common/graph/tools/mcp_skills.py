"""Skills for the tools of MCP servers: one for each server. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from utils.a2a_common.protocol.skill import Skill

if TYPE_CHECKING:
    from utils.mcp.tools import Offer

MOST_SHOWN = 12
"""Tools of one server that its skill names; a card is read by models, and each tool takes of their room."""


def skills_of(offers: Sequence[Offer]) -> tuple[Skill, ...]:
    """A skill for each server. The servers' descriptions of their tools are quoted, because they are untrusted data."""
    return tuple(_skill(offer) for offer in offers)


def _skill(offer: Offer) -> Skill:
    shown = list(offer.tools.items())[:MOST_SHOWN]
    named = [f"{name} ({json.dumps(does, ensure_ascii=False)})" if does else name for name, does in shown]
    more = len(offer.tools) - len(shown)
    listed = "; ".join(named) + (f"; and {more} more" if more else "")
    return Skill(
        id=f"mcp_{offer.server}",
        name=f"Tools of {offer.server}",
        description=f"Calls the tools of the MCP server {offer.server}: {listed}.",
        examples=tuple(does for _, does in shown if does) or tuple(name for name, _ in shown),
        tags=("mcp", offer.server),
    )
