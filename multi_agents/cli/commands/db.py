"""`db upgrade` and `db status`: the tables of the agents at DATABASE_URL, by each agent's own program."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from multi_agents.cli.console import out, print_json
from multi_agents.cli.errors import UsageError
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.own_settings import own_settings
from multi_agents.cli.paths import SUPERVISOR_MODULE, module_path
from multi_agents.cli.running import run
from multi_agents.cli.service.local import home_folder
from utils.a2a_common.client.agents.agents_file import SUPERVISOR, load_agents_file
from utils.settings import process_environment

_MEGABYTE = 1_000_000


def db(verb: str, agent: str | None, agents_file: Path, *, as_json: bool) -> ExitCode:
    """Upgrade or check the tables of every local agent, or of one; exit code 2 if one cannot be used or is not up to date."""
    return run(_db(verb, agent, agents_file, as_json=as_json), as_json=as_json)


async def _db(verb: str, agent: str | None, agents_file: Path, *, as_json: bool) -> ExitCode:
    environ = process_environment() | {"PLATFORM_ENGINEER_HOME": str(home_folder())}
    own = {one.agent: one for one in own_settings(agents_file, environ)}
    current = True
    for name, module in local_modules(
        agent, agents_file
    ).items():  # one after the other: each waits for the same lock
        told = await by_program(
            module, ("--database", verb), own[name].over(environ) if name in own else environ
        )
        current = current and told is not None and bool(told["current"])
        if told is not None and as_json:
            print_json(told)
        elif told is not None:
            out().print(_line(told), soft_wrap=True, markup=False, highlight=False)
    return ExitCode.OK if current else ExitCode.USAGE


def local_modules(agent: str | None, agents_file: Path) -> dict[str, str]:
    """The modules of local agents by name, or that of one.

    Raises:
        UsageError: There is no local agent of that name.
        SettingsError: The list of agents is wrong.
    """
    modules = {SUPERVISOR: SUPERVISOR_MODULE}
    modules |= {one.name: one.module for one in load_agents_file(agents_file) if one.module}
    if agent is None:
        return modules
    if agent not in modules:
        raise UsageError(f"There is no local agent {agent!r}; there are: {', '.join(sorted(modules))}.")
    return {agent: modules[agent]}


async def by_program(
    module: str, options: Sequence[str], environ: Mapping[str, str], given: str = ""
) -> dict[str, Any] | None:
    """The JSON output of an agent's program; `None` if it failed and has reported that on standard error.

    `given` is what it reads on standard input.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", module, *options),
        env={**environ, "PYTHONPATH": module_path(environ), "LOG_LEVEL": "ERROR"},
        stdin=asyncio.subprocess.PIPE if given else None,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        printed, _ = await process.communicate(given.encode() if given else None)
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        raise
    return json.loads(printed) if process.returncode == 0 else None


def _line(told: Mapping[str, Any]) -> str:
    if not told["version"]:
        state = "no tables yet"
    elif told["current"]:
        state = f"version {told['version']}, up to date"
    else:
        state = f"version {told['version']}, to be upgraded"
    return f"{told['agent']}: {state}, {told['bytes'] / _MEGABYTE:.1f} MB"
