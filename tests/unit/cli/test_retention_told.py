"""What `doctor` says of conversations that are deleted by themselves."""

from __future__ import annotations

import pytest

from multi_agents.cli.checkup import check_retention
from multi_agents.cli.own_settings import OwnSettings
from multi_agents.cli.retention_check import check_shorter_retention
from utils.a2a_common.client.agents.agents_file import SUPERVISOR


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


@pytest.mark.parametrize(
    ("shared", "own", "told"),
    [
        ({}, {}, []),
        ({"RETENTION_DAYS": "30"}, {}, []),
        ({"RETENTION_DAYS": "30"}, {"github": "60"}, []),
        ({"RETENTION_DAYS": "30"}, {"github": "0"}, []),
        (
            {"RETENTION_DAYS": "30"},
            {"github": "7"},
            ["github deletes conversations after 7 days, and the supervisor after 30"],
        ),
        ({}, {"github": "7"}, ["github deletes conversations after 7 days, and the supervisor never"]),
        (
            {"RETENTION_DAYS": "7"},
            {SUPERVISOR: "30", "github": "30"},
            [
                "an agent without settings of its own deletes conversations after 7 days, and the supervisor after 30"
            ],
        ),
        ({"RETENTION_DAYS": "7"}, {SUPERVISOR: "3"}, []),
    ],
)
def test_agents_that_delete_conversations_before_the_supervisor_does_are_named(
    shared: dict[str, str], own: dict[str, str], told: list[str]
) -> None:
    settings = [OwnSettings(name, "", "agents.yaml", {"RETENTION_DAYS": days}) for name, days in own.items()]
    found = list(check_shorter_retention(shared, settings))
    assert [one.message.split(":")[0] for one in found] == told
    assert {one.level for one in found} <= {"note"}
