"""The whole data folder of an earlier version as `up` left it, as one archive, and how it was made.

`python -m tests.e2e.upgrade.home FILE.zip [CHECKOUT]` makes one with the code of a checkout, this one where none is named: the
service of the command line reads a document, two conversations are held, and the service is ended. The archive
also has the settings file of that version, so that an unchanged configuration is part of the test.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import sys
import tempfile
import zipfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from agents.github.testing.server import run_github_server
from benchmarks.service.client import Talk, http_client
from tests.ports import free_ports
from utils.version import project_version

ROOT = Path(__file__).resolve().parents[3]
MANIFEST = "manifest.json"
DATA, DOCUMENTS, SETTINGS = "data", "documents", ".env"
DOCUMENT = (
    "# On-call rota of team Falcon\n\nThe on-call phone of team Falcon is handed over on Tuesdays at 09:30.\n"
)
QUESTION = "When is the on-call phone of team Falcon handed over?"
ANSWER = "Tuesdays at 09:30"
LARGE = ("github/embeddings.sqlite", "platform-engineer/embeddings.sqlite")
"""Two of three files of one form, the caches of vectors, which take two thirds of the archive."""
PULLS = "Show the open pull requests at GitHub"

Start = Callable[[tuple[str, ...], Path, Mapping[str, str]], Awaitable[Process]]
"""Starts the command line with arguments, in a folder, with these variables besides the environment's."""


@asynccontextmanager
async def service_on(folder: Path, start: Start, github: str) -> AsyncIterator[str]:
    """`up` on the data, the documents and the settings file of a folder; the supervisor's address.

    Raises:
        AssertionError: It does not come up; the message holds what it printed.
    """
    supervisor, hub, rag = free_ports(3)
    agents = folder / "agents.yaml"
    agents.write_text(
        f"github: {{module: agents.github, port: {hub}}}\nrag: {{module: agents.rag, port: {rag}}}\n"
    )
    environ = {
        "PLATFORM_ENGINEER_HOME": str(folder / DATA),
        "RAG_SOURCES": DOCUMENTS,
        "GITHUB_API_URL": github,
    }
    arguments = ("up", "--port", str(supervisor), "--agents-file", str(agents))
    process = await start(arguments, folder, environ)
    try:
        await _ready(process)
        yield f"http://127.0.0.1:{supervisor}/"
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.communicate()


async def _ready(process: Process) -> None:
    assert process.stderr is not None
    printed = []
    async with asyncio.timeout(90):
        while line := (await process.stderr.readline()).decode():
            printed.append(line)
            if line.startswith("The service is up"):
                return
    raise AssertionError("".join(printed))


async def _fill(url: str) -> dict[str, Any]:
    """Hold the conversations; what there is then, by its kind."""
    async with http_client() as http:
        talks = {"answered": Talk(http, url, 60), "asked": Talk(http, url, 60)}
        said = {
            "answered": await talks["answered"].send(QUESTION),
            "asked": await talks["asked"].send(PULLS),
        }
    assert ANSWER in said["answered"].stored, said["answered"]
    return {
        kind: {"context": talks[kind].context_id, "task": seen.task_id, "text": seen.stored or seen.said}
        for kind, seen in said.items()
    }


async def make(archive: Path, checkout: Path) -> None:
    """Write the archive."""

    async def start(arguments: tuple[str, ...], folder: Path, environ: Mapping[str, str]) -> Process:
        env = {**os.environ, "PYTHONPATH": str(checkout), **environ}
        command = (sys.executable, "-m", "multi_agents.cli", *arguments)
        return await asyncio.create_subprocess_exec(*command, cwd=folder, env=env, stdout=PIPE, stderr=PIPE)

    with tempfile.TemporaryDirectory() as name, run_github_server() as github:
        folder = Path(name)
        write_document(folder)
        async with service_on(folder, start, github.url) as url:
            kept = await _fill(url)
        await asyncio.to_thread(_pack, archive, folder, checkout / ".env.example", kept)


def write_document(folder: Path) -> None:
    """The document that the service reads."""
    (folder / DOCUMENTS).mkdir()
    (folder / DOCUMENTS / "on-call.md").write_text(DOCUMENT)


def _pack(archive: Path, folder: Path, settings: Path, kept: dict[str, Any]) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        manifest = {"version": project_version(), "folder": str(folder.resolve()), "kept": kept}
        packed.writestr(MANIFEST, json.dumps(manifest, indent=1))
        packed.writestr(SETTINGS, "\n".join(_defaults(settings.read_text("utf-8"))))
        stored = (path for path in (folder / DATA).rglob("*.sqlite") if not str(path).endswith(LARGE))
        for file in sorted(stored):
            with closing(sqlite3.connect(file)) as database:
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                database.execute("VACUUM")
            packed.write(file, file.relative_to(folder))
        for file in sorted((folder / DOCUMENTS).iterdir()):
            packed.write(file, file.relative_to(folder))


def _defaults(example: str) -> list[str]:
    """Every setting of a settings file with the default that it shows."""
    lines = (line.removeprefix("# ") for line in example.splitlines())
    shown = (line for line in lines if line.partition("=")[0].replace("_", "").isalnum())
    return [line for line in shown if line.isascii() and line[0].isupper() and line.partition("=")[2]]


def unpack(archive: Path, folder: Path) -> dict[str, Any]:
    """Put the folder back; what there is, by its kind.

    The index knows documents by their absolute paths, which are those of this folder afterwards.
    """
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
    manifest = json.loads((folder / MANIFEST).read_text())
    paths = (manifest["folder"], str(folder.resolve()))
    with closing(sqlite3.connect(folder / DATA / "rag" / "index.sqlite")) as index, index:
        index.execute("UPDATE documents SET location = replace(location, ?, ?)", paths)
        index.execute(
            "UPDATE claims SET location = replace(location, ?, ?), target = replace(target, ?, ?)", paths * 2
        )
    kept: dict[str, Any] = manifest["kept"]
    return kept


if __name__ == "__main__":
    asyncio.run(make(Path(sys.argv[1]), Path(sys.argv[2]).resolve() if sys.argv[2:] else ROOT))
