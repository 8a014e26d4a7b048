"""How gh is run: what it is given, what it sees, and what is kept of what it says."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from agents.github.agent import GitHubAgent
from agents.github.gh.allowed import parse
from agents.github.gh.runner import HEAD, TAIL, Gh, find_gh, host_of
from agents.github.settings import GitHubSettings
from tests.support.passing_time import pass_seconds
from tests.unit.github.changing import agent_with
from tests.unit.github.conftest import TOKEN
from utils.errors import ToolTimeout, UpstreamRefused
from utils.testing.scripted_model import ScriptedModel


@pytest.fixture
def program(tmp_path: Path):
    """Makes a gh out of a few lines of shell."""

    def make(script: str, **environ: str) -> Gh:
        path = tmp_path / "gh"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        settings = {"PATH": str(tmp_path), "GITHUB_TOKEN": TOKEN, **environ}
        found = find_gh(GitHubSettings.load(settings), settings)
        assert found is not None
        return found

    return make


@pytest.mark.parametrize(
    "given, made",
    [
        (["run", "view", "7", "--log-failed"], ["run", "view", "--log-failed", "7"]),
        (["gh", "run", "list", "--limit", "5"], ["run", "list", "--limit=5"]),
        (
            ["pr", "list", "--state=merged", "--label", "help wanted"],
            ["pr", "list", "--state=merged", "--label=help wanted"],
        ),
        (["pr", "diff", "12", "--name-only"], ["pr", "diff", "--name-only", "12"]),
        (["issue", "view", "3", "--comments"], ["issue", "view", "--comments", "3"]),
        (["run", "list", "--json", "name,status"], ["run", "list", "--json=name,status"]),
        (["release", "view", "v1.0.2"], ["release", "view", "v1.0.2"]),
    ],
)
def test_what_is_allowed_is_put_together_anew(given, made):
    assert parse(given) == made


async def test_gh_gets_the_repository_in_one_piece_and_no_input(program):
    gh = program('for each in "$@"; do echo "[$each]"; done; cat; pwd')
    told = (await gh.run(["run", "view", "--log", "7"], "octocat/hello-world")).text.splitlines()
    assert told[:5] == ["[run]", "[view]", "[--repo=github.com/octocat/hello-world]", "[--log]", "[7]"]
    assert not Path(told[5]).exists(), "its folder ends with it"


async def test_gh_sees_its_own_variables_only(program, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-others")
    gh = program("/usr/bin/env", HTTPS_PROXY="http://127.0.0.1:9", LLM_MODEL="x")
    seen = dict(line.split("=", 1) for line in (await gh.run(["run", "list"], "o/r")).text.splitlines())
    extra = {"PWD", "SHLVL", "_", "OLDPWD"}
    assert set(seen) - extra == set(gh.environment("/x"))
    assert seen["HTTPS_PROXY"] == "http://127.0.0.1:9"
    assert seen["GH_HOST"] == "github.com"
    assert seen["PATH"] == "/usr/bin:/bin"
    assert seen["HOME"] == seen["GH_CONFIG_DIR"] != os.environ["HOME"]


async def test_the_token_is_not_in_the_output(program):
    gh = program('echo "token $GH_TOKEN and ghp_abcdefghijklmnopqrstuv"; /usr/bin/env | grep TOKEN')
    output = (await gh.run(["run", "list"], "o/r")).text
    assert "[token] and [token]" in output
    assert TOKEN not in output


async def test_an_error_is_one_sentence_without_the_token(program):
    gh = program('echo "cannot use $GH_TOKEN" >&2; echo "more" >&2; exit 4')
    with pytest.raises(UpstreamRefused) as caught:
        await gh.run(["run", "list"], "o/r")
    assert caught.value.message == 'gh ended with an error (4). It says: "cannot use [token]"'


async def test_a_long_output_keeps_its_two_ends(program):
    gh = program("echo begin; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo end")
    output = await gh.run(["run", "list"], "o/r")
    assert output.cut
    assert len(output.text) < HEAD + TAIL + 100
    assert output.text.startswith("begin")
    assert output.text.endswith("end\n")


async def test_what_takes_too_long_is_ended_with_all_that_it_started(program, tmp_path):
    gh = program(f"sleep 600 & echo $! > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/child; wait")
    running = asyncio.create_task(gh.run(["run", "list"], "o/r"))
    while not (tmp_path / "child").exists():
        await asyncio.sleep(0.01)
    while not running.done():  # it may have written before it is waited for
        pass_seconds(gh.seconds)
        await asyncio.sleep(0.01)
    with pytest.raises(ToolTimeout):
        await running
    child = int((tmp_path / "child").read_text())
    state = Path(f"/proc/{child}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"


@pytest.mark.parametrize(
    "api_url, host, variable",
    [
        ("https://api.github.com", "github.com", "GH_TOKEN"),
        ("https://github.example.com/api/v3", "github.example.com", "GH_ENTERPRISE_TOKEN"),
        ("https://api.acme.ghe.com", "acme.ghe.com", "GH_TOKEN"),
    ],
)
def test_the_host_follows_from_the_address_of_the_api(program, api_url, host, variable):
    gh = program("", GITHUB_API_URL=api_url)
    assert host_of(api_url) == gh.host == host
    assert gh.environment("/x")[variable] == TOKEN


def agent_at(home: Path, **environ: str) -> GitHubAgent:
    return agent_with(home, "https://api.github.com", ScriptedModel(script=[]), **environ)


async def names(agent: GitHubAgent) -> set[str]:
    found = {tool.name for tool in await agent.tools()}
    await agent.stop()
    return found


async def test_the_tool_is_there_only_with_the_setting_the_program_and_a_token(program, tmp_path):
    program("")
    here = {"PATH": str(tmp_path), "GITHUB_WRITE": "false", "GITHUB_USE_GH": "true"}
    assert "gh" in await names(agent_at(tmp_path, **here))
    assert "gh" not in await names(agent_at(tmp_path, **here | {"GITHUB_USE_GH": ""}))
    assert "gh" not in await names(agent_at(tmp_path, **here | {"PATH": "/nonexistent"}))
    assert "gh" not in await names(agent_at(tmp_path, **here | {"GITHUB_TOKEN": ""}))
