"""Re-exports the supervisor's class beside its executor."""

from __future__ import annotations

from multi_agents.platform_engineer.agent import PlatformEngineer

__all__ = ["PlatformEngineer"]
