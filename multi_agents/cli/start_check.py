"""`doctor`'s check of a start: each process of the service checks its own settings with the code that a start runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from multi_agents.cli.console import clean, one_line
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.model.finding import Finding, Level
from multi_agents.cli.own_settings import OwnSettings
from multi_agents.cli.service.child import Child
from multi_agents.cli.service.local import LaunchOptions, planned
from multi_agents.cli.service.plan import ServicePlan
from multi_agents.cli.service.starter import process_starter
from utils.a2a_common.client.agents.agents_file import AgentEntry

CHECKED = "checked"
"""Key of the agent in a verdict, as `--check` of an agent writes it."""

CHECK_SECONDS = 60.0
"""How long the checks may take: agents of others may do anything with an option that they do not know."""


async def check_start(
    agents_file: Path, environ: Mapping[str, str], entries: Sequence[AgentEntry], own: Sequence[OwnSettings]
) -> list[Finding]:
    """Whether every process of the service could be started with these settings."""
    plan = planned(LaunchOptions(None, agents_file), environ, entries, own)
    try:
        return list(findings_of(await _said(plan, environ)))
    except OSError as error:
        why = f"a start could not be tried, since no temporary file can be written: {error.strerror}; see TMPDIR"
        return [Finding("start", Level.WRONG, why)]


async def _said(plan: ServicePlan, environ: Mapping[str, str]) -> dict[str, list[str]]:
    """What each process of the plan prints."""
    with TemporaryDirectory() as logs:
        children: list[Child] = []
        async with process_starter(plan, environ, Path(logs), "--check") as start:
            try:
                for one in plan.processes:
                    children.append(await start(one))
                waits = [asyncio.create_task(child.process.wait()) for child in children]
                await asyncio.wait(waits, timeout=CHECK_SECONDS)
            finally:
                await asyncio.gather(*(child.stop(grace=0) for child in children))
        return {child.planned.name: _lines(child) for child in children}


def _lines(child: Child) -> list[str]:
    """What a process printed; the last line of one whose module cannot be loaded becomes its verdict."""
    text = child.log.read_text("utf-8", "replace")
    lines = [clean(line) for line in text.splitlines() if line.strip()]
    if lines and child.process.returncode == ExitCode.NOT_LOADED:
        lines.append(json.dumps({CHECKED: child.planned.name, "wrong": lines[-1]}))
    return lines


def findings_of(said: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """The findings from the output of each process. A sentence of several processes is reported once. Pure."""
    wrong: dict[str, list[str]] = {}
    unknown: dict[str, str] = {}
    for name, lines in said.items():
        verdict = next(filter(None, map(_verdict, reversed(lines))), None)
        if verdict is None:
            unknown[name] = lines[-1] if lines else "it said nothing"
        elif verdict["wrong"]:
            wrong.setdefault(str(verdict["wrong"]), []).append(name)
    for sentence, names in wrong.items():
        yield Finding("start", Level.WRONG, f"{', '.join(names)} cannot be started: {sentence}")
    for name, line in unknown.items():
        yield Finding("start", Level.NOTE, f"{name} did not say whether it can be started: {one_line(line)}")
    if not wrong and not unknown:
        yield Finding("start", Level.OK, f"{', '.join(said)} can be started with these settings")


def _verdict(line: str) -> Mapping[str, object] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) and {CHECKED, "wrong"} <= value.keys() else None
