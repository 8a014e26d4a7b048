"""Where the supervisor's sub-agents are: the variable `SUB_AGENTS`, else `agents/agents.yaml`."""

from __future__ import annotations

from pathlib import Path

from utils.a2a_common.agents_file import AgentEntry, load_agents_file, parse_sub_agents
from utils.settings import SubAgentSettings

_AGENTS_FILE = Path(__file__).parents[2] / "agents" / "agents.yaml"


def sub_agent_urls(settings: SubAgentSettings) -> dict[str, str]:
    """Addresses by name.

    Raises:
        SettingsError: The variable or the file is malformed.
    """
    if settings.sub_agents is not None:
        entries = parse_sub_agents(settings.sub_agents)
    else:
        entries = load_agents_file(_AGENTS_FILE)
    return {entry.name: _url(entry) for entry in entries}


def _url(entry: AgentEntry) -> str:
    return entry.url or f"http://127.0.0.1:{entry.port}"
