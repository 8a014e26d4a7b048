"""What an ingestion has to look at: targets become single documents, each with its name."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agents.rag.ingest.names import is_url, location_of, name_of_file, name_of_url, path_at, printable
from agents.rag.ingest.walk import walk

_LEADS_OUT = (
    "is a link that leads out of the folder, and was not read: ingest what it leads to by its own path."
)
_LEADS_NOWHERE = "is a link that leads nowhere."


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document to ingest: a file when `path` is set, else the page at `location`."""

    location: str
    name: str
    path: Path | None = None


@dataclass(slots=True)
class Plan:
    """What targets hold.

    Attributes:
        candidates: Documents in order, each once.
        holds: Locations of the documents of each target; none where it is gone.
        folders: Folders that are there; a document in one of them whose file is not is gone.
        missing: Targets that are not there, as they were named, and where they should be.
        unreadable: Files and folders that may hold documents but cannot be looked into, and their names.
        problems: Sentences about targets that mean nothing.
    """

    candidates: list[Candidate] = field(default_factory=list)
    holds: dict[str, set[str]] = field(default_factory=dict)
    folders: list[Path] = field(default_factory=list)
    missing: list[tuple[str, Path]] = field(default_factory=list)
    unreadable: list[tuple[str, Path]] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)

    def add(self, target: str, found: Iterable[Candidate]) -> None:
        """Documents that a target holds."""
        seen = set[str]().union(*self.holds.values())
        held = self.holds.setdefault(target, set())
        for candidate in found:
            if candidate.location not in seen:
                self.candidates.append(candidate)
            seen.add(candidate.location)
            held.add(candidate.location)


def make_plan(targets: Sequence[str]) -> Plan:
    """Expand files, folders and URLs. Reads folders, so call it in a thread."""
    plan = Plan()
    for target in targets:
        try:
            _expand(target, plan)
        except (ValueError, RuntimeError):  # no address; no such home folder, a link to itself
            plan.problems.append((printable(target), f"{printable(target)} is no file, folder or address."))
    return plan


def is_under(location: str, root: Path) -> bool:
    """Whether a document is the file `root` or a file of the folder `root`."""
    return not is_url(location) and path_at(location).is_relative_to(root)


def belongs_to(location: str, target: str) -> bool:
    """Whether a document belongs to a target: the same page or file, or a file of that folder."""
    try:
        if is_url(target):
            return location == name_of_url(target)
        return is_under(location, Path(target).expanduser().resolve())
    except (ValueError, RuntimeError):
        return False


def _expand(target: str, plan: Plan) -> None:
    if is_url(target):
        name = name_of_url(target)
        plan.add(name, [Candidate(name, name)])
        return
    root = Path(target).expanduser().resolve()
    key = location_of(root)
    plan.add(key, [])
    try:
        mode = root.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        plan.missing.append((printable(target), root))
    except OSError:
        plan.unreadable.append((printable(target), root))
    else:
        if stat.S_ISDIR(mode):
            _expand_folder(root, key, plan)
        elif stat.S_ISREG(mode):
            plan.add(key, [Candidate(key, name_of_file(root, root), root)])
        else:
            plan.problems.append((printable(target), f"{printable(target)} is no file, folder or address."))


def _expand_folder(root: Path, key: str, plan: Plan) -> None:
    walked = walk(root)
    plan.folders.append(root)
    plan.unreadable += [(name_of_file(folder, root), folder) for folder in walked.unreadable]
    for paths, why in ((walked.leading_out, _LEADS_OUT), (walked.leading_nowhere, _LEADS_NOWHERE)):
        names = [name_of_file(path, root) for path in paths]
        plan.problems += [(name, f"{name} {why}") for name in names]
    files = (
        Candidate(location_of(entry.real), name_of_file(entry.path, root), entry.path)
        for entry in walked.files
    )
    plan.add(key, files)
