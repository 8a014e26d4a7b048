"""One skill on an agent's card."""

from __future__ import annotations

from dataclasses import dataclass

REFUSED = "refused"
"""Tag of a skill whose requests are understood and refused: they are routed to the agent, and never suggested."""


@dataclass(frozen=True, slots=True)
class Skill:
    """One ability on the agent's card.

    Attributes:
        id: Short identifier, unique on the card.
        name: Title for people.
        description: What it does, in a sentence.
        examples: Requests that it answers, as users write them. Semantic routing uses them.
        tags: Keywords.
    """

    id: str
    name: str
    description: str
    examples: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
