"""Which agents are asked with a token of the person, exchanged at the identity provider, as configured."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from utils.errors import SettingsError

VARIABLE = "SUB_AGENTS_EXCHANGE"
CHOICES = "an audience and a scope, without commas, and none that approves"

_FIELDS = frozenset({"audience", "scope"})
_WORD = re.compile(r"[\x21-\x2b\x2d-\x7e]{1,255}")
_APPROVES = ":approve"


@dataclass(frozen=True, slots=True)
class ExchangeFor:
    """What is requested from the identity provider.

    Attributes:
        audience: The agent's identifier at the provider; empty where that is its origin.
        scopes: Scopes of the token; the provider's default where there are none.
    """

    audience: str = ""
    scopes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The value of a pair of `SUB_AGENTS_EXCHANGE`."""
        return " ".join((self.audience, *self.scopes))


def exchange_of(value: object) -> ExchangeFor | None:
    """The value of `exchange` in an entry of the agents file; `None` if it is invalid."""
    if not isinstance(value, Mapping) or not _FIELDS.issuperset(value):
        return None
    audience, scope = value.get("audience", ""), value.get("scope", "")
    if not isinstance(audience, str) or not isinstance(scope, str):
        return None
    return _checked(audience, tuple(scope.split()))


def parse_exchange(value: str) -> dict[str, ExchangeFor]:
    """The request for each agent, from `name=audience scope …` pairs separated by commas.

    Raises:
        SettingsError: A pair is malformed, or a name comes twice.
    """
    found: dict[str, ExchangeFor] = {}
    for pair in filter(None, (each.strip() for each in value.split(","))):
        name, separator, rest = pair.partition("=")
        audience, *scopes = rest.split() or [""]
        wanted = _checked(audience, tuple(scopes))
        if not separator or wanted is None or name.strip() in found:
            text = f"Setting {VARIABLE} is wrong: write each agent once, as name= and {CHOICES}."
            raise SettingsError(VARIABLE, text)
        found[name.strip()] = wanted
    return found


def _checked(audience: str, scopes: tuple[str, ...]) -> ExchangeFor | None:
    whole = all(map(_WORD.fullmatch, (audience, *scopes) if audience else scopes))
    if not whole or (scopes and not audience) or any(scope.endswith(_APPROVES) for scope in scopes):
        return None
    return ExchangeFor(audience, scopes)
