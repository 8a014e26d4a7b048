"""The form of `CHANGELOG.md`: https://keepachangelog.com/en/1.1.0/."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise
from pathlib import Path

from tests.release.result import Result
from tests.release.versions import VERSION, version_of

FILE = "CHANGELOG.md"
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
UNRELEASED = "## [Unreleased]"
RELEASED = re.compile(rf"## \[({VERSION.pattern})\] - (\d{{4}}-\d{{2}}-\d{{2}})(?: \[YANKED\])?")


@dataclass(slots=True)
class Section:
    """One version. `heading` as written, `line` from 1, number of entries by kind."""

    heading: str
    line: int
    kinds: list[tuple[str, int]] = field(default_factory=list)
    entries: dict[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many entries it has."""
        return sum(self.entries.values())

    @property
    def version(self) -> str:
        """Its version; empty when it has none."""
        match = RELEASED.fullmatch(self.heading)
        return match[1] if match else ""

    @property
    def day(self) -> str:
        """When it was released; empty when it was not."""
        match = RELEASED.fullmatch(self.heading)
        return match[2] if match else ""


def sections_of(text: str) -> list[Section]:
    """The sections, in order."""
    found: list[Section] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## "):
            found.append(Section(line, number))
        elif line.startswith("### ") and found:
            kind = line.removeprefix("### ")
            found[-1].kinds.append((kind, number))
            found[-1].entries.setdefault(kind, 0)
        elif line.startswith("- ") and found and found[-1].kinds:
            found[-1].entries[found[-1].kinds[-1][0]] += 1
    return found


def form_problems(text: str) -> list[str]:
    """What breaks the form, with its line."""
    sections = sections_of(text)
    return [
        *_wrong_lines(text),
        *(problem for section in sections for problem in _wrong_section(section)),
        *_wrong_order(sections),
    ]


def _wrong_lines(text: str) -> Iterator[str]:
    lines = text.splitlines()
    if lines[:1] != ["# Changelog"]:
        yield f"{FILE}:1: begin with '# Changelog'"
    below = ""  # the heading that a line stands below
    for number, line in enumerate(lines[1:], 2):
        if line.startswith("#"):
            below = line
            if not line.startswith(("## ", "### ")):
                yield f"{FILE}:{number}: {line!r} is no heading of a version (##) or a kind (###)"
        elif line and not line.startswith(("- ", "  ", "[")) and below:
            yield f"{FILE}:{number}: write an entry as '- …', or indent the line by two spaces"
        elif line.startswith("- ") and not below.startswith("### "):
            yield f"{FILE}:{number}: the entry stands below no kind; put it below one of {', '.join(KINDS)}"


def _wrong_section(section: Section) -> Iterator[str]:
    if section.heading != UNRELEASED and not section.version:
        yield f"{FILE}:{section.line}: write '{UNRELEASED}' or '## [1.2.3] - YYYY-MM-DD'"
    if section.day and not _is_day(section.day):
        yield f"{FILE}:{section.line}: {section.day} is no day"
    if section.version and not section.size:
        yield f"{FILE}:{section.line}: {section.version} has no entry; say what changed"
    seen: set[str] = set()
    for kind, line in section.kinds:
        if kind not in KINDS:
            yield f"{FILE}:{line}: {kind!r} is no kind of change; take one of {', '.join(KINDS)}"
        elif kind in seen:
            yield f"{FILE}:{line}: {kind} stands there twice in one section; put the entries together"
        elif not section.entries[kind]:
            yield f"{FILE}:{line}: {kind} has no entry; remove the heading"
        seen.add(kind)


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _wrong_order(sections: list[Section]) -> Iterator[str]:
    headings = [section.heading for section in sections]
    if headings[:1] != [UNRELEASED] or headings.count(UNRELEASED) != 1:
        yield f"{FILE}: '{UNRELEASED}' is the first section, and there is one of it; it may be empty"
    for newer, older in pairwise(section for section in sections if section.version):
        if _numbers(newer.version) <= _numbers(older.version):
            yield f"{FILE}:{older.line}: {older.version} stands below {newer.version}; newest versions come first"
        if newer.day < older.day:
            yield f"{FILE}:{older.line}: {older.version} has a later day than {newer.version}"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def version_problems(text: str, version: str) -> list[str]:
    """Whether the newest section is that of the project's version, or that version is still to come.

    What is no version at all is for `check_versions` to tell.
    """
    released = [section.version for section in sections_of(text) if section.version]
    if released and VERSION.fullmatch(version) and _numbers(released[0]) > _numbers(version):
        return [f"{FILE} has {released[0]}, pyproject.toml {version}; raise the version in pyproject.toml"]
    return []


def check_changelog(root: Path) -> Result:
    """Whether the version has its section, or what is to become it has entries."""
    text, version = (root / FILE).read_text("utf-8"), version_of(root)
    if problems := [*form_problems(text), *version_problems(text, version)]:
        return Result(problems=problems)
    unreleased, *released = sections_of(text)
    mine = [section.heading for section in released if section.version == version]
    if mine and unreleased.size:
        way_out = f"move them below '{mine[0]}', or raise the version"
        return Result(problems=[f"'{UNRELEASED}' still has entries; {way_out}"])
    if mine:
        return Result(f"'{mine[0]}' is there")
    if not unreleased.size:
        return Result(problems=[f"{FILE} has nothing of {version}; say below '{UNRELEASED}' what changed"])
    heading = f"## [{version}] - YYYY-MM-DD"
    return Result(f"left to do: rename '{UNRELEASED}' to '{heading}' and put a new one above")
