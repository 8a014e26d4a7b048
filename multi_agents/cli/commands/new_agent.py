"""`new-agent`: a new sub-agent, from the template to the last list that names it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from multi_agents.cli.console import say
from multi_agents.cli.errors import CliError, UsageError
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.paths import ROOT
from multi_agents.cli.running import run
from multi_agents.cli.scaffold.files import TextFile, read_text_file
from multi_agents.cli.scaffold.lists import LISTINGS, Listing, in_agents_file, next_port
from multi_agents.cli.scaffold.names import AgentName, checked_name
from multi_agents.cli.scaffold.template import CODE, TESTS, agent_files
from multi_agents.cli.scaffold.yaml_edits import CannotEdit
from utils.a2a_common.client.agents.agents_file import load_agents_file

GENERATORS = (
    ("docs/make_configuration.py", "docs.make_configuration", "The tables of settings were"),
    ("agents/rag/ship_vectors.py", "agents.rag.ship_vectors", "The vectors of the documents were"),
)
"""The steps of `make docs`, in order: file, module, and the file that it writes. The second step reads the output of
the first.
"""

_GENERATOR_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Draft:
    """Everything that will be written, before any of it is. `notes` say what is left to the person."""

    name: AgentName
    port: int
    created: Mapping[Path, str]
    changed: tuple[tuple[TextFile, str], ...]
    notes: tuple[str, ...]


def new_agent(given: str) -> ExitCode:
    """Run the command and give its exit code: 2 when the name is wrong or taken."""
    return run(_new_agent(given, ROOT))


async def _new_agent(given: str, root: Path) -> ExitCode:
    made = await asyncio.to_thread(draft, checked_name(given), root)
    await asyncio.to_thread(_write, made)
    refreshed = await asyncio.to_thread(_refresh_documents, root)
    _tell(made, root, [*made.notes, *refreshed])
    return ExitCode.OK


def draft(name: AgentName, root: Path) -> Draft:
    """The files to write for a new agent.

    Raises:
        UsageError: The name is taken.
        SettingsError: The list of agents is wrong.
        CliError: Something cannot be read, or the list of agents cannot be added to.
    """
    agents = read_text_file(root / "agents" / "agents.yaml")
    if agents is None:
        raise CliError("agents/agents.yaml is missing, so this is no checkout that an agent can be added to.")
    entries = load_agents_file(agents.path)
    _check_free(name, root, {entry.name.replace("_", "-") for entry in entries})
    port = next_port(entries)
    try:
        changed = [(agents, in_agents_file(agents.text, name, port))]
    except CannotEdit as error:
        raise CliError(f"agents/agents.yaml cannot be added to: {error}.") from error
    notes: list[str] = []
    for listing in LISTINGS:
        changed += _listed(listing, root, name, port, notes)
    files = agent_files(root, name)
    main = root / CODE / name.package / "__main__.py"
    return Draft(name, port, {**files, main: _with_port(files[main], port)}, tuple(changed), tuple(notes))


def _check_free(name: AgentName, root: Path, listed: set[str]) -> None:
    if name.text in listed:
        raise UsageError(f"There is an agent {name.text} in agents/agents.yaml already; nothing was changed.")
    for folder in (CODE / name.package, TESTS / name.package):
        if (root / folder).exists():
            raise UsageError(f"The folder {folder.as_posix()} exists already; nothing was changed.")


def _listed(
    listing: Listing, root: Path, name: AgentName, port: int, notes: list[str]
) -> Iterator[tuple[TextFile, str]]:
    file = read_text_file(root / listing.path)
    if file is None:
        notes.append(f"{listing.path} is not here, so the agent was not added to it.")
        return
    try:
        yield file, listing.change(file.text, name, port)
    except CannotEdit as error:
        notes.append(f"{listing.path} was left as it is, since {error}: add the agent there yourself.")


def _with_port(text: str, port: int) -> str:
    return text.replace("_PORT = 8009\n", f"_PORT = {port}\n")


def _write(made: Draft) -> None:
    """The agent's own files first: a list never names an agent that is not there."""
    for path, text in made.created.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CliError(f"The folder of {made.name.text} cannot be made.") from error
        TextFile(path, "").write(text)
    for file, text in made.changed:
        file.write(text)


def _refresh_documents(root: Path) -> list[str]:
    """Put the agent's settings into the documents, by the programs that make them; what is left to the person."""
    for path, module, subject in GENERATORS:
        if (root / path).is_file() and not _ran(module, root):
            return [f"{subject} not renewed: run `make docs`."]
    return []


def _ran(module: str, root: Path) -> bool:
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", module],
            cwd=root,
            capture_output=True,
            check=False,
            timeout=_GENERATOR_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _tell(made: Draft, root: Path, notes: list[str]) -> None:
    say(f"The agent {made.name.text} is there, on port {made.port}:")
    for path in made.created:
        if path.stat().st_size:
            say(f"  {path.relative_to(root).as_posix()}")
    say(f"It is listed in {', '.join(file.path.relative_to(root).as_posix() for file, _ in made.changed)}.")
    for note in notes:
        say(f"Note: {note}")
    say(f'Try it: make chat ASK="List the {made.name.text} entries" (end a running service before).')
    say(f"Then make it yours, from agents/{made.name.package}/agent.py on: see docs/add-an-agent.md.")
