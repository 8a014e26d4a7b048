"""A pod is not killed before its process ends: pause, grace and what is stored last fit into what Kubernetes gives it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.helm.cases import GITHUB
from tests.helm.chart import CHART, Helm
from utils.a2a_common.server.agent_process import ending_seconds
from utils.settings import ServerSettings

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

GIVEN: tuple[dict[str, Any], ...] = (
    {},
    {"SHUTDOWN_GRACE_SECONDS": "20"},
    {"SHUTDOWN_PAUSE_SECONDS": 12.5, "SHUTDOWN_GRACE_SECONDS": 60},
    {"SHUTDOWN_PAUSE_SECONDS": "", "SHUTDOWN_GRACE_SECONDS": " "},
    {"SHUTDOWN_PAUSE_SECONDS": None, "SHUTDOWN_GRACE_SECONDS": "1_0"},
    {"SHUTDOWN_PAUSE_SECONDS": "0", "SHUTDOWN_GRACE_SECONDS": "0"},
)


def _accepted(helm: Helm, given: dict[str, Any], seconds: int) -> bool:
    agent = {**GITHUB, "env": given, "terminationGracePeriodSeconds": seconds}
    done = helm.run("template", "first", str(CHART), values={"agents": [agent]})
    assert done.returncode == 0 or "github is killed after" in done.stderr, done.stderr
    return done.returncode == 0


@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_a_pod_has_more_time_than_its_process_may_take_to_its_end(helm: Helm, given: dict[str, Any]):
    environ = {name: str(value) for name, value in given.items() if value is not None}
    longest = math.floor(ending_seconds(ServerSettings.load(environ)))
    assert not _accepted(helm, given, longest)
    assert _accepted(helm, given, longest + 1)
