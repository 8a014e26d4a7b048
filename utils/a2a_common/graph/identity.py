"""Checks that an agent has a name and a description, and makes its default prompt. Pure."""

from __future__ import annotations

REQUIRED = ("name", "description")


def check_identity(agent_class: type) -> None:
    """Refuse an agent class that does not say who it is, where it is defined.

    Args:
        agent_class: A class with the attributes of `REQUIRED` as texts, its own or inherited.

    Raises:
        TypeError: One is missing, empty or no text.
    """
    for attribute in REQUIRED:
        given = getattr(agent_class, attribute, "")
        if not isinstance(given, str) or not given.strip():
            raise TypeError(
                f"{agent_class.__name__} needs a {attribute}: set the class attribute `{attribute}` to a text. "
                "A class that is only inherited from names ABC among its bases."
            )


def default_prompt(name: str, description: str) -> str:
    """The instruction of an agent that writes none: who it is, and that it does not guess."""
    return (
        f"You are the agent {name}. {description.strip()}\n"
        "Do what the user asks within that. Use your tools where they help, and answer from what they return. "
        "Where you do not know something or cannot do it, say so plainly; never invent facts."
    )
