"""A chat reaches a new agent, and a foreign one that was added by its address."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest
import yaml

from agents.template.agent import TemplateAgent
from multi_agents.cli.commands.agents_file import _add, add_agent
from multi_agents.cli.errors import UsageError
from multi_agents.cli.service.agents import AgentTarget, look_at
from tests.e2e.delegation.hostile import hostile
from tests.e2e.delegation.test_unusable_cards import silent
from tests.e2e.new_agent.copies import command, copy_of_the_checkout
from tests.ports import move_to_free_ports
from utils.a2a_common.client.agents.agents_file import load_agents_file, parse_sub_agents
from utils.testing.live_agent import running_agent
from utils.version import project_version

OFFLINE = {"EMBEDDINGS_PROVIDER": "embedded"}


async def run(folder: Path, *arguments: str) -> tuple[int, str, str]:
    done = await asyncio.to_thread(command, folder, *arguments)
    return done.returncode, done.stdout, done.stderr


async def delegated_to(folder: Path, question: str) -> tuple[set[str], str]:
    """The agents that a question went to, and the answer."""
    code, out, err = await run(folder, "chat", "--json", "--ask", question)
    assert code == 0, err
    lines = [json.loads(line) for line in out.splitlines()]
    activities = [line["activity"] for line in lines if line["event"] == "activity"]
    found = {one["agent"] for one in activities if one["kind"].startswith("delegation")}
    return found, lines[-1]["answer"]


@pytest.mark.long
@pytest.mark.timeout(600)  # two services are started, each of five processes
async def test_a_chat_reaches_a_new_agent_and_a_foreign_one(tmp_path):
    folder = copy_of_the_checkout(tmp_path)
    assert (await run(folder, "new-agent", "try-out"))[0] == 0
    move_to_free_ports(folder)
    agents, answer = await delegated_to(folder, "List the try-out entries")
    assert agents == {"try-out"}
    assert "agents/try_out/agent.py" in answer
    async with running_agent(TemplateAgent, environ=OFFLINE) as url:
        code, _, err = await run(folder, "agents", "add", "board", url)
        assert code == 0, err
        assert f"Its card says: template, version {project_version()}; skills: List entries." in err
        agents, answer = await delegated_to(folder, "Ask board to list the template entries")
    assert agents == {"board"}
    assert "agents/template/agent.py" in answer


async def test_an_agent_that_is_down_is_added_with_force_only_and_can_be_removed(tmp_path):
    folder = copy_of_the_checkout(tmp_path)
    file = folder / "agents" / "agents.yaml"
    before = file.read_bytes()
    code, _, err = await run(folder, "agents", "add", "ghost", "http://127.0.0.1:9")
    assert (code, file.read_bytes()) == (3, before)
    assert "--force" in err
    code, _, err = await run(folder, "agents", "add", "ghost", "http://127.0.0.1:9/", "--force")
    assert code == 0, err
    assert yaml.safe_load(file.read_text())["ghost"] == {"url": "http://127.0.0.1:9"}
    code, _, err = await run(folder, "agents", "add", "ghost", "http://127.0.0.1:9", "--force")
    assert code == 2
    assert "nothing was changed" in err
    assert (await run(folder, "agents", "remove", "ghost"))[0] == 0
    assert file.read_bytes() == before


def test_the_lines_for_compose_and_chart_are_told_where_containers_reach_the_agent(tmp_path, capsys):
    file = tmp_path / "agents.yaml"
    file.write_text("# mine\n")
    assert add_agent("weather", "http://weather.invalid:9/a2a", file, force=True) == 0
    told = capsys.readouterr().err
    (line,) = re.findall(r"FOREIGN_AGENTS=(\S+)", told)
    (values,) = re.findall(r"values: (\{.*\})", told)
    assert parse_sub_agents(line) == load_agents_file(file)
    assert yaml.safe_load(values) == {"name": "weather", "url": "http://weather.invalid:9/a2a"}
    assert add_agent("near", "http://localhost:9", file, force=True) == 0
    told = capsys.readouterr().err
    assert "containers do not reach it" in told
    assert "FOREIGN_AGENTS" not in told


async def test_an_agent_is_added_by_the_whole_address_of_its_card(tmp_path):
    file = tmp_path / "agents.yaml"
    file.write_text("# mine\n")
    async with hostile(silent) as agent:
        address = f"{agent.url}/.well-known/agent-card.json?assistant_id=7"
        assert await _add("far", address, file, force=False) == 0
        assert [entry.url for entry in load_agents_file(file)] == [address]
        assert (await look_at(AgentTarget("far", address))).health == "ready"


async def test_an_agent_that_offers_grpc_alone_is_refused_and_its_row_says_why(tmp_path):
    file = tmp_path / "agents.yaml"
    file.write_text("# mine\n")
    async with hostile(silent) as agent:
        agent.interfaces = [
            {"url": "grpc.example.com:443", "protocolBinding": "GRPC", "protocolVersion": "1.0"}
        ]
        with pytest.raises(UsageError, match="It offers GRPC alone"):
            await _add("far", agent.url, file, force=True)
        row = await look_at(AgentTarget("far", agent.url))
    assert file.read_text() == "# mine\n"
    assert (row.health, row.detail[:22]) == ("not ready", "It offers GRPC alone; ")


@pytest.mark.parametrize(
    "name, url",
    [
        ("Weather", "http://127.0.0.1:9"),
        ("supervisor", "http://127.0.0.1:9"),
        ("recall", "http://127.0.0.1:9"),
        ("a=b", "http://127.0.0.1:9"),
        ("a,b", "http://127.0.0.1:9"),
        ("weather", "127.0.0.1:9"),
        ("weather", "file:///etc/passwd"),
        ("weather", "http://127.0.0.1:9,x=http://h"),
        ("weather", "http://h\nx: y"),
    ],
)
def test_a_name_or_address_that_is_none_changes_nothing(name, url, tmp_path):
    file = tmp_path / "agents.yaml"
    file.write_text("# mine\n")
    assert add_agent(name, url, file, force=True) == 2
    assert file.read_text() == "# mine\n"
