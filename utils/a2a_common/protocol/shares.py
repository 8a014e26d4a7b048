"""How much of a conversation an agent is given, as configured; an agent's own claims do not matter."""

from __future__ import annotations

from enum import StrEnum

from utils.errors import SettingsError

VARIABLE = "SUB_AGENTS_SHARES"


class Shares(StrEnum):
    """What an agent receives besides its sub-task."""

    NOTHING = "nothing"
    REQUEST = "request"
    """The text of the user's request."""
    RESULTS = "results"
    """Also the results of other agents, the conversation so far, and the user's identity."""


CHOICES = "nothing, request or results"


def parse_shares(value: str) -> dict[str, Shares]:
    """What each agent receives, from `name=nothing|request|results` pairs separated by commas.

    Raises:
        SettingsError: A pair is malformed, or a name comes twice.
    """
    found: dict[str, Shares] = {}
    for pair in (each.strip() for each in value.split(",")):
        if not pair:
            continue
        name, _, word = (each.strip() for each in pair.partition("="))
        if word not in list(Shares) or name in found:
            text = f"Setting {VARIABLE} is wrong: write each agent once, as name= and one of {CHOICES}."
            raise SettingsError(VARIABLE, text)
        found[name] = Shares(word)
    return found
