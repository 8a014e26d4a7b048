"""The lines typed into the chat, for the arrow keys; encrypted if encryption is on."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.history import FileHistory

from multi_agents.cli.typed_lines import PLACE
from utils.encryption.codec import Codec
from utils.encryption.errors import StorageUnreadable


class TypedHistory(FileHistory):
    """Lines in a file. Those that no key reads are left out.

    Args:
        file: The file.
        codec: Encrypts each line.
    """

    def __init__(self, file: Path, codec: Codec) -> None:
        super().__init__(str(file))
        self._codec = codec

    def load_history_strings(self) -> Iterable[str]:
        """The lines, newest first."""
        for stored in super().load_history_strings():
            with suppress(StorageUnreadable):
                yield self._codec.decrypt_text(stored, PLACE)

    def store_string(self, string: str) -> None:
        """Add a line. If it cannot be written, for example on a full disk, it is kept until this chat ends."""
        with suppress(OSError):
            super().store_string(self._codec.encrypt_text(string, PLACE))
