"""Which sub-agents the supervisor has: those of the variable `SUB_AGENTS`, else of `agents/agents.yaml`."""

from __future__ import annotations

from pathlib import Path

from utils.a2a_common.client.agents.agents_file import (
    AgentEntry,
    load_agents_file,
    parse_sub_agents,
    with_exchange,
    with_shares,
    with_trust,
)
from utils.auth.settings import TrustSettings
from utils.settings import SubAgentSettings

_AGENTS_FILE = Path(__file__).parents[2] / "agents" / "agents.yaml"


def sub_agents(settings: SubAgentSettings, trust: TrustSettings) -> tuple[AgentEntry, ...]:
    """The sub-agents, each with its address, what is shared with it, and its trust.

    Raises:
        SettingsError: A variable or the file is malformed.
    """
    if settings.sub_agents is not None:
        entries = parse_sub_agents(settings.sub_agents)
    else:
        entries = load_agents_file(_AGENTS_FILE)
    return with_exchange(with_trust(with_shares(entries, settings.shares or ""), trust.trust), trust.exchange)
