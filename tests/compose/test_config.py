"""docker-compose.yaml, read by the real docker-compose."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import yaml

from tests.compose.stack import config, copied, networks_of, services_of
from tests.compose.tool import ROOT
from tests.docs.test_configuration import KNOWN
from utils.a2a_common.client.agents.agents_file import parse_sub_agents, with_exchange, with_shares
from utils.settings_docs import COMPOSE

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return copied(tmp_path)


def test_the_file_is_valid(project: Path):
    done = config(project, "-q")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "a variable has no default"


def test_a_misspelled_key_would_be_noticed(project: Path):
    file = project / "docker-compose.yaml"
    content = yaml.safe_load(file.read_text())
    content["services"]["rag"]["halthcheck"] = {}
    file.write_text(yaml.safe_dump(content))
    done = config(project, "-q")
    assert done.returncode != 0
    assert "halthcheck" in done.stderr


def test_the_example_environment_changes_nothing(project: Path):
    before = services_of(project)
    shutil.copy(ROOT / ".env.example", project / ".env")
    assert services_of(project) == before


def test_the_supervisor_waits_for_agents_that_are_ready(project: Path):
    services = services_of(project)
    waits = {name: one["condition"] for name, one in services["supervisor"]["depends_on"].items()}
    assert waits == dict.fromkeys(set(services) - {"supervisor"}, "service_healthy")
    assert all("/readyz" in " ".join(one["healthcheck"]["test"]) for one in services.values())


def test_the_supervisor_finds_every_agent_at_the_address_on_its_card(project: Path):
    services = services_of(project)
    listed = dict(
        pair.split("=", 1) for pair in services["supervisor"]["environment"]["SUB_AGENTS"].split(",")
    )
    assert listed == {
        name: services[name]["environment"]["PUBLIC_URL"] for name in set(services) - {"supervisor"}
    }
    for name, url in listed.items():
        assert url == f"http://{name}:{services[name]['environment']['PORT']}"


def test_an_agent_that_runs_elsewhere_is_one_line_of_an_env_file(project: Path):
    before = parse_sub_agents(services_of(project)["supervisor"]["environment"]["SUB_AGENTS"])
    (project / ".env").write_text("FOREIGN_AGENTS=weather=https://weather.example.com,b=http://b.example:9\n")
    after = parse_sub_agents(services_of(project)["supervisor"]["environment"]["SUB_AGENTS"])
    foreign = [(one.name, one.url) for one in after if one not in before]
    assert foreign == [("weather", "https://weather.example.com"), ("b", "http://b.example:9")]
    assert [one for one in after if one in before] == list(before)


def test_only_the_supervisor_is_reached_from_outside_and_only_from_this_machine(project: Path):
    services = services_of(project)
    assert services["supervisor"]["container_name"] == "caipe-supervisor"
    (port,) = services["supervisor"]["ports"]
    assert (port["host_ip"], port["published"]) == ("127.0.0.1", "8000")
    assert services["supervisor"]["environment"]["PUBLIC_URL"] == "http://localhost:8000"
    assert [name for name, one in services.items() if "ports" in one] == ["supervisor"]


def test_agents_share_no_network_with_the_address_that_the_supervisor_listens_at(project: Path):
    services = services_of(project)
    outside = services["supervisor"]["networks"]["default"]["aliases"]
    assert services["supervisor"]["environment"]["HOST"] in outside, "it listens where agents reach it"
    inside = {name for name in services["supervisor"]["networks"] if name != "default"}
    for name in set(services) - {"supervisor"}:
        assert set(services[name]["networks"]) == inside == {"sub-agents"}
    assert not (services["supervisor"]["networks"]["sub-agents"] or {}).get("aliases")


def test_the_published_port_leads_to_the_network_of_the_clients(project: Path):
    """Docker publishes at the first network by name, and docker-compose puts the project's name before each."""
    names = {key: one["name"] for key, one in networks_of(project).items()}
    assert min(names.values()) == names["default"]


