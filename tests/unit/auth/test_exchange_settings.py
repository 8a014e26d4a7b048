"""Which agents are asked with an exchanged token, in the agents file and in the variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from multi_agents.cli.service.plan import child_environment, make_plan
from utils.a2a_common.client.agents.agents_file import (
    AgentEntry,
    load_agents_file,
    parse_sub_agents,
    with_exchange,
)
from utils.a2a_common.protocol.exchange import ExchangeFor, parse_exchange
from utils.errors import SettingsError


def file(folder: Path, text: str) -> Path:
    path = folder / "agents.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_entry_names_audience_and_scope_or_nothing_and_the_service_tells_its_supervisor(
    tmp_path: Path,
) -> None:
    entries = load_agents_file(
        file(
            tmp_path,
            "a: {url: 'https://a.example', exchange: {audience: a-api, scope: 'read write'}}\n"
            "b: {url: 'https://b.example', exchange: {}}\n"
            "c: {url: 'https://c.example'}\n",
        )
    )
    assert [one.exchange for one in entries] == [ExchangeFor("a-api", ("read", "write")), ExchangeFor(), None]
    plan = make_plan(entries, choose=lambda ports: list(ports))
    told = child_environment(plan, plan.supervisor, {})["SUB_AGENTS_EXCHANGE"]
    assert told == "a=a-api read write,b="
    assert parse_exchange(told) == {one.name: one.exchange for one in entries if one.exchange}


@pytest.mark.parametrize(
    "value",
    [
        "{audience: a, scope: 'agent:a:approve'}",
        "{scope: read}",
        "{audience: 'a b'}",
        "{audience: 'a,b'}",
        "{audience: 7}",
        "{resource: a}",
        "a-api",
        "null",
    ],
)
def test_a_wrong_entry_is_refused_with_its_name(tmp_path: Path, value: str) -> None:
    with pytest.raises(SettingsError, match="exchange of a takes an audience and a scope"):
        load_agents_file(file(tmp_path, f"a: {{url: 'https://a.example', exchange: {value}}}\n"))


def test_an_agent_that_we_run_takes_no_exchanged_token(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="exchange of a is for agents with a url"):
        load_agents_file(file(tmp_path, "a: {module: x.y, port: 9001, exchange: {audience: a}}\n"))
    ours = [AgentEntry("a", "http://127.0.0.1:9001", "x.y", 9001)]
    with pytest.raises(SettingsError, match="is unknown or has no url"):
        with_exchange(ours, "a=a")


def test_the_variable_says_it_of_the_agents_of_the_other_variable() -> None:
    entries = parse_sub_agents("a=http://a:1,b=http://b:1,c=http://c:1")
    told = with_exchange(entries, "a=a-api read, b = ")
    assert [one.exchange for one in told] == [ExchangeFor("a-api", ("read",)), ExchangeFor(), None]
    assert with_exchange(entries, "") == entries


@pytest.mark.parametrize(
    "value", ["a", "a=x,a=y", "d=x", "a=x agent:a:approve", "a=x\x1b", "a=\u00e9", "=x", "a=" + "x" * 256]
)
def test_a_wrong_value_of_the_variable_is_refused(value: str) -> None:
    with pytest.raises(SettingsError) as error:
        with_exchange(parse_sub_agents("a=http://a:1"), value)
    assert error.value.variable == "SUB_AGENTS_EXCHANGE"
