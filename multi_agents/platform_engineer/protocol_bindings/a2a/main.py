"""Serves the supervisor over A2A."""

from __future__ import annotations

from multi_agents.platform_engineer.protocol_bindings.a2a.agent import PlatformEngineer
from utils.a2a_common.server.serve import serve

SUPERVISOR_PORT = 8000


def main() -> int:
    """Serve until SIGINT or SIGTERM; returns the exit code."""
    return serve(PlatformEngineer, default_port=SUPERVISOR_PORT)
