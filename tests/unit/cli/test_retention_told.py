"""What `doctor` says of conversations that are deleted by themselves."""

from __future__ import annotations

import pytest

from multi_agents.cli.checkup import check_retention


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({}, "conversations are kept for ever"),
        ({"RETENTION_DAYS": "30"}, "conversations are deleted after 30 days"),
        (
            {"RETENTION_DAYS": "0.5", "RETENTION_TASKS_MB": "2500", "RETENTION_ARTIFACTS_MB": "0.4"},
            "conversations are deleted after 0.5 days and from 2.5 GB of tasks and from 400.0 kB of artifacts",
        ),
    ],
)
def test_ages_and_sizes_are_named(environ: dict[str, str], told: str) -> None:
    (finding,) = check_retention(environ)
    assert (finding.level, finding.message) == ("ok", told)
