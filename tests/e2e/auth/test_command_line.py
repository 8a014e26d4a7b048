"""API keys from the command line: made, used by the chat, revoked; and what is not started where everybody could call."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import httpx
import pytest

from tests.e2e.agents.peers import Keys
from tests.e2e.cli.command import run, run_agent
from utils.auth.api_keys import ApiKey, KeyFile, new_key
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(300)]

USE = "agent:keys:use"


async def test_a_key_opens_the_chat_until_it_is_revoked(tmp_path: Path) -> None:
    environ = {"AUTH_MODE": "api-key", "EMBEDDINGS_PROVIDER": "none"}
    model = ScriptedModel.of(*["Good day."] * 10)
    async with running_agent(Keys, environ=environ, model=model, home=tmp_path) as url:
        made = await run("keys", "create", "ann", "--scope", USE, "--json", home=tmp_path)
        key = json.loads(made.out)["key"]
        asked = ("chat", "--url", url, "--ask", "Hello.", "-q")
        assert (await run(*asked, "--token", key, home=tmp_path)).out == "Good day.\n"
        assert (await run(*asked, home=tmp_path, PLATFORM_ENGINEER_TOKEN=key)).out == "Good day.\n"
        tasks = await run("tasks", "list", "--url", url, "--token", key, "--json", home=tmp_path)
        assert len(json.loads(tasks.out)) == 2
        nobody = await run(*asked, home=tmp_path)
        assert nobody.code == 4
        assert "--token" in nobody.err
        file = tmp_path / "keys.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert key not in file.read_text("utf-8")
        listed = await run("keys", "list", home=tmp_path)
        assert "ann" in listed.out
        assert USE in listed.out
        assert (await run("keys", "create", "ann", home=tmp_path)).code != 0
        assert (await run("keys", "revoke", "ann", home=tmp_path)).code == 0
        assert (await run(*asked, "--token", key, home=tmp_path)).code == 4


async def test_a_key_that_could_open_nothing_or_ends_after_all_dates_is_not_made(tmp_path: Path) -> None:
    for scope in ("agent:keys:admim", "agent:keys", "keys:use", "agent:keys:use,agent:keys:approve"):
        refused = await run("keys", "create", "ann", "--scope", scope, home=tmp_path)
        assert refused.code == 2
        assert "is no scope: write agent:NAME:RIGHT" in refused.err
    assert (await run("keys", "create", "ann", "--days", "3000000", home=tmp_path)).code == 2
    assert not (tmp_path / "keys.json").exists()


async def test_a_key_that_was_made_for_ever_does_not_hide_those_behind_it(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    for name, ends in (("ann", 1e18), ("bob", 0.0)):
        keys.add(new_key(ApiKey(name, "", (USE,), expires=ends))[1])
    listed = await run("keys", "list", home=tmp_path)
    assert listed.code == 0, listed.err
    assert [line.split()[0] for line in listed.out.splitlines()] == ["ann", "bob"]
    assert "until 9999-12-31" in listed.out


async def test_a_key_that_has_expired_or_was_never_made_opens_nothing(tmp_path: Path) -> None:
    environ = {"AUTH_MODE": "api-key", "EMBEDDINGS_PROVIDER": "none"}
    keys = KeyFile(tmp_path / "keys.json")
    good, stored = new_key(ApiKey("ann", "", (USE,)))
    late, expired = new_key(ApiKey("old", "", (USE,), expires=1.0))
    other, elsewhere = new_key(ApiKey("bob", "", ("agent:words:use",)))
    for each in (stored, expired, elsewhere):
        keys.add(each)
    async with (
        running_agent(Keys, environ=environ, model=ScriptedModel.of(), home=tmp_path) as url,
        httpx.AsyncClient(trust_env=False) as http,
    ):
        found = []
        for key in (good, late, other, good[:-1], good + "x", good.upper(), stored.digest):
            headers = {"Authorization": f"Bearer {key}", "A2A-Version": "1.0"}
            found.append((await http.get(f"{url}/rest/tasks", headers=headers)).status_code)
    assert found == [200, 401, 403, 401, 401, 401, 401]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({}, "AUTH_MODE is not set"),
        ({"AUTH_MODE": "none", "GITHUB_WRITE": "true", "GITHUB_TOKEN": "x"}, "GITHUB_WRITE is set"),
        ({"AUTH_MODE": "oidc"}, "AUTH_ISSUERS"),
    ],
)
async def test_an_agent_that_others_reach_does_not_start_unless_it_is_said_who_may_call(
    tmp_path: Path, settings: dict[str, str], named: str
) -> None:
    started = await run_agent("agents.github", "--host", "0.0.0.0", home=tmp_path, **settings)
    assert started.code == 2
    assert named in started.err
