"""`python -m docs.make_pictures [--check]`: draw the pictures of the documents from real sessions of the chat.

Each picture is what `platform-engineer chat` writes to a terminal with the offline model and the double of GitHub. With
`--check` nothing is written, and the exit code is 1 where a picture does not show what the chat shows today.
"""
# ruff: noqa: INP001 - a folder of documents with some scripts in it is no package

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.text import Text

from agents.github.testing.server import run_github_server

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "images"
WIDTH = 100
SECONDS = 100
EXIT_STALE = 1
SIZE = {"LINES": "50", "COLUMNS": str(WIDTH)}

PICTURES: Mapping[str, str] = {
    "chat": "How do I add a sub-agent?",
    "two-agents": "List the open pull requests of octocat/hello-world, and how do I add a sub-agent?",
}
"""The request of each picture, by the name of its file."""

_CHANGES = (
    (re.compile(r"\b\d+\.\d s\b"), "0.2 s"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:8000"),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "6f1c2d9e-0b4a-4c58-9d0e-2a7b5e1f3c44"),
)
"""What is different in each session: durations, ports, ids."""
_SEQUENCE = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])")
_GREETING = re.compile(r"/help")
_PASSING = re.compile(r"in the background")
"""Lines that come at any moment, or not at all."""


@dataclass(slots=True)
class Screen:
    """The lines of a terminal, as far as the chat steers it: up, start of line, erase line, colours."""

    lines: list[str] = field(default_factory=lambda: [""])
    row: int = 0

    def feed(self, text: str) -> None:
        """Take in what was written to the terminal."""
        place = 0
        while place < len(text):
            found = _SEQUENCE.match(text, place)
            if found:
                self._steer(found[1], found[2], found[0])
                place = found.end()
                continue
            self._put(text[place])
            place += 1

    def _steer(self, number: str, letter: str, whole: str) -> None:
        match letter:
            case "A":
                self.row = max(0, self.row - int(number or 1))
            case "K" if number == "2":
                self.lines[self.row] = ""
            case "m":
                self.lines[self.row] += whole
            case _:
                pass

    def _put(self, character: str) -> None:
        if character == "\n":
            self.row += 1
            if self.row == len(self.lines):
                self.lines.append("")
        elif character != "\r":
            self.lines[self.row] += character


def session(request: str) -> str:
    """What the terminal shows of a chat with one request, with colours."""
    with tempfile.TemporaryDirectory() as home, run_github_server(pulls=4) as github:
        environment = {
            **{name: value for name, value in os.environ.items() if name != "NO_COLOR"},
            **SIZE,
            "TERM": "xterm-256color",
            "PLATFORM_ENGINEER_HOME": home,
            "GITHUB_API_URL": github.url,
            "RAG_SOURCES": "docs/add-an-agent.md,docs/offline-model.md",
            "RAG_READY_SECONDS": str(SECONDS),
        }
        written = _run([sys.executable, "-m", "multi_agents.cli", "chat"], environment, f"{request}\n")
    screen = Screen()
    screen.feed(written)
    text = "\n".join(screen.lines)
    for pattern, same in _CHANGES:
        text = pattern.sub(same, text)
    return _with_request(text, request)


def _run(command: Sequence[str], environment: Mapping[str, str], lines: str) -> str:
    """The output of a command on a terminal, whose input is a pipe."""
    main, terminal = pty.openpty()
    with subprocess.Popen(  # noqa: S603 - our own command
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=terminal, stderr=terminal
    ) as process:
        os.close(terminal)
        assert process.stdin
        process.stdin.write(lines.encode())
        process.stdin.close()
        written = b""
        while piece := _read(main):
            written += piece
        process.wait(SECONDS)
    os.close(main)
    return written.decode("utf-8", "replace")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # Linux says so when the last program has closed it
        return b""


def _with_request(text: str, request: str) -> str:
    """The session from its greeting on, with the line that a person types."""
    lines = [line for line in text.split("\n") if not _PASSING.search(line)]
    first = next(number for number, line in enumerate(lines) if _GREETING.search(line))
    return "\n".join([*lines[first : first + 1], f"\x1b[1m> {request}\x1b[0m", *lines[first + 1 :]]).rstrip()


def drawn(name: str, text: str) -> str:
    """The session as SVG; `name` keeps its styles apart from those of other pictures."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(
            record=True, width=WIDTH, file=nowhere, force_terminal=True, color_system="truecolor"
        )
        console.print(Text.from_ansi(text), soft_wrap=True)
        picture = console.export_svg(title="make chat", unique_id=name)
    return "\n".join(line.rstrip() for line in picture.splitlines()) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    stale = []
    for name, request in PICTURES.items():
        path = FOLDER / f"{name}.svg"
        picture = drawn(name, session(request))
        if "--check" not in arguments:
            path.parent.mkdir(exist_ok=True)
            path.write_text(picture, "utf-8")
        elif not path.exists() or path.read_text("utf-8") != picture:
            stale.append(path.name)
    if stale:
        sys.stdout.write(f"{', '.join(stale)}: the chat shows something else today. Run `make docs`.\n")
    return EXIT_STALE if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
