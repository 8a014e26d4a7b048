"""Runs the supervisor's turns as A2A tasks."""

from __future__ import annotations

from utils.a2a_common.execution.executor import BaseLangGraphAgentExecutor


class SupervisorExecutor(BaseLangGraphAgentExecutor):
    """The life cycle that every agent has: one end to a task, and a queue that may close under it.

    Nothing of a request is kept here, so that two conversations at once see nothing of each other.
    """
