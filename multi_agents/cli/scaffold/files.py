"""Reads and atomically writes text files, and keeps their line ends."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from multi_agents.cli.errors import CliError


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text with plain line feeds, and the line ends of its file."""

    path: Path
    text: str
    newline: str = "\n"

    def write(self, text: str) -> None:
        """Replace the file atomically.

        Raises:
            CliError: It cannot be written.
        """
        aside = self.path.with_name(f".{self.path.name}.new")
        try:
            aside.write_bytes(text.replace("\n", self.newline).encode())
            if self.path.exists():
                aside.chmod(self.path.stat().st_mode)
            aside.replace(self.path)
        except OSError as error:
            aside.unlink(missing_ok=True)
            raise CliError(f"{self.path.name} cannot be written.") from error


def read_text_file(path: Path) -> TextFile | None:
    """Read a text file; `None` if it does not exist.

    Raises:
        CliError: It cannot be read.
    """
    if path.exists() and not path.is_dir() and not path.is_file():
        raise CliError(f"{path.name} cannot be read: it is no regular file.")  # a pipe would be waited for
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise CliError(f"{path.name} cannot be read: {why}.") from error
    except UnicodeDecodeError as error:
        raise CliError(f"{path.name} cannot be read: it is not text in UTF-8.") from error
    newline = "\r\n" if "\r\n" in text else "\n"
    return TextFile(path, text.replace("\r\n", "\n"), newline)
