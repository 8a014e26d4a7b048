"""Where the command line finds the checkout and the supervisor."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

AGENT_MODULE = "utils.processes.agent_module"
"""What runs the module of a process, and says why where it cannot."""

SUPERVISOR_MODULE = "multi_agents.platform_engineer"
"""The module whose process is the supervisor."""


def module_path(environ: Mapping[str, str]) -> str:
    """PYTHONPATH of a process that is started with `python -P`: this project before anything else, the current folder last.

    So an agent of the user is found where the command was typed, and a folder named `utils` there does not take the place
    of the project's package.
    """
    return os.pathsep.join([str(ROOT), *filter(None, [environ.get("PYTHONPATH")]), str(Path.cwd())])
