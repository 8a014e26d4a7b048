"""The logins of this user: tokens of providers, kept in a file of the data folder that only its owner can read."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from utils.a2a_common.client.transport.credentials import origin_of
from utils.atomic_file import not_written, replace_file
from utils.auth.device_flow import DeviceFlow, FlowRefused, FlowUnavailable, Tokens
from utils.environment import process_environment
from utils.errors import SettingsError
from utils.settings import HomeSettings

FILE = "logins.json"


@dataclass(frozen=True, slots=True)
class Login:
    """A login.

    Attributes:
        issuer: The provider.
        client_id: What it knows the command line as.
        token_url: Where tokens are renewed.
        tokens: The tokens.
    """

    issuer: str
    client_id: str
    token_url: str
    tokens: Tokens

    async def renewed(self) -> Login:
        """With new tokens.

        Raises:
            FlowRefused: The provider gives none.
            FlowUnavailable: It cannot be reached.
        """
        flow = DeviceFlow("", self.token_url, self.client_id)
        return replace(self, tokens=await flow.renewed(self.tokens))


class Logins:
    """The file: one login for each origin of an agent.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def get(self, url: str) -> Login | None:
        """The login for an agent.

        Raises:
            SettingsError: The file is damaged.
        """
        entry = self._all().get(_key(url))
        if entry is None:
            return None
        try:
            return Login(**{**entry, "tokens": Tokens(**entry["tokens"])})
        except (TypeError, KeyError) as error:
            raise _damaged() from error

    def put(self, url: str, login: Login) -> None:
        """Store a login."""
        self._write({**self._all(), _key(url): asdict(login)})

    def remove(self, url: str) -> bool:
        """Delete a login; whether there was one."""
        stored = self._all()
        found = stored.pop(_key(url), None) is not None
        if found:
            self._write(stored)
        return found

    async def token(self, url: str) -> str:
        """The access token for an agent, renewed if it is about to expire; empty without a login."""
        login = self.get(url)
        if login is None or not login.tokens.old(time.time()):
            return login.tokens.access if login else ""
        try:
            new = await login.renewed()
        except FlowUnavailable:
            return login.tokens.access  # which may be taken a little longer
        except FlowRefused:
            other = self.get(url)  # another process may have renewed it, and what renews counts once
            if other is not None and other != login:
                return other.tokens.access
            self.remove(url)
            return ""
        self.put(url, new)
        return new.tokens.access

    def _all(self) -> dict[str, Any]:
        try:
            stored = json.loads(self._path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except NotADirectoryError as error:
            raise not_written(self._path, error) from error
        except (OSError, ValueError) as error:
            raise _damaged() from error
        if not isinstance(stored, dict):
            raise _damaged()
        return stored

    def _write(self, stored: Mapping[str, Any]) -> None:
        replace_file(self._path, json.dumps(stored, indent=1).encode())


def own_logins() -> Logins:
    """Those of the data folder."""
    return Logins(HomeSettings.load(process_environment()).home / FILE)


def _key(url: str) -> str:
    scheme, host, port = origin_of(url)
    return f"{scheme}://{host}:{port}"


def _damaged() -> SettingsError:
    text = f"The file {FILE} in PLATFORM_ENGINEER_HOME is damaged. Delete it and log in again."
    return SettingsError("PLATFORM_ENGINEER_HOME", text)
