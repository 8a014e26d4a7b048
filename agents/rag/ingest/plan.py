"""What an ingestion has to look at: targets become single documents, each with its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agents.rag.ingest.names import is_url, name_of_file, name_of_url
from agents.rag.ingest.walk import walk


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document to ingest: a file when `path` is set, else the page at `location`."""

    location: str
    name: str
    path: Path | None = None


@dataclass(slots=True)
class Plan:
    """Documents in order, each once; folders whose vanished files are to be removed; targets that fail."""

    candidates: list[Candidate] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def make_plan(targets: Sequence[str]) -> Plan:
    """Expand files, folders and URLs. Reads folders, so call it in a thread."""
    plan, seen = Plan(), set[str]()
    for target in targets:
        for candidate in _expand(target, plan):
            if candidate.location not in seen:
                seen.add(candidate.location)
                plan.candidates.append(candidate)
    return plan


def is_under(location: str, target: str) -> bool:
    """Whether a document belongs to a target: the same page or file, or a file of that folder."""
    if is_url(target) or is_url(location):
        return is_url(target) and location == name_of_url(target)
    return Path(location).is_relative_to(Path(target).expanduser().resolve())


def _expand(target: str, plan: Plan) -> list[Candidate]:
    if is_url(target):
        name = name_of_url(target)
        return [Candidate(name, name)]
    root = Path(target).expanduser().resolve()
    if root.is_dir():
        plan.folders.append(root)
        return [_file(path, root) for path in walk(root)]
    if root.is_file():
        return [_file(root, root)]
    plan.missing.append(target)
    return []


def _file(path: Path, root: Path) -> Candidate:
    return Candidate(str(path.resolve()), name_of_file(path, root), path)
