"""The supervisor as the A2A binding serves it.

What a turn recovers from stands around every model call of every agent, the supervisor's included:
`utils.resilience` for orphaned tool calls, overflows, empty answers and providers that are busy or down.
"""

from __future__ import annotations

from multi_agents.platform_engineer.agent import PlatformEngineer

__all__ = ["PlatformEngineer"]
