from __future__ import annotations

import json
from pathlib import Path

import pytest

from utils.errors import SettingsError
from utils.mcp.config import servers_of
from utils.mcp.servers import McpServers, mcp_servers
from utils.settings import McpSettings

BOX = {"command": "box", "args": ["-x"]}


@pytest.mark.parametrize("wrapper", [None, "servers", "mcpServers"])
def test_servers_are_read_from_json_yaml_and_other_programs_files(tmp_path: Path, wrapper):
    value = {wrapper: {"box": BOX}} if wrapper else {"box": BOX}
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps(value))
    for given in (json.dumps(value), str(file)):
        (server,) = servers_of(given, {}, "any")
        assert (server.name, server.command, server.args) == ("box", "box", ("-x",))


def test_several_lines_are_the_text_itself():
    (server,) = servers_of("servers:\n  web:\n    url: https://x.example/mcp\n    type: http\n", {}, "any")
    assert server.url == "https://x.example/mcp"


def test_references_are_filled_from_the_settings():
    given = {"web": {"url": "${URL}/mcp", "headers": {"Authorization": "Bearer ${KEY}"}}}
    (server,) = servers_of(json.dumps(given), {"URL": "https://x.example", "KEY": "k"}, "any")
    assert server.url == "https://x.example/mcp"
    assert server.headers == {"Authorization": "Bearer k"}


@pytest.mark.parametrize(
    "given, told",
    [
        ({"box": {}}, "server box: give either command or url"),
        ({"box": {**BOX, "url": "https://x.example"}}, "server box: give either command or url"),
        ({"box": {**BOX, "transport": "http"}}, "server box: stdio goes with command, http with url"),
        ({"box": {**BOX, "type": "http"}}, "server box: stdio goes with command, http with url"),
        ({"box": {"url": "x.example"}}, "server box, url: String should match pattern"),
        (
            {"box": {**BOX, "timeout_seconds": 0}},
            "server box, timeout_seconds: Input should be greater than 0",
        ),
        ({"Box": BOX}, "a server's name is up to 31 lower-case letters"),
        ({"box": "x"}, "it must map names to servers"),
        ("{box: [", "it is neither YAML nor JSON"),
        ("{}{", "it is neither YAML nor JSON"),
        ("/nonexistent/mcp.yaml", "names a file that cannot be read"),
    ],
)
def test_a_mistake_is_one_sentence_that_names_the_setting(given, told):
    text = given if isinstance(given, str) else json.dumps(given)
    with pytest.raises(SettingsError) as caught:
        servers_of(text, {}, "any")
    assert caught.value.variable == "MCP_SERVERS"
    assert told in caught.value.message


def test_a_secret_that_is_not_set_is_named_and_no_value_is_shown():
    given = json.dumps({"box": {**BOX, "env": {"A": "${SET}", "B": "${UNSET}"}}})
    with pytest.raises(SettingsError) as caught:
        servers_of(given, {"SET": "s3cret"}, "any")
    assert caught.value.variable == "UNSET"
    assert "s3cret" not in caught.value.message


def _of(agent: str, **environ: str) -> McpServers | None:
    return mcp_servers(McpSettings.load(environ), environ, agent)


def test_without_servers_for_an_agent_there_is_nothing_to_start():
    given = json.dumps({"box": {**BOX, "agents": ["rag"]}})
    assert _of("rag", MCP_SERVERS=given) is not None
    assert _of("github", MCP_SERVERS=given) is None
    assert _of("rag") is None
