"""Runs the supervisor's turns as A2A tasks."""

from __future__ import annotations

from utils.a2a_common.execution.executor import BaseLangGraphAgentExecutor


class SupervisorExecutor(BaseLangGraphAgentExecutor):
    """The executor of every agent, unchanged; a name and a place for what only the supervisor's turns may need."""
