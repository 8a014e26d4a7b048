"""What `doctor` says of long-term memory."""

from __future__ import annotations

import pytest

from multi_agents.cli.checkup import check_memory


@pytest.mark.parametrize(
    ("environ", "levels"),
    [
        ({}, []),
        ({"LONG_TERM_MEMORY": "on"}, ["wrong"]),
        ({"LONG_TERM_MEMORY": "on", "AUTH_MODE": "none"}, ["wrong"]),
        ({"LONG_TERM_MEMORY": "True", "AUTH_MODE": "oidc"}, ["ok"]),
        ({"LONG_TERM_MEMORY": "false"}, []),
        ({"LONG_TERM_MEMORY": "on", "AUTH_MODE": "api-key"}, ["ok"]),
    ],
)
def test_memory_without_a_login_is_told_as_wrong(environ: dict[str, str], levels: list[str]) -> None:
    assert [finding.level for finding in check_memory(environ)] == levels
