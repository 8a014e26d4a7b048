"""The attacks of AgentDojo as texts: each of its goals in each of its wordings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_DATA: dict[str, Any] = json.loads(Path(__file__).with_name("agentdojo.json").read_text("utf-8"))

WORDINGS: Sequence[str] = tuple(_DATA["templates"])
"""Names of the ways in which a text gives an order."""
SUITES: Sequence[str] = tuple(_DATA["goals"])
"""Names of the groups of goals."""


def attacks(wording: str, suite: str) -> list[str]:
    """Each goal of a group, in a wording."""
    template = str(_DATA["templates"][wording])
    named = template.replace("{user}", "Emma Johnson").replace("{model}", "AI assistant")
    return [named.replace("{goal}", goal) for goal in _DATA["goals"][suite]]
