"""The extension for standing rules: a data part that asks for them or changes them, and the payload of the answer. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

RULES_EXTENSION = "urn:platform-engineer:ext:rules:v1"

LONGEST_RULE = 1_000
"""Most characters of a rule that a client adds."""


@dataclass(frozen=True, slots=True)
class RulesRequest:
    """A client's request for the list of rules, after one was added or removed.

    Attributes:
        add: A rule to add.
        remove: A rule to remove: its number in the list, or its text.
    """

    add: str = ""
    remove: str = ""


def rules_part(asked: RulesRequest) -> dict[str, Any]:
    """The data part of a message that asks for the rules of its conversation."""
    if asked.add:
        return {RULES_EXTENSION: {"add": asked.add}}
    return {RULES_EXTENSION: {"remove": asked.remove} if asked.remove else {"list": True}}


def parse_rules_request(data: Iterable[Mapping[str, Any]]) -> RulesRequest | None:
    """The request about rules in a message's data parts; `None` if there is none."""
    for part in data:
        value = part.get(RULES_EXTENSION)
        if isinstance(value, Mapping):
            add, remove = (" ".join(str(value.get(name) or "").split()) for name in ("add", "remove"))
            return RulesRequest(add[:LONGEST_RULE], remove)
    return None


def rules_payload(rules: Sequence[str]) -> dict[str, Any]:
    """The JSON object of the answer: the rules in force, oldest first."""
    return {"rules": list(rules)}
