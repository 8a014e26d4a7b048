from __future__ import annotations

from pathlib import Path

import pytest

from utils.a2a_common.client.agents_file import AgentEntry, load_agents_file, parse_sub_agents, with_shares
from utils.a2a_common.protocol.shares import Shares
from utils.errors import SettingsError


def written(folder: Path, text: str) -> Path:
    path = folder / "agents.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_bundled_file_names_github_and_rag_with_their_documented_ports():
    entries = load_agents_file(Path(__file__).parents[3] / "agents" / "agents.yaml")
    assert [(one.name, one.module, one.port) for one in entries][:2] == [
        ("github", "agents.github", 8001),
        ("rag", "agents.rag", 8002),
    ]


def test_a_local_agent_has_an_address_on_loopback_and_a_foreign_one_its_own(tmp_path):
    path = written(tmp_path, "a: {module: x.y, port: 9001}\nb: {url: 'https://b.example/'}\n")
    assert load_agents_file(path) == (
        AgentEntry("a", "http://127.0.0.1:9001", "x.y", 9001, Shares.RESULTS),
        AgentEntry("b", "https://b.example"),
    )


def test_an_agent_that_we_start_is_told_results_and_another_nothing_unless_its_entry_says_otherwise(tmp_path):
    path = written(
        tmp_path,
        "a: {module: x.y, port: 9001}\nb: {url: 'https://b.example/'}\n"
        "c: {module: x.y, port: 9002, shares: nothing}\nd: {url: 'https://d.example/', shares: request}\n",
    )
    assert [one.shares for one in load_agents_file(path)] == ["results", "nothing", "nothing", "request"]


def test_the_setting_says_what_the_agents_of_the_other_setting_are_told():
    entries = parse_sub_agents("github=http://g:1,rag=http://r:1,weather=http://w:1")
    told = with_shares(entries, "github=results, rag = request")
    assert [one.shares for one in told] == ["results", "request", "nothing"]
    assert with_shares(entries, "") == entries


@pytest.mark.parametrize(
    "value",
    ["github", "github=all", "github=results,github=nothing", "=results", "x\x1b=results", "rag=results"],
)
def test_a_wrong_word_or_an_unknown_name_is_a_settings_error(value):
    with pytest.raises(SettingsError) as caught:
        with_shares(parse_sub_agents("github=http://g:1"), value)
    assert caught.value.variable == "SUB_AGENTS_SHARES"
    assert caught.value.message.isprintable()


def test_an_empty_file_means_no_agents(tmp_path):
    assert load_agents_file(written(tmp_path, "# none\n")) == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- a\n", "mapping"),
        ("a: [\n", "not valid YAML"),
        ("a: {module: x}\n", "module and port, or url"),
        ("a: {module: x, port: 9, url: 'http://x'}\n", "module and port, or url"),
        ("a: {module: 'x; rm', port: 9}\n", "no module name"),
        ("a: {module: x, port: yes}\n", "between 1 and 65535"),
        ("a: {module: x, port: 70000}\n", "between 1 and 65535"),
        ("a: {url: 'ftp://x'}\n", "not an http or https URL"),
        ("a: {url: 'http://x:port'}\n", "not an http or https URL"),
        ("A: {url: 'http://x'}\n", "'A' is no name"),
        ("supervisor: {url: 'http://x'}\n", "'supervisor' is no name"),
        ("a: {module: x, port: 9}\nb: {module: y, port: 9}\n", "same port"),
        ("a: {url: 'http://x', colour: red}\n", "module and port, or url"),
        ("a: {url: 'http://x', shares: all}\n", "shares of a is nothing, request or results"),
        ("a: {module: x, port: 9, shares: [results]}\n", "shares of a is nothing, request or results"),
    ],
)
def test_a_wrong_file_is_one_sentence_that_names_the_variable(tmp_path, text, says):
    with pytest.raises(SettingsError, match=says) as caught:
        load_agents_file(written(tmp_path, text))
    assert caught.value.variable == "SUB_AGENTS"


def test_a_missing_file_is_a_settings_error(tmp_path):
    with pytest.raises(SettingsError, match="cannot be read"):
        load_agents_file(tmp_path / "agents.yaml")


def test_pairs_are_parsed_in_their_order():
    value = " github=http://h:1/ , rag=https://r.example/a2a "
    assert parse_sub_agents(value) == (
        AgentEntry("github", "http://h:1"),
        AgentEntry("rag", "https://r.example/a2a"),
    )


@pytest.mark.parametrize("value", ["github", "github=", "=http://x", "a=http://x,a=http://y", "a b=http://x"])
def test_wrong_pairs_are_settings_errors(value):
    with pytest.raises(SettingsError) as caught:
        parse_sub_agents(value)
    assert caught.value.variable == "SUB_AGENTS"
