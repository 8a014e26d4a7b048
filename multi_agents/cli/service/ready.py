"""Waiting for the processes of the service, all at once, with what each says of itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from multi_agents.cli.console import one_line
from multi_agents.cli.errors import (
    AgentNotLoaded,
    ChildSettingsWrong,
    NotReady,
    PortTaken,
    ServiceUnreachable,
)
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.service.child import Child
from multi_agents.cli.service.ports import is_free
from utils.a2a_common.protocol.readiness import PROCESS_HEADER
from utils.atomic_file import check_room
from utils.errors import PlatformError, StorageError, StorageFull
from utils.net.bounded import Bound
from utils.net.web_client import web_client

POLL_SECONDS = 0.15
SILENT_SECONDS = 120.0
"""How long a process may live without answering at all."""
STUCK_SECONDS = 60.0
"""How long a process that does nothing to get ready may say the same, such as why it cannot."""
BUSY_SECONDS = 600.0
"""The same for one that says what it is busy with: one document may be large."""
FOUND_SECONDS = 15.0
"""How long one that is ready may do without another that is ready too: some looks at its card."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """The answer of `/readyz`: `answers` says that a process listens, `without` what it cannot reach, `busy` what it is
    doing; in the background if it is ready.
    """

    answers: bool
    ready: bool
    detail: str = ""
    without: frozenset[str] = frozenset()
    busy: str = ""


SILENT = Readiness(answers=False, ready=False)

Report = Callable[[str, Readiness], None]


async def wait_ready(children: Sequence[Child], report: Report) -> None:
    """Return when every process is ready, and none does without another of them. `report` hears of each look.

    Raises:
        ServiceUnreachable: A process ended, never answered, or does not get ready. Tells the last lines of its log, or the
            reason that the process gives.
    """
    async with web_client(Bound(), trust_env=False, timeout=5) as http, asyncio.TaskGroup() as group:
        coming = {child.planned.name: asyncio.Event() for child in children}
        for child in children:
            group.create_task(_wait(http, child, coming, report))


async def look(http: httpx.AsyncClient, url: str, pid: int | None = None) -> Readiness:
    """One look at an agent's `/readyz`. Where `pid` says whose it is, what another process answers there counts as no answer."""
    try:
        response = await http.get(f"{url}/readyz")
    except httpx.HTTPError:
        return SILENT
    if pid is not None and response.headers.get(PROCESS_HEADER, str(pid)) != str(pid):
        return SILENT
    try:
        body = response.json()
    except ValueError:
        body = None
    said = body if isinstance(body, dict) else {}
    names = said.get("without")
    without = frozenset(map(str, names)) if isinstance(names, list) else frozenset[str]()
    detail, busy = (one_line(str(said.get(name) or "")) for name in ("detail", "busy"))
    return Readiness(True, response.is_success, detail, without, busy)


async def _wait(
    http: httpx.AsyncClient, child: Child, coming: Mapping[str, asyncio.Event], report: Report
) -> None:
    clock = asyncio.get_running_loop().time
    last, since = SILENT, clock()
    found_by: float | None = None
    report(child.planned.name, last)
    while True:
        if child.process.returncode is not None:
            raise ended(child)
        now = await look(http, child.planned.url, child.process.pid)
        waits_for_others = any(not up.is_set() for name, up in coming.items() if name in now.without)
        if now != last or waits_for_others:
            last, since = now, clock()
        report(child.planned.name, now)
        if now.ready and child.process.returncode is None:
            coming[child.planned.name].set()
            missing = [up for name, up in coming.items() if name in now.without]
            if all(up.is_set() for up in missing):
                found_by = found_by or clock() + FOUND_SECONDS
                if not missing or clock() > found_by:
                    return
        elif clock() - since > _patience(now):
            raise _not_ready(child, now)
        await asyncio.sleep(POLL_SECONDS)


def _patience(state: Readiness) -> float:
    """How many seconds a process that is not ready may stay as it is."""
    if not state.answers:
        return SILENT_SECONDS
    return BUSY_SECONDS if state.busy else STUCK_SECONDS


def _not_ready(child: Child, state: Readiness) -> ServiceUnreachable:
    """The error for a process that lives and does not get ready, with its own reason."""
    name, seconds = child.planned.name, _patience(state)
    if not state.answers:
        return NotReady(f"{name} did not answer in {seconds:.0f} seconds. Its log is {child.log}.")
    reason = (state.detail or state.busy).rstrip(".")
    said = f'It says: "{reason}."' if reason else "It does not say why."
    return NotReady(
        f"{name} did not get ready in {seconds:.0f} seconds. {said} Mend that and start again; its log is {child.log}."
    )


def how_it_ended(child: Child) -> str:
    """Such as "ended with code 7" or "was killed by signal 9"."""
    code = child.process.returncode or 0
    return f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"


def ended(child: Child) -> PlatformError:
    """The error for a process that ended by itself, with the last lines of its log; without room on the disk it has none to tell.

    Where its module could not be loaded, the last line says all, and those before are the traceback.
    """
    last = child.last_lines()
    if last and child.process.returncode == ExitCode.NOT_LOADED:
        return AgentNotLoaded(
            f"{child.planned.name} did not start. {last[-1]} The details are in {child.log}."
        )
    said_why = last and child.process.returncode == ExitCode.USAGE
    if not said_why and (full := _full(child.log.parent)):
        return StorageFull(f"{child.planned.name} {how_it_ended(child)}. {full.message}")
    lines = "".join(f"\n  | {line}" for line in last)
    return _kind(child)(
        f"{child.planned.name} {how_it_ended(child)}. The last lines of {child.log}:{lines or ' (empty)'}"
    )


def _full(folder: Path) -> StorageFull | None:
    try:
        check_room(folder)
    except StorageError as error:
        return error if isinstance(error, StorageFull) else None
    return None


def _kind(child: Child) -> type[ServiceUnreachable]:
    if child.process.returncode and not is_free(child.planned.port):
        return PortTaken
    return ChildSettingsWrong if child.process.returncode == ExitCode.USAGE else ServiceUnreachable
