"""Which files of the checkout the image holds: those that the Dockerfile copies and .dockerignore lets through."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from tests.compose.tool import ROOT
from tests.style.sources import tracked_files


def image_files() -> Iterator[Path]:
    """Tracked files that are copied into the folder of the application, relative to the checkout."""
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    sources = {source for line in copied for source in line.split()}
    rules = [
        line
        for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    for path in tracked_files():
        name = path.relative_to(ROOT)
        if name.parts[0] in sources and not is_ignored(name.as_posix(), rules):
            yield name


def is_ignored(name: str, rules: list[str]) -> bool:
    """The last rule that matches the file or a folder above it decides, as Docker has it."""
    path = PurePosixPath(name)
    places = [path, *path.parents][:-1]
    ignored = False
    for rule in rules:
        pattern = re.compile(_expression(rule.removeprefix("!")))
        if any(pattern.fullmatch(str(place)) for place in places):
            ignored = not rule.startswith("!")
    return ignored


def _expression(pattern: str) -> str:
    escaped = re.escape(pattern)
    return escaped.replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
