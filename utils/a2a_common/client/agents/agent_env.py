"""`env` of an entry of the agents file: settings of one agent's process. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from utils.errors import SettingsError

VARIABLE = "SUB_AGENTS"

WIRED = frozenset({"HOST", "PORT", "PUBLIC_URL", "SUB_AGENTS", "SUB_AGENTS_SHARES", "PLATFORM_ENGINEER_HOME"})
"""Variables that the service sets for each process it starts."""

SERVED_BY_TLS = frozenset({"TLS_CERT_FILE", "TLS_KEY_FILE", "TLS_CLIENT_CA_FILE"})
"""Variables with which an agent serves HTTPS; the service waits for its agents and asks them by HTTP on this machine."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REFERENCE = re.compile(rf"\$\{{({_NAME.pattern})\}}")


def parse_env(value: object, agent: str, where: str) -> dict[str, str]:
    """The variables of an entry as they are written, `${NAME}` included.

    Args:
        value: The value of `env`.
        agent: Name of the entry.
        where: The file, as the subject of an error message.

    Raises:
        SettingsError: It is not a mapping of names to plain values, or names a variable that the service sets itself.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise SettingsError(VARIABLE, f"{where} is wrong: env of {agent} must map names to values.")
    return {
        name: _plain(each, name, agent, where) for name, each in value.items() if _checked(name, agent, where)
    }


def resolve_env(env: Mapping[str, str], environ: Mapping[str, str], agent: str, where: str) -> dict[str, str]:
    """The variables with every `${NAME}` replaced by the service's own variable of that name.

    Raises:
        SettingsError: One of those is not set. Names it, and shows no value.
    """

    def replaced(name: str, value: str) -> str:
        def look_up(match: re.Match[str]) -> str:
            if not environ.get(match[1]):
                text = f"{where} is wrong: env of {agent}: {name} needs {match[1]}, which is not set."
                raise SettingsError(match[1], text)
            return environ[match[1]]

        return _REFERENCE.sub(look_up, value)

    return {name: replaced(name, value) for name, value in env.items()}


def _checked(name: object, agent: str, where: str) -> bool:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise SettingsError(VARIABLE, f"{where} is wrong: env of {agent} has a name that is no variable's.")
    if name in WIRED:
        text = f"{where} is wrong: env of {agent}: {name} cannot be set here, the service sets it for each process."
        raise SettingsError(name, text)
    if name in SERVED_BY_TLS:
        text = f"{where} is wrong: env of {agent}: {name} cannot be set here, the service asks its agents by HTTP on this machine. "
        raise SettingsError(
            name, f"{text}Serve the agent by itself (`platform-engineer serve`) or in a container."
        )
    return True


def _plain(value: object, name: str, agent: str, where: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float) or "\0" in str(value):
        raise SettingsError(
            name, f"{where} is wrong: env of {agent}: {name} must be a text, a number or a boolean."
        )
    return str(value)
