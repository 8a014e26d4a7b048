"""`doctor`'s check of agents that delete conversations before the supervisor does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from multi_agents.cli.model.finding import Finding, Level
from multi_agents.cli.own_settings import OwnSettings
from utils.a2a_common.client.agents.agents_file import SUPERVISOR
from utils.persistence.settings import RetentionSettings

SHORTER = (
    "{agent} deletes conversations after {days:g} days, and the supervisor {later}: a question of {agent} that has waited for longer "
    "cannot be answered any more. Give both the same RETENTION_DAYS"
)


def check_shorter_retention(environ: Mapping[str, str], own: Sequence[OwnSettings]) -> Iterator[Finding]:
    """Agents whose `RETENTION_DAYS` are less than the supervisor's. Limits of size delete no conversation that waits."""
    of = {one.agent: one.over(environ) for one in own}
    kept = _days(of.pop(SUPERVISOR, environ))
    # an agent without settings of its own has those of the service, from which the supervisor's may differ
    rest = (
        {"an agent without settings of its own": environ} if SUPERVISOR in {one.agent for one in own} else {}
    )
    for agent, settings in {**of, **rest}.items():
        days = _days(settings)
        if days < kept:
            later = f"after {kept:g}" if kept < math.inf else "never"
            yield Finding("retention", Level.NOTE, SHORTER.format(agent=agent, days=days, later=later))


def _days(settings: Mapping[str, str]) -> float:
    """How long conversations are kept."""
    return RetentionSettings.load(settings).days or math.inf
