"""`serve`: this process becomes one agent's server."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from multi_agents.cli.errors import UsageError
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.paths import AGENT_MODULE, SUPERVISOR_MODULE, module_path
from multi_agents.cli.running import run
from multi_agents.cli.service.plan import AGENTS_FILE
from utils.a2a_common.client.agents.agents_file import SUPERVISOR, load_agents_file
from utils.processes.agent_module import APART
from utils.settings import process_environment

_CLASS_PATH = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
SERVE_MODULE = "utils.a2a_common.server.serve"


def serve(target: str, host: str | None, port: int | None, agents_file: Path | None) -> ExitCode:
    """Replace this process. Returns only when the target is wrong."""
    return run(_serve(target, host, port, agents_file or AGENTS_FILE))


async def _serve(target: str, host: str | None, port: int | None, agents_file: Path) -> ExitCode:
    options = [*(("--host", host) if host else ()), *(("--port", str(port)) if port is not None else ())]
    command = [
        sys.executable,
        "-P",
        "-m",
        AGENT_MODULE,
        APART,
        *module_arguments(target, agents_file),
        *options,
    ]
    environ = process_environment()
    environ["PYTHONPATH"] = module_path(environ)
    os.execve(sys.executable, command, environ)  # noqa: S606


def module_arguments(target: str, agents_file: Path) -> list[str]:
    """The arguments of `python -m` for an agent's name or for `module:Class`.

    Raises:
        UsageError: There is no local agent of that name.
        SettingsError: The list of agents is wrong.
    """
    if _CLASS_PATH.fullmatch(target):
        return [SERVE_MODULE, target]
    modules = {one.name: one.module for one in load_agents_file(agents_file) if one.module}
    modules[SUPERVISOR] = SUPERVISOR_MODULE
    module = modules.get(target)
    if module is None:
        raise UsageError(f"There is no local agent {target!r}; there are: {', '.join(sorted(modules))}.")
    return [module]
