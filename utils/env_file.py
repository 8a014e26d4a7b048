"""Reads a `.env` file, and refuses one with a line that sets nothing: it might be the one that switches something on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from utils.errors import SettingsError

if TYPE_CHECKING:
    from dotenv.parser import Binding

_NAMED = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=")
_NEW_LINE = re.compile(r"\r\n|\n|\r")


def read_env_file(file: Path) -> dict[str, str]:
    """The variables of a file.

    Raises:
        SettingsError: It is no text in UTF-8, cannot be read, or has a line that cannot be parsed. Never shows a value.
    """
    from io import StringIO

    from dotenv.main import resolve_variables
    from dotenv.parser import parse_stream

    found: list[tuple[str, str | None]] = []
    for line in parse_stream(StringIO(_text(file))):
        if line.error or (line.key is not None and line.value is None):
            raise SettingsError(file.name, _sentence(file.name, line))
        if line.key is not None:
            found.append((line.key, line.value))
    resolved = resolve_variables(found, override=True)
    return {name: value for name, value in resolved.items() if value is not None}


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
    """What is wrong with a line, without what it sets: that may be a secret."""
    written = line.original.string
    before = written[: len(written) - len(written.lstrip())]
    number = line.original.line + len(_NEW_LINE.findall(before))
    named = _NAMED.match(written)
    if named:
        why = f"the quotes around the value of {named[1]} are not closed, or something follows them"
    else:
        why = "it is neither NAME=VALUE nor a comment"
    return f"Line {number} of the file {name} cannot be read: {why}. Correct it, or begin it with #."
