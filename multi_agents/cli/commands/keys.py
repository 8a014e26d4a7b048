"""`keys create`, `keys list`, `keys service`, `keys revoke`: the API keys of the agents that share a folder."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Coroutine, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from multi_agents.cli.console import one_line, out, print_json, say
from multi_agents.cli.errors import UsageError
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.running import run
from utils.auth.api_keys import ApiKey, KeyFile, new_key
from utils.auth.authenticator import KEYS
from utils.auth.principal import Right, scope_for
from utils.auth.service_tokens import new_private_key
from utils.auth.settings import AuthSettings
from utils.persistence.private import keep_files_private
from utils.settings import HomeSettings, process_environment

SUPERVISOR = "platform-engineer"
DAY_SECONDS = 86_400
LAST_SECOND = 253_402_300_799
"""Of the year 9999, which no date is after."""

NO_SCOPE = "{!r} is no scope: write agent:NAME:RIGHT, where RIGHT is use, approve or admin."
_SCOPE = re.compile(rf"agent:[a-z0-9][a-z0-9_-]*:({'|'.join(Right)})")


def create_key(name: str, scopes: Sequence[str], tenant: str, days: float, *, as_json: bool) -> ExitCode:
    """Make a key and show it."""

    async def made() -> ExitCode:
        if not name.strip() or not name.isprintable():
            raise UsageError("A key needs a name that can be shown.")
        for scope in scopes:
            if not _SCOPE.fullmatch(scope):
                raise UsageError(NO_SCOPE.format(one_line(scope, 60)))
        now = time.time()
        usual = [scope_for(SUPERVISOR, right) for right in (Right.USE, Right.APPROVE)]
        ends = now + days * DAY_SECONDS if days else 0.0
        text, key = new_key(ApiKey(name.strip(), "", tuple(scopes or usual), tenant, ends, now))
        key_file().add(key)
        if as_json:
            print_json({"name": key.name, "key": text, "scopes": list(key.scopes)})
        else:
            out().print(text, soft_wrap=True, markup=False, highlight=False)
            say("This is shown once. Give it to `chat --token` or PLATFORM_ENGINEER_TOKEN.")
        return ExitCode.OK

    return _run(made(), as_json=as_json)


def list_keys(*, as_json: bool) -> ExitCode:
    """Show what is stored."""

    async def shown() -> ExitCode:
        keys = key_file().keys()
        if as_json:
            print_json(
                [{field: value for field, value in asdict(key).items() if field != "digest"} for key in keys]
            )
            return ExitCode.OK
        for key in keys:
            words = [key.name, " ".join(key.scopes), key.tenant and f"tenant {key.tenant}", _end(key)]
            out().print("  ".join(filter(None, words)), soft_wrap=True, markup=False, highlight=False)
        if not keys:
            say("There are no API keys yet: platform-engineer keys create NAME")
        return ExitCode.OK

    return _run(shown(), as_json=as_json)


def revoke_key(name: str) -> ExitCode:
    """Delete a key."""

    async def revoked() -> ExitCode:
        if not key_file().remove(name):
            raise UsageError(f"There is no API key named {name}. `platform-engineer keys list` shows them.")
        say(f"The key {name} is revoked.")
        return ExitCode.OK

    return _run(revoked())


def make_service_key() -> ExitCode:
    """Show a new key pair; nothing is stored."""
    private = new_private_key()
    public = {name: value for name, value in private.items() if name != "d"}
    for variable, key in (("AUTH_SERVICE_KEY", private), ("AUTH_SERVICE_PUBLIC_KEY", public)):
        out().print(f"{variable}={json.dumps(key)}", soft_wrap=True, markup=False, highlight=False)
    say("The first is for the supervisor alone, the second for its agents.")
    return ExitCode.OK


def _run(command: Coroutine[Any, Any, ExitCode], *, as_json: bool = False) -> ExitCode:
    keep_files_private()
    return run(command, as_json=as_json)


def key_file() -> KeyFile:
    """The file of the keys: AUTH_KEYS_FILE, otherwise in the data folder."""
    environ = process_environment()
    named = AuthSettings.load(environ).keys_file
    return KeyFile(named or HomeSettings.load(environ).home / KEYS)


def _end(key: ApiKey) -> str:
    if not key.expires:
        return ""
    word = "expired" if key.expires <= time.time() else "until"
    return f"{word} {datetime.fromtimestamp(min(key.expires, LAST_SECOND), UTC).date()}"
