"""Warns of environment variables that look like a misspelt setting, of a `.env` that is no file, and of what it sets more than once."""

from __future__ import annotations

import structlog

from utils.environment import repeated_variables, unread_env_file
from utils.settings import process_environment
from utils.settings_docs import COMPOSE
from utils.settings_index import groups_in, names_of, shared_groups
from utils.settings_names import unknown_names

log = structlog.get_logger(__name__)


def warn_of_unknown_settings(module: str) -> None:
    """Log each name that is probably a misspelt setting of the agents of this module, and what is wrong with the `.env` file.

    Only near misses are logged: a process does not know the settings of the other agents.
    """
    package = module.rpartition(".")[0]
    groups = shared_groups() + (groups_in(package) if package else [])
    for one in unknown_names(process_environment(), names_of(groups) | set(COMPOSE)):
        if one.meant is not None:
            log.warning("setting.unknown", name=one.name, meant=one.meant)
    if unread := unread_env_file():
        log.warning("setting.file_unread", reason=unread)
    for again in repeated_variables():
        log.warning("setting.repeated", name=again.name, file=again.file, lines=list(again.lines))
