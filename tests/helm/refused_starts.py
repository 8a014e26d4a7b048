"""Values of rows of the chart's refusals.yaml, by the sentence of the row, and what of the code refuses the rendered pods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from multi_agents.cli.checkup import check_memory
from tests.helm.cases import GITHUB, KNOWN
from tests.helm.chart import Values
from utils.auth.authenticator import authenticator_for
from utils.auth.exposure import check_exposure, check_writes
from utils.auth.settings import AuthSettings
from utils.errors import SettingsError
from utils.persistence.settings import DatabaseSettings, EngineSettings
from utils.settings_index import groups_in, shared_groups, wrong_values

Environ = Mapping[str, str]

_DATABASE = {"existing": "db"}
_TWO = {"replicas": 2, "storage": {"enabled": False}}
_API_KEYS = {"AUTH_MODE": "api-key", "AUTH_SERVICE_PUBLIC_KEY": "{}"}
_SECRETS = {"secrets": {"existing": "keys"}}


def known_setup(**supervisor: Any) -> dict[str, Any]:
    """Values with callers that are known, over a database."""
    return {**KNOWN, "database": _DATABASE, "supervisor": {**KNOWN["supervisor"], **supervisor}}


SPLIT: dict[str, tuple[Values, str]] = {
    "API keys of several replicas": (
        {"database": _DATABASE, "settings": _API_KEYS, "supervisor": {**_TWO, **_SECRETS}},
        "The supervisor cannot have several replicas with AUTH_MODE=api-key",
    ),
    "API keys without a volume": (
        {"settings": _API_KEYS, "supervisor": {"storage": {"enabled": False}, **_SECRETS}},
        "The supervisor needs a volume with AUTH_MODE=api-key",
    ),
    "API keys without a volume, over a database": (
        {
            "database": _DATABASE,
            "settings": _API_KEYS,
            "defaults": {"storage": {"enabled": False}},
            "supervisor": _SECRETS,
        },
        "the keys are in the file keys.json of its folder, also with a database",
    ),
    "one process for all turns, twice": (
        {"database": _DATABASE, "settings": {"ENGINE": "local"}, "supervisor": _TWO},
        "supervisor cannot have several replicas with ENGINE=local",
    ),
    "one process for all turns, by load": (
        {
            "database": _DATABASE,
            "agents": [
                {
                    **GITHUB,
                    "env": {"ENGINE": "local"},
                    "autoscaling": {"enabled": True},
                    "storage": {"enabled": False},
                }
            ],
        },
        "github cannot have several replicas with ENGINE=local",
    ),
    "tokens that are exchanged in two replicas": (
        known_setup(**_TWO, env={"AUTH_EXCHANGE_CLIENT_ID": "x"}),
        "Remove AUTH_EXCHANGE_CLIENT_ID and exchange",
    ),
    "tokens that are exchanged in two replicas, set up by a secret": (
        {
            **known_setup(**_TWO),
            "agents": [GITHUB, {"name": "weather", "url": "https://weather.example.com", "exchange": {}}],
        },
        "Remove exchange of the agents, or leave replicas at 1",
    ),
    "authorisations of users without keys": (
        {"database": _DATABASE, "agents": [{**GITHUB, "env": {"GITHUB_OAUTH_CLIENT_ID": "x"}}]},
        "GITHUB_OAUTH_CLIENT_ID is set for github with a database and no keys",
    ),
}
"""What one pod alone cannot see: it would lose, split or hide what pods keep."""


REFUSED: dict[str, tuple[Values, str]] = {
    "files beside a database": (
        {"database": _DATABASE, "settings": {"STORE": "sqlite"}},
        "STORE is sqlite for supervisor, which contradicts the database",
    ),
    "memory beside a database, of one agent": (
        {"database": _DATABASE, "agents": [{**GITHUB, "env": {"STORE": "memory"}}]},
        "STORE is memory for github, which contradicts the database",
    ),
    "a store without its database": (
        {"settings": {"STORE": "postgresql"}},
        "STORE is postgresql for supervisor, and there is no database",
    ),
    "turns of all replicas without a database": (
        {"settings": {"ENGINE": "distributed"}},
        "ENGINE is distributed for supervisor, and there is no database",
    ),
    "a way of knowing callers that nobody chose": (
        {"settings": {"AUTH_MODE": None}},
        "AUTH_MODE is empty for supervisor, so that it would not start",
    ),
    "the same of one agent": (
        {"agents": [{**GITHUB, "env": {"AUTH_MODE": ""}}]},
        "AUTH_MODE is empty for github, so that it would not start",
    ),
    "providers that nobody named": (
        {
            "settings": {"AUTH_MODE": "oidc", "AUTH_SERVICE_PUBLIC_KEY": "{}"},
            "supervisor": {"secrets": {"values": {"AUTH_SERVICE_KEY": "{}"}}},
        },
        "AUTH_ISSUERS names no provider",
    ),
    "memories of nobody": (
        {"settings": {"LONG_TERM_MEMORY": "on"}},
        "LONG_TERM_MEMORY is on, and AUTH_MODE is none",
    ),
    "changes in everybody's name": (
        {"agents": [{**GITHUB, "env": {"GITHUB_WRITE": True}}]},
        "GITHUB_WRITE is set for github, and its AUTH_MODE is none",
    ),
    "changes in everybody's name, set for every pod": (
        {"settings": {"GITHUB_WRITE": "yes"}},
        "GITHUB_WRITE is set for github, and its AUTH_MODE is none",
    ),
}
"""What a pod would refuse at its start, or `doctor` call wrong in it."""


def _of_groups(environ: Environ) -> list[str]:
    return [
        problem.message for problem in wrong_values([*shared_groups(), *groups_in("agents.github")], environ)
    ]


def _raised(check: Callable[[], object]) -> list[str]:
    try:
        check()
    except SettingsError as error:
        return [error.message]
    return []


def _of_engine(environ: Environ) -> list[str]:
    return _raised(lambda: EngineSettings.load(environ).distributed(DatabaseSettings.load(environ)))


def _of_memory(environ: Environ) -> list[str]:
    return [finding.message for finding in check_memory(environ) if finding.level == "wrong"]


def _of_authentication(environ: Environ) -> list[str]:
    """But for the keys of services: those of the values here stand for one."""
    given = AuthSettings.load(environ).model_copy(update={"service_public_key": None, "service_key": None})
    with TemporaryDirectory() as home:
        return _raised(lambda: authenticator_for("github", given, Path(home)))


def _of_exposure(environ: Environ) -> list[str]:
    return _raised(lambda: check_exposure(environ["HOST"], AuthSettings.load(environ)))


def _of_writes(environ: Environ) -> list[str]:
    writes = environ.get("GITHUB_WRITE", "").lower() in {"true", "1", "yes", "on", "y", "t"}
    return (
        _raised(lambda: check_writes("GITHUB_WRITE", environ["HOST"], AuthSettings.load(environ)))
        if writes
        else []
    )


CHECKS = (_of_engine, _of_memory, _of_authentication, _of_exposure, _of_writes)


def refused(environ: Environ) -> list[str]:
    """What the code of the service refuses in the environment of a pod."""
    return _of_groups(environ) or [message for check in CHECKS for message in check(environ)]
