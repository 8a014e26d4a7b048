"""The profile `scale` of docker-compose.yaml, read by the real docker-compose."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.compose.stack import config, copied, networks_of, services_of
from tests.compose.tool import ROOT
from tests.docs.test_configuration import KNOWN
from utils.a2a_common.client.agents.agents_file import parse_sub_agents
from utils.settings_docs import COMPOSE

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

SUPERVISORS = ("supervisor-1", "supervisor-2")
AGENTS = ("scaled-github", "scaled-rag")
OURS = (*SUPERVISORS, *AGENTS)
DEFAULT = {"supervisor", "github", "rag"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return copied(tmp_path)


def test_the_profile_is_valid_and_starts_only_when_it_is_asked_for(project: Path):
    done = config(project, "-q", profile="scale")
    assert (done.returncode, done.stderr) == (0, "")
    assert set(services_of(project)) == DEFAULT
    assert set(services_of(project, "scale")) == DEFAULT | {*OURS, "database", "balancer"}


def test_naming_the_balancer_brings_all_of_the_profile_up_and_nothing_of_the_other_stack(project: Path):
    done = config(project, "--format", "json", "balancer")
    assert done.returncode == 0, done.stderr
    named = json.loads(done.stdout)["services"]
    assert set(named) == {*OURS, "database", "balancer"}
    conditions = {one["condition"] for each in named.values() for one in each.get("depends_on", {}).values()}
    assert conditions == {"service_healthy"}
    assert all("healthcheck" in each for each in named.values())


def test_all_processes_are_replicas_over_one_database_whatever_the_env_file_says(project: Path):
    (project / ".env").write_text(
        "DATABASE_URL=postgresql://a@b/c\nSTORE=sqlite\nENGINE=local\nDATABASE_PASSWORD=x1\n"
    )
    services = services_of(project, "scale")
    database = services["database"]["environment"]
    assert database == {"POSTGRES_USER": "engineer", "POSTGRES_DB": "engineer", "POSTGRES_PASSWORD": "x1"}
    for name in OURS:
        environment = services[name]["environment"]
        assert environment["DATABASE_URL"] == "postgresql://engineer:x1@database:5432/engineer"
        assert environment["STORE"] == environment["ENGINE"] == ""
        assert set(environment) <= KNOWN | set(COMPOSE)
    first, second = (services[name]["environment"] for name in SUPERVISORS)
    assert {key for key in first if first[key] != second[key]} == {"HOST"}


def test_one_port_leads_to_both_supervisors_and_from_this_machine_only(project: Path):
    services = services_of(project, "scale", SUPERVISOR_PORT="9000")
    scaled = {name: one for name, one in services.items() if name not in DEFAULT}
    assert [name for name, one in scaled.items() if "ports" in one] == ["balancer"]
    (port,) = services["balancer"]["ports"]
    assert (port["host_ip"], port["published"]) == ("127.0.0.1", "9000")
    listening = re.search(r"listen (\d+);", (ROOT / "compose/balancer.conf").read_text())
    assert listening
    assert port["target"] == int(listening[1])
    assert {services[name]["environment"]["PUBLIC_URL"] for name in SUPERVISORS} == {"http://localhost:9000"}
    balanced = re.findall(r"^ *server (\S+:\d+)", (ROOT / "compose/balancer.conf").read_text(), re.MULTILINE)
    assert balanced == [f"{name}:{services[name]['environment']['PORT']}" for name in SUPERVISORS]


def test_the_balancer_reads_the_file_of_the_checkout_and_every_image_has_a_tag(project: Path):
    services = services_of(project, "scale")
    (mounted,) = services["balancer"]["volumes"]
    assert mounted["source"] == str(project / "compose/balancer.conf")
    assert mounted["target"] in services["balancer"]["entrypoint"]
    for name in ("balancer", "database"):
        assert re.search(r":\d+\.\d+", services[name]["image"]), services[name]["image"]


def test_supervisors_find_the_agents_at_the_addresses_on_their_cards(project: Path):
    services = services_of(project, "scale")
    for name in SUPERVISORS:
        listed = parse_sub_agents(services[name]["environment"]["SUB_AGENTS"])
        assert {f"scaled-{one.name}": one.url for one in listed} == {
            each: services[each]["environment"]["PUBLIC_URL"] for each in AGENTS
        }


def test_neither_agents_nor_database_share_a_network_with_an_address_that_a_supervisor_listens_at(
    project: Path,
):
    services = services_of(project, "scale")
    for name in SUPERVISORS:
        networks = services[name]["networks"]
        assert networks["default"]["aliases"] == [services[name]["environment"]["HOST"]]
        assert not any((networks[each] or {}).get("aliases") for each in networks if each != "default")
    assert len({services[name]["environment"]["HOST"] for name in SUPERVISORS}) == len(SUPERVISORS)
    for name in AGENTS:
        assert set(services[name]["networks"]) == {"sub-agents", "storage"}
    assert set(services["database"]["networks"]) == {"storage"}
    assert set(services["balancer"]["networks"]) == {"default"}
    names = networks_of(project, "scale")
    assert names["storage"]["internal"] is True
    assert min(one["name"] for one in names.values()) == names["default"]["name"]


def test_nothing_of_the_profile_can_be_written_to_but_what_has_to_stay(project: Path):
    services = services_of(project, "scale")
    kept = {}
    for name in (*OURS, "database", "balancer"):
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]
        mounts = services[name].get("volumes", [])
        assert all(one.get("read_only") for one in mounts if one["type"] == "bind")
        kept[name] = {one["source"]: one["target"] for one in mounts if one["type"] == "volume"}
    keys = {"supervisors": "/data"}
    assert {name: found for name, found in kept.items() if found} == {
        "database": {"database": "/var/lib/postgresql/data"},
        **dict.fromkeys(SUPERVISORS, keys),
    }
    assert services["supervisor-1"]["environment"]["AUTH_KEYS_FILE"].startswith("/data/")
