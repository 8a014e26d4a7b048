"""What `doctor` says of settings that change nothing, or less than they say."""

from __future__ import annotations

import pytest

from multi_agents.cli import limits_check
from multi_agents.cli.limits_check import check_limits


def told(**environ: str) -> list[str]:
    return [f"{one.level}: {one.message}" for one in check_limits(environ)]


def test_settings_of_a_database_that_is_not_there_have_no_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_check, "allowed_files", lambda: 65_536)
    assert told(DATABASE_CONNECTIONS="20") == [
        "note: DATABASE_CONNECTIONS has no effect without DATABASE_URL"
    ]
    assert told(DATABASE_CONNECTIONS="20", DATABASE_URL="postgresql://host/name") == []
    assert told(STORE="sqlite") == []


def test_a_limit_of_connections_that_the_open_files_lower_is_told_with_what_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits_check, "allowed_files", lambda: 1024)
    assert told(MAX_CONNECTIONS="500") == []
    assert told(MAX_CONNECTIONS="0") == []
    (said,) = told(MAX_CONNECTIONS="600")
    assert said.startswith("note: MAX_CONNECTIONS is 600, and 512 are taken: half of the files")
