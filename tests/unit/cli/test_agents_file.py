from __future__ import annotations

from pathlib import Path

import pytest

from multi_agents.cli.commands.agents_file import add_agent
from multi_agents.cli.exit_codes import ExitCode
from utils.a2a_common.client.agents.agent_env import SERVED_BY_TLS, WIRED, resolve_env
from utils.a2a_common.client.agents.agents_file import (
    AgentEntry,
    load_agents_file,
    load_supervisor_env,
    parse_sub_agents,
    with_shares,
)
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
        "c: {module: x.z, port: 9002, shares: nothing}\nd: {url: 'https://d.example/', shares: request}\n",
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


@pytest.mark.parametrize(
    ("name", "url", "sentence"),
    [
        ("1x", "http://a", "'1x' is not a valid agent name."),
        ("x", "ftp://a", "That is not an address"),
    ],
)
def test_what_is_typed_at_agents_add_is_not_blamed_on_a_setting(name, url, sentence, tmp_path, capsys):
    path = written(tmp_path, "{}\n")
    assert add_agent(name, url, path, force=True) is ExitCode.USAGE
    shown = capsys.readouterr().err
    assert sentence in " ".join(shown.split())
    assert "SUB_AGENTS" not in shown


def test_an_entry_may_be_written_once_and_named_by_an_alias(tmp_path):
    text = "a: &a {url: 'http://x', shares: nothing}\nb: *a\nc: {<<: *a, url: 'http://y'}\n"
    urls = [one.url for one in load_agents_file(written(tmp_path, text))]
    assert urls == ["http://x", "http://x", "http://y"]


def test_an_entry_that_contains_itself_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="module and port, or url"):
        load_agents_file(written(tmp_path, "a: &a {b: *a}\n"))


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
        ("A: {url: 'http://x'}\n", "'A' is not a valid agent name"),
        ("supervisor: {url: 'http://x'}\n", "supervisor is no sub-agent and takes env alone"),
        ("supervisor:\n", "supervisor is no sub-agent and takes env alone"),
        ("a: {url: 'http://x', env: {}}\n", "a runs elsewhere"),
        ("a: {module: x, port: 9, env: [A]}\n", "env of a must map names to values"),
        ("a: {module: x, port: 9, env: {'A B': 1}}\n", "env of a has a name that is no variable's"),
        ("a: {module: x, port: 9}\nb: {module: y, port: 9}\n", "same port"),
        ("a: {url: 'http://x', colour: red}\n", "module and port, or url"),
        ("a: {url: 'http://x', shares: all}\n", "shares of a must be nothing, request or results"),
        ("a: {module: x, port: 9, shares: [results]}\n", "shares of a must be nothing, request or results"),
        (
            "a: {url: 'http://x'}\nb: {url: 'http://y'}\na: {url: 'http://z'}\n",
            "a stands twice, again in line 3",
        ),
        ("a: {url: 'http://x', url: 'http://y'}\n", "url stands twice, again in line 1"),
        ("a:\n  module: x\n  port: 9\n  env: {A: 1,\n   A: 2}\n", "A stands twice, again in line 5"),
        ("supervisor: {env: {}}\nsupervisor: {env: {}}\n", "supervisor stands twice"),
        (
            "a: {module: x.y, port: 9}\nb: {module: x.y, port: 10}\n",
            "a and b have the module x.y, and one module is one agent. `platform-engineer new-agent` makes another",
        ),
    ],
)
def test_a_wrong_file_is_one_sentence_that_names_the_variable(tmp_path, text, says):
    with pytest.raises(SettingsError, match=says) as caught:
        load_agents_file(written(tmp_path, text))
    assert caught.value.variable == "SUB_AGENTS"


def test_the_settings_of_one_agent_are_texts_as_the_environment_would_have_them(tmp_path):
    env = "{MAX_CONTEXT_TOKENS: 32000, LLM_TEMPERATURE: 0.5, GITHUB_WRITE: true, LLM_MODEL: , GITHUB_TOKEN: '${T}'}"
    path = written(
        tmp_path, f"a: {{module: x, port: 9, env: {env}}}\nsupervisor: {{env: {{LLM_MODEL: big}}}}\n"
    )
    (entry,) = load_agents_file(path)
    assert entry.env == {
        "MAX_CONTEXT_TOKENS": "32000",
        "LLM_TEMPERATURE": "0.5",
        "GITHUB_WRITE": "true",
        "LLM_MODEL": "",
        "GITHUB_TOKEN": "${T}",
    }
    assert load_supervisor_env(path) == {"LLM_MODEL": "big"}
    assert "32000" not in repr(entry)


@pytest.mark.parametrize("name", sorted(WIRED | SERVED_BY_TLS))
def test_what_the_service_sets_for_each_process_or_cannot_reach_cannot_be_set_in_the_file(tmp_path, name):
    with pytest.raises(SettingsError, match=f"agents.yaml is wrong: env of a: {name} cannot be set here"):
        load_agents_file(written(tmp_path, f"a: {{module: x, port: 9, env: {{{name}: 1}}}}\n"))


def test_a_reference_takes_the_value_of_the_services_variable_and_one_that_is_not_set_is_named():
    environ = {"TEAM_TOKEN": "s3cret"}
    env = resolve_env({"GITHUB_TOKEN": "${TEAM_TOKEN}", "A": "$x {y}"}, environ, "github", "The file")
    assert env == {"GITHUB_TOKEN": "s3cret", "A": "$x {y}"}
    with pytest.raises(SettingsError, match="env of github: B needs GONE, which is not set") as caught:
        resolve_env({"A": "${TEAM_TOKEN}", "B": "${GONE}"}, environ, "github", "The file")
    assert "s3cret" not in caught.value.message


def test_a_missing_file_is_a_settings_error(tmp_path):
    path = tmp_path / "agents.yaml"
    with pytest.raises(SettingsError, match=f"{path} cannot be read: No such file or directory"):
        load_agents_file(path)


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
