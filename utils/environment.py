"""The base of every group of settings, which are read from the environment and a `.env` file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from utils.env_file import Repeated, read_env_file, repeated_in
from utils.errors import SettingsError


class EnvSettings(BaseModel):
    """Base of every group of settings."""

    __test__: ClassVar[bool] = False  # pytest must not collect a group whose name begins with `Test`
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, hide_input_in_errors=True)

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Read this group.

        Args:
            environ: Variables by name; the process environment over a `.env` file when omitted.

        Raises:
            SettingsError: A value is missing or wrong. Names the variable, never shows the value.
        """
        source = process_environment() if environ is None else environ
        try:
            return cls.model_validate(_given(source))
        except ValidationError as error:
            raise _problems(error)[0] from error

    @classmethod
    def problems(cls, environ: Mapping[str, str]) -> list[SettingsError]:
        """All that is wrong with this group, in the order of its settings; `load` raises the first."""
        try:
            cls.model_validate(_given(environ))
        except ValidationError as error:
            return _problems(error)
        return []


def _given(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value.strip() for name, value in environ.items() if value.strip()}


def _problems(error: ValidationError) -> list[SettingsError]:
    found = []
    for one in error.errors(include_input=False, include_url=False):
        variable = str(one["loc"][0]) if one["loc"] else "environment"
        reason = str(one["msg"]).removeprefix("Value error, ")
        found.append(SettingsError(variable, f"Setting {variable} is wrong: {reason}."))
    return found


def env_file() -> dict[str, str]:
    """The variables of the `.env` file in the current folder; none if there is no such file.

    Raises:
        SettingsError: It is not UTF-8 text, cannot be read, or has a line that cannot be parsed.
    """
    file = Path.cwd() / ".env"
    return read_env_file(file) if file.is_file() else {}


def repeated_variables() -> list[Repeated]:
    """The variables that the `.env` file in the current folder sets more than once.

    Raises:
        SettingsError: The file cannot be read.
    """
    file = Path.cwd() / ".env"
    return repeated_in(file) if file.is_file() else []


def unread_env_file() -> str:
    """A sentence about a `.env` here that is no file, such as the folder that Docker makes for a missing one; else empty."""
    file = Path.cwd() / ".env"
    if not os.path.lexists(file) or file.is_file():
        return ""
    what = "a folder" if file.is_dir() else "no regular file" if file.exists() else "a link to no file"
    return f"{file} is {what}: no setting is read from it."


def process_environment() -> dict[str, str]:
    """The variables of this process, which take precedence over those of a `.env` file in the current folder.

    Raises:
        SettingsError: The file cannot be read.
    """
    return env_file() | dict(os.environ)


def own_environment() -> dict[str, str]:
    """The variables of this process alone."""
    return dict(os.environ)
