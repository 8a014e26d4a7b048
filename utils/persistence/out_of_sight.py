"""Finds conversations in files that were left there when DATABASE_URL was set: no agent shows them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from utils.persistence.files import StoreFile
from utils.persistence.settings import DatabaseSettings

_COUNT = "SELECT count(*) FROM (SELECT DISTINCT owner, context_id FROM tasks)"

WHAT_TO_DO = (
    "Conversations in files of {} are out of sight while DATABASE_URL is set ({}): they are not copied. Unset it to see them "
    "again; `platform-engineer erase` reaches them; delete the *.sqlite files there once nobody needs them."
)


def conversations_in(folder: Path) -> int:
    """How many conversations an agent's folder contains; 1 for a file that cannot be read, since it may contain some. Writes nothing."""
    file = folder / StoreFile.TASKS
    if not file.is_file():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True)) as db:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'tasks'").fetchone():
                return 0
            return int(db.execute(_COUNT).fetchone()[0])
    except sqlite3.Error:
        return 1


def out_of_sight(home: Path) -> dict[str, int]:
    """The number of conversations in files by agent, without agents that have none."""
    folders = sorted(each for each in home.iterdir() if each.is_dir()) if home.is_dir() else []
    return {each.name: number for each in folders if (number := conversations_in(each))}


def notice_for(settings: DatabaseSettings, home: Path) -> str:
    """The sentence for a data folder; empty if the agents use files, or if no file has a conversation."""
    found = out_of_sight(home) if settings.url is not None else {}
    return sentence(home, found) if found else ""


def sentence(home: Path, found: Mapping[str, int]) -> str:
    """The sentence about them. Pure."""
    return WHAT_TO_DO.format(home, ", ".join(f"{agent} {number}" for agent, number in found.items()))
