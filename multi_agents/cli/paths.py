"""Where the command line finds the checkout and the supervisor."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


SUPERVISOR_MODULE = "multi_agents.platform_engineer"
"""The module whose process is the supervisor."""
