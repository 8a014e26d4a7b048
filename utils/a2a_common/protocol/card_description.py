"""The description on an agent's card, which names the agent's model for people. Pure."""

from __future__ import annotations

_MARK = " Answers with "
_LONGEST_NAME = 100


def with_model(description: str, model: str) -> str:
    """The description with the model's name behind it."""
    return f"{description}{_MARK}{model}."


def without_model(description: str) -> str:
    """The description for another agent's model: the name of a model says nothing about an agent's abilities."""
    text, mark, model = description.rpartition(_MARK)
    return text if mark and len(model) <= _LONGEST_NAME else description
