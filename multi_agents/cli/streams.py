"""The standard streams of a command, whatever the shell, a scheduler or a closed terminal made of them."""

from __future__ import annotations

import codecs
import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def use_what_there_is() -> None:
    """Let no stream of the system fail a command that only reports on it.

    A standard stream that is closed leads to the null device: else the next file that is opened takes its number, and
    what is printed goes into that file. Lines for the person that standard error does not take, as on a full disk or
    after the terminal was closed, are dropped: the answer, the exit code and the processes of the service matter more.
    A character that the encoding of standard output lacks is printed as its escape, as standard error has it.
    """
    _open_closed()
    if isinstance(sys.stdout, io.TextIOWrapper) and not takes_all_text(sys.stdout):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(_Lossy(2, "w", closefd=False)),
        encoding=sys.stderr.encoding,
        errors=sys.stderr.errors,
        line_buffering=True,
    )


def takes_all_text(stream: TextIO) -> bool:
    """Whether the encoding of a stream has every character."""
    return codecs.lookup(stream.encoding or "utf-8").name.startswith("utf-")


class _Lossy(io.FileIO):
    """A file that drops what it cannot take."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write the data, and tell how much of it is done with."""
        with suppress(OSError):
            written = super().write(data)
            if written is not None:
                return written
        return memoryview(data).nbytes


def _open_closed() -> None:
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free, which is this one
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - for the whole process