def test_agents_of_the_file_are_told_results_and_those_that_run_elsewhere_what_is_said_of_them(project: Path):
    def told() -> dict[str, str]:
        listed = services_of(project)["supervisor"]["environment"]
        entries = with_shares(parse_sub_agents(listed["SUB_AGENTS"]), listed["SUB_AGENTS_SHARES"])
        return {entry.name: entry.shares for entry in entries}

    assert set(told().values()) == {"results"}
    (project / ".env").write_text("FOREIGN_AGENTS=weather=https://weather.example.com,b=http://b.example:9\n")
    assert told() | {"weather": "nothing", "b": "nothing"} == told()
    with (project / ".env").open("a") as file:
        file.write("FOREIGN_AGENTS_SHARES=b=request\n")
    assert told() | {"weather": "nothing", "b": "request", "rag": "results"} == told()


def test_the_supervisor_alone_exchanges_tokens_for_agents_that_run_elsewhere(project: Path):
    (project / ".env").write_text(
        "FOREIGN_AGENTS=weather=https://weather.example.com\nFOREIGN_AGENTS_EXCHANGE=weather=weather-api read\n"
        "AUTH_EXCHANGE_CLIENT_SECRET=s3cret\nSUB_AGENTS_EXCHANGE=other=other\n"
    )
    services = {name: one["environment"] for name, one in services_of(project).items()}
    told = services.pop("supervisor")
    entries = with_exchange(parse_sub_agents(told["SUB_AGENTS"]), told["SUB_AGENTS_EXCHANGE"])
    assert {each.name: str(each.exchange) for each in entries if each.exchange} == {
        "weather": "weather-api read"
    }
    assert told["AUTH_EXCHANGE_CLIENT_SECRET"] == "s3cret"
    assert all("s3cret" not in str(one) and not one.get("SUB_AGENTS_EXCHANGE") for one in services.values())


def test_another_port_is_the_one_on_the_card(project: Path):
    supervisor = services_of(project, SUPERVISOR_PORT="9000")["supervisor"]
    assert supervisor["environment"]["PUBLIC_URL"] == "http://localhost:9000"


def test_each_service_has_a_volume_of_its_own_and_nothing_else_to_write_to(project: Path):
    services = services_of(project)
    volumes = {
        name: [mount["source"] for mount in one["volumes"] if mount["type"] == "volume"]
        for name, one in services.items()
    }
    assert volumes == {name: [name] for name in services}
    for one in services.values():
        assert one["read_only"] is True
        assert one["cap_drop"] == ["ALL"]
        assert all(mount.get("read_only") for mount in one["volumes"] if mount["type"] == "bind")


def test_an_env_file_reaches_the_agents_but_not_what_the_file_decides(project: Path):
    given = {
        "LLM_MODEL": "gpt-4.1",
        "HOST": "10.0.0.1",
        "PORT": "1",
        "GITHUB_TOKEN": "t",
        "ENCRYPTION_KEYS": "k",
        "SUB_AGENTS": "a=http://a",
    }
    (project / ".env").write_text("".join(f"{name}={value}\n" for name, value in given.items()))
    environments = {name: one["environment"] for name, one in services_of(project).items()}
    assert {one["LLM_MODEL"] for one in environments.values()} == {"gpt-4.1"}
    assert {one["ENCRYPTION_KEYS"] for one in environments.values()} == {"k"}
    assert "10.0.0.1" not in {one["HOST"] for one in environments.values()}
    assert {name for name, one in environments.items() if one["GITHUB_TOKEN"] == "t"} == {"github"}
    assert environments["supervisor"]["SUB_AGENTS"].startswith("github=")


def test_the_file_sets_only_variables_that_exist(project: Path):
    for service in services_of(project).values():
        assert set(service["environment"]) <= KNOWN


def test_every_variable_that_the_file_reads_is_documented():
    read = set(re.findall(r"\$\{(\w+)", (ROOT / "docker-compose.yaml").read_text()))
    assert read == set(COMPOSE) | (read & KNOWN)
    defaults = dict(re.findall(r"\$\{(\w+):-([^${}]*)\}", (ROOT / "docker-compose.yaml").read_text()))
    assert {name: default for name, (default, _) in COMPOSE.items()}.items() <= defaults.items()
