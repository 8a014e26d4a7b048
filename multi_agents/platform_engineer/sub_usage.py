"""Adds the usage of sub-agents to the supervisor's: each token once, by configured agent name. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from utils.a2a_common.protocol.extensions import parse_usage
from utils.events import Usage, UsageReported


def usage_since(counted: Mapping[str, Any], reported: UsageReported | None) -> UsageReported:
    """The usage of a remote task since the last count: a task reports its total after each question."""
    before = parse_usage(counted)
    known = before.by_agent if before else {}
    now = reported.by_agent if reported else {}
    return UsageReported({agent: usage.since(known.get(agent, Usage())) for agent, usage in now.items()})


def under_name(usage: UsageReported, agent: str) -> UsageReported:
    """A sub-agent's usage under our name for it; agents further down keep theirs, as a path."""
    own = {agent if name == agent else f"{agent}/{name}": tokens for name, tokens in usage.by_agent.items()}
    return UsageReported(own)
