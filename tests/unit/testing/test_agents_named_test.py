"""An agent may be named after tests, as one for TestRail is: pytest takes neither it nor its settings for tests.

pytest refuses to collect this file where it does, since both have a constructor.
"""

from __future__ import annotations

from multi_agents.cli.scaffold.names import checked_name
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.environment import EnvSettings


class TestRailAgent(BaseLangGraphAgent):
    """Reads TestRail."""

    name = "test-rail"
    description = "Reads test runs."


class TestRailSettings(EnvSettings):
    """What it needs."""


def test_a_new_agent_whose_name_begins_with_test_is_named_so() -> None:
    assert f"{checked_name('test_rail').camel}Agent" == TestRailAgent.__name__
