"""`doctor`'s check of settings that have no effect, or less than their value suggests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from multi_agents.cli.model.finding import Finding, Level
from utils.a2a_common.server.http.connections import connections_within
from utils.persistence.settings import DatabaseSettings
from utils.processes.open_files import allowed_files
from utils.protection_settings import ProtectionSettings
from utils.settings_docs import settings_of

_OF_DATABASE = "DATABASE_"


def check_limits(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Settings of a database that is not there, and a limit that the limit of open files lowers."""
    if DatabaseSettings.load(environ).url is None:
        for one in settings_of(DatabaseSettings):
            if one.variable.startswith(_OF_DATABASE) and environ.get(one.variable):
                yield Finding("limits", Level.NOTE, f"{one.variable} has no effect without DATABASE_URL")
    asked = ProtectionSettings.load(environ).max_connections
    taken = connections_within(asked, allowed_files())
    if asked and taken < asked:
        yield Finding(
            "limits",
            Level.NOTE,
            f"MAX_CONNECTIONS is {asked}, and {taken} are taken: half of the files that a process may open "
            "(raise it with ulimit -n)",
        )
