"""What nobody should read stands in no ConfigMap: each setting that is a secret is refused at every level that makes one."""

from __future__ import annotations

import pytest
import yaml

from docs.make_configuration import groups
from tests.helm.cases import GITHUB
from tests.helm.chart import Helm, Values
from utils.settings_docs import settings_of

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

SECRETS = sorted({one.variable for group in groups() for one in settings_of(group) if one.secret})
OF_THE_SUPERVISOR = {"AUTH_SERVICE_KEY", "AUTH_EXCHANGE_CLIENT_SECRET"}
PLAIN = "rather-secret"
LEVELS = {
    "settings": ("settings", "secrets"),
    "defaults": ("defaults.env", "secrets"),
    "supervisor": ("supervisor.env", "supervisor.secrets"),
    "agents": ("env of agent github", "secrets of agent github"),
}


def given(level: str, name: str) -> Values:
    match level:
        case "settings":
            return {"settings": {name: PLAIN}}
        case "agents":
            return {"agents": [{**GITHUB, "env": {name: PLAIN}}]}
        case _:
            return {level: {"env": {name: PLAIN}}}


def way(name: str, usual: str) -> str:
    if name in OF_THE_SUPERVISOR:
        return "supervisor.secrets"
    ways = {"DATABASE_URL": "database.existing or database.url"}
    ways["ENCRYPTION_KEYS"] = "encryption.existing or encryption.keys"
    return ways.get(name, f"{usual} (existing, values or external)")


@pytest.mark.parametrize("level", LEVELS)
def test_a_secret_is_refused_wherever_it_would_be_written_in_the_clear(helm4: Helm, level: str):
    where, usual = LEVELS[level]
    for name in SECRETS:
        said = helm4.refusal(given(level, name))
        assert f"{name} cannot stand in {where}, which everybody reads" in said
        assert f": set {way(name, usual)}." in said
        assert PLAIN not in said


def test_what_takes_a_secret_instead_writes_it_into_secrets_alone(helm4: Helm):
    here = {name: PLAIN for name in SECRETS if name in OF_THE_SUPERVISOR}
    own = ("DATABASE_URL", "ENCRYPTION_KEYS")  # the chart has keys of their own for these
    shared = {name: PLAIN for name in SECRETS if name not in here and name not in own}
    manifests = helm4.render({"secrets": {"values": shared}, "supervisor": {"secrets": {"values": here}}})
    holding = [one for one in manifests if PLAIN in yaml.safe_dump(one)]
    assert {one["kind"] for one in holding} == {"Secret"}
    assert {name for one in holding for name in one["stringData"]} == {*shared, *here}


def test_a_public_key_and_other_settings_may_stand_anywhere(helm4: Helm):
    assert helm4.render({"settings": {"AUTH_SERVICE_PUBLIC_KEY": "{}", "GITHUB_WRITE": "false"}})
    assert helm4.render({"agents": [{**GITHUB, "env": {"ONE_OF_MINE": "x"}}]})
