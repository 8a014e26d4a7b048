"""A name that is nearly a setting is named after an install, with the setting that was probably meant."""

from __future__ import annotations

import re

import pytest

from tests.helm.cases import ACCEPTED, GITHUB
from tests.helm.chart import CHART, Helm, Values
from utils.settings_names import distance

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

SLIP = re.compile(r"^(\S+) in (.+) is no setting of the service: (\S+) was probably meant\.$", re.MULTILINE)


def _slips(helm: Helm, values: Values) -> dict[str, tuple[str, str]]:
    done = helm.run("install", "first", str(CHART), "--dry-run=client", values=values)
    assert done.returncode == 0, done.stderr
    found = SLIP.findall(done.stdout.partition("NOTES:")[2])
    return {name: (where, meant) for name, where, meant in found}


def test_a_letter_that_is_missing_added_changed_or_swapped_is_noticed_in_every_place(helm4: Helm):
    values = {
        "settings": {"RETENTION_DAY": "30", "LOG_FORMAT": "json"},
        "defaults": {"env": {"MAX_WAITINGS_TURNS": 5}},
        "supervisor": {"env": {"LLM_MODAL": "a"}},
        "agents": [{**GITHUB, "env": {"GITHUB_WIRTE": True}}],
    }
    assert _slips(helm4, values) == {
        "RETENTION_DAY": ("settings", "RETENTION_DAYS"),
        "MAX_WAITINGS_TURNS": ("defaults.env", "MAX_WAITING_TURNS"),
        "LLM_MODAL": ("supervisor.env", "LLM_MODEL"),
        "GITHUB_WIRTE": ("env of agent github", "GITHUB_WRITE"),
    }
    assert all(distance(name, meant) == 1 for name, (_, meant) in _slips(helm4, values).items())


def test_names_of_ones_own_and_of_other_programs_are_left_alone(helm4: Helm):
    own = {"JIRA_URL": "a", "HOSTS": "a", "PORTS": "a", "SSL_CERT_FILE": "/ca", "HTTP_PROXY": "http://p:1", "TZ": "UTC"}  # fmt: skip
    assert _slips(helm4, {"settings": {**own, "RETENTION_DAY": None}}) == {}
    assert all(_slips(helm4, ACCEPTED[case]) == {} for case in ("one more agent", "a company's proxy"))
