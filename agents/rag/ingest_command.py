"""`python -m agents.rag ingest PATH|URL… [--remove]`: change the index, whether the agent runs or not."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from utils.errors import PlatformError, SettingsError, StorageError
from utils.persistence.private import keep_files_private

if TYPE_CHECKING:
    from agents.rag.ingest.ingester import Ingester
    from agents.rag.ingest.progress import Progress

EXIT_PROBLEMS = 1
EXIT_SETTINGS = 2
EXIT_INTERRUPTED = 130


def run_ingest(argv: Sequence[str], environ: Mapping[str, str] | None = None) -> int:
    """Run the command.

    Args:
        argv: Its arguments, without the word `ingest`.
        environ: Settings by variable name; those of the process when omitted.

    Returns:
        0 when every document was ingested or removed, 1 when something was skipped or failed,
        2 for a wrong setting, 130 after Ctrl-C.
    """
    keep_files_private()
    options = _parser().parse_args(argv)
    try:
        return asyncio.run(_run(options.targets, options.remove, environ))
    except KeyboardInterrupt:
        _say("Interrupted. What was ingested so far is complete and can be searched.")
        return EXIT_INTERRUPTED
    except SettingsError as error:
        return _fail(error.message, EXIT_SETTINGS)
    except StorageError as error:
        return _fail(error.for_operator, EXIT_PROBLEMS)
    except PlatformError as error:
        return _fail(error.message, EXIT_PROBLEMS)


async def _run(targets: Sequence[str], remove: bool, environ: Mapping[str, str] | None) -> int:
    async with AsyncExitStack() as stack:
        ingester = await _open(environ, stack)
        if remove:
            summary = await ingester.remove(targets)
            _say(f"{summary.removed} removed.")
            return 0 if summary.removed else EXIT_PROBLEMS
        summary = await ingester.ingest(targets, _show, on_wait=_show_wait)
    _say(f"{summary}.")
    return EXIT_PROBLEMS if summary.problems else 0


async def _open(environ: Mapping[str, str] | None, stack: AsyncExitStack) -> Ingester:
    """The ingester of the agent's index, wherever that is; `stack` closes the database."""
    from agents.rag.agent import RagAgent
    from agents.rag.index.opening import index_in
    from agents.rag.ingest.ingester import Ingester
    from agents.rag.settings import RagSettings
    from utils.a2a_common.server.commands.database import further_tables
    from utils.embeddings import create_embedder
    from utils.encryption.settings import EncryptionSettings
    from utils.persistence.postgres.opening import open_database
    from utils.persistence.settings import DatabaseSettings
    from utils.settings import EmbeddingSettings, HomeSettings

    settings = RagSettings.load(environ)
    home = HomeSettings.load(environ).agent_home(RagAgent.name)
    codec = EncryptionSettings.load(environ).codec()
    embedder = create_embedder(EmbeddingSettings.load(environ), cache=home, codec=codec)
    if embedder is None:
        _say("No embedding model is set: documents are searched by words only.")
    stored = DatabaseSettings.load(environ)
    further = further_tables(RagAgent.own_tables) if stored.url else ()
    database = await open_database(
        stored, RagAgent.name, stack, alone=False, on_lost=_nothing, further=further
    )
    index = index_in(home, database)
    await index.open()
    return Ingester(index, settings, embedder)


def _nothing(_reason: str) -> None:
    """The tables are shared with the agent that runs."""


def _show_wait(machine: str) -> None:
    _say(f"Waiting for the ingestion on {machine}.")


def _show(progress: Progress) -> None:
    from agents.rag.ingest.progress import Outcome

    if progress.outcome is Outcome.STARTED:
        return
    what = f"{progress.source}: {progress.outcome}"
    _say(f"[{progress.done}/{progress.total}] {progress.message or what}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="rag ingest", description="Ingest files, folders and pages.")
    parser.add_argument("targets", nargs="+", metavar="PATH|URL", help="file, folder or http(s) address")
    parser.add_argument("--remove", action="store_true", help="remove them from the index instead")
    return parser


def _say(line: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"  # names may hold what the terminal has no letters for
    sys.stdout.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    sys.stdout.flush()


def _fail(message: str, code: int) -> int:
    sys.stderr.write(message + "\n")
    return code
