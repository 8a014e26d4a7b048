"""Whose an agent is, as configured; an agent's own claims do not matter."""

from __future__ import annotations

from enum import StrEnum

from utils.a2a_common.protocol.shares import Shares
from utils.errors import SettingsError

VARIABLE = "SUB_AGENTS_TRUST"


class Trust(StrEnum):
    """Who operates an agent."""

    OWN = "own"
    """An own agent: it gets signed tokens, and its answers may be passed on as they are."""
    FOREIGN = "foreign"
    """A third party's agent: it gets no text from another foreign agent, and its questions are shown with a warning."""


CHOICES = "own or foreign"


def usual_trust(shares: Shares) -> Trust:
    """The default trust of an agent: own if it receives everything."""
    return Trust.OWN if shares is Shares.RESULTS else Trust.FOREIGN


def parse_trust(value: str) -> dict[str, Trust]:
    """Whose each agent is, of `name=own|foreign` pairs separated by commas.

    Raises:
        SettingsError: A pair is malformed, or a name comes twice.
    """
    found: dict[str, Trust] = {}
    for pair in filter(None, (each.strip() for each in value.split(","))):
        name, _, word = (each.strip() for each in pair.partition("="))
        if word not in list(Trust) or name in found:
            text = f"Setting {VARIABLE} is wrong: write each agent once, as name= and {CHOICES}."
            raise SettingsError(VARIABLE, text)
        found[name] = Trust(word)
    return found
