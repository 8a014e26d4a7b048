"""With which keys stored conversations are encrypted."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import Field, SecretStr

from utils.encryption.codec import PLAIN, VARIABLE, Codec
from utils.errors import SettingsError
from utils.settings import EnvSettings

FILE_VARIABLE = "ENCRYPTION_KEYS_FILE"


class EncryptionSettings(EnvSettings):
    """With which keys stored conversations are encrypted."""

    keys: SecretStr | None = Field(
        None,
        alias=VARIABLE,
        description="Keys, with commas, that encrypt stored conversations: the first writes, all read. The same for all replicas. Nothing is encrypted when unset, or with `plain` in the place of the first.",
    )
    keys_file: Path | None = Field(
        None,
        alias=FILE_VARIABLE,
        description="File with these keys instead, with commas or one a line; read when a process starts.",
    )

    def codec(self) -> Codec:
        """What encrypts with these keys.

        Raises:
            SettingsError: A key is none, the file cannot be read, or both are set.
        """
        if self.keys is None and self.keys_file is None:
            return PLAIN
        if self.keys is not None and self.keys_file is not None:
            raise SettingsError(FILE_VARIABLE, f"Set {VARIABLE} or {FILE_VARIABLE}, and not both.")
        given = self.keys.get_secret_value() if self.keys is not None else self._in_file()
        keys = re.split(r"[,\s]+", given.strip(" \t\r\n,"))
        return Codec(keys)

    def _in_file(self) -> str:
        assert self.keys_file is not None
        try:
            return self.keys_file.read_text(encoding="ascii")
        except (OSError, ValueError) as error:
            text = f"The file in {FILE_VARIABLE} cannot be read, or holds no keys."
            raise SettingsError(FILE_VARIABLE, text) from error
