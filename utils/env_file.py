"""Reads a `.env` file, and refuses one with a line that cannot be parsed: it might be one that enables a protection."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from utils.errors import SettingsError

if TYPE_CHECKING:
    from dotenv.parser import Binding

_NAMED = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=")
_NEW_LINE = re.compile(r"\r\n|\n|\r")


def read_env_file(file: Path) -> dict[str, str]:
    """The variables of a file.

    Raises:
        SettingsError: It is not UTF-8 text, cannot be read, or has a line that cannot be parsed. Never shows a value.
    """
    from dotenv.main import resolve_variables

    found = [(line.key, line.value) for line in _lines(file) if line.key is not None]
    resolved = resolve_variables(found, override=True)
    return {name: value for name, value in resolved.items() if value is not None}


class Repeated(NamedTuple):
    """A variable that a file sets more than once.

    Attributes:
        name: Its name.
        lines: The line numbers, from 1; the last line applies.
        file: Name of the file.
    """

    name: str
    lines: Sequence[int]
    file: str

    @property
    def sentence(self) -> str:
        """A sentence about it, without a value."""
        first = ", ".join(map(str, self.lines[:-1]))
        return (
            f"The file {self.file} sets {self.name} on the lines {first} and {self.lines[-1]}: the last one counts. "
            "Remove the others."
        )


def repeated_in(file: Path) -> list[Repeated]:
    """The variables that a file sets more than once, in order.

    Raises:
        SettingsError: It is not UTF-8 text, cannot be read, or has a line that cannot be parsed.
    """
    places: dict[str, list[int]] = {}
    for line in _lines(file):
        if line.key is not None:
            places.setdefault(line.key, []).append(_number(line))
    return [Repeated(name, lines, file.name) for name, lines in places.items() if len(lines) > 1]


def _lines(file: Path) -> Iterator[Binding]:
    from io import StringIO

    from dotenv.parser import parse_stream

    for line in parse_stream(StringIO(_text(file))):
        if line.error or (line.key is not None and line.value is None):
            raise SettingsError(file.name, _sentence(file.name, line))
        yield line


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError(
            file.name, f"The file {file.name} is not text in UTF-8: save it in that encoding."
        ) from error
    except OSError as error:
        raise SettingsError(file.name, f"The file {file.name} cannot be read.") from error


def _sentence(name: str, line: Binding) -> str:
    """What is wrong with a line, without its value, which may be a secret."""
    named = _NAMED.match(line.original.string)
    if named:
        why = f"the quotes around the value of {named[1]} are not closed, or something follows them"
    else:
        why = "it is neither NAME=VALUE nor a comment"
    return f"Line {_number(line)} of the file {name} cannot be read: {why}. Correct it, or begin it with #."


def _number(line: Binding) -> int:
    """The line's number; the parser counts preceding empty lines as part of it."""
    written = line.original.string
    before = written[: len(written) - len(written.lstrip())]
    return line.original.line + len(_NEW_LINE.findall(before))
