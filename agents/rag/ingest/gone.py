"""Which documents an ingestion finds gone, and what it says about targets that it cannot read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agents.rag.index.records import Stored
from agents.rag.ingest.names import is_url, path_at
from agents.rag.ingest.plan import Plan, is_under


def gone_of(plan: Plan, known: Mapping[str, Stored]) -> list[str]:
    """The stored documents whose files are gone from what was looked at. Reads folders: call it in a thread.

    What stands in a folder that cannot be read now is not taken for gone: the plan's targets keep it.
    """
    for _, unreadable in plan.unreadable:
        kept = {location for location in known if is_under(location, unreadable)}
        for target, held in plan.holds.items():
            if not is_url(target) and unreadable.is_relative_to(path_at(target)):
                held.update(kept)
    missing = [root for _, root in plan.missing]
    return [
        location
        for location in known
        if _is_in(location, missing) or (_is_in(location, plan.folders) and not _exists(path_at(location)))
    ]


def problems_of(plan: Plan, known: Mapping[str, Stored]) -> list[tuple[str, str]]:
    """Targets and folders that could not be read, each with a sentence."""
    missing = [(name, _missing(name, root, known)) for name, root in plan.missing]
    unreadable = [(name, f"{name} cannot be read.") for name, _ in plan.unreadable]
    return [*missing, *plan.problems, *unreadable]


def _missing(name: str, root: Path, known: Mapping[str, Stored]) -> str:
    count = sum(is_under(location, root) for location in known)
    if not count:
        return f"{name} does not exist."
    were = "document is" if count == 1 else f"{count} documents are"
    return f"{name} does not exist; its {were} removed."


def _is_in(location: str, roots: list[Path]) -> bool:
    return any(is_under(location, root) for root in roots)


def _exists(path: Path) -> bool:
    """Whether a file is there; one that may not be looked at is."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True
