"""`platform-engineer login`: the chat then sends the tokens of the provider, to the agent that they are for alone."""

from __future__ import annotations

import json
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from multi_agents.cli.peer.logins import Logins
from tests.e2e.agents.peers import Keys
from tests.e2e.auth.provider import Provider, provider
from tests.e2e.cli.command import Finished, run
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(300)]


@asynccontextmanager
async def desk(home: Path) -> AsyncIterator[tuple[Provider, str]]:
    """An agent that takes tokens of a provider."""
    async with provider() as idp:
        environ = {
            "AUTH_MODE": "oidc",
            "AUTH_ISSUERS": idp.issuer(),
            "AUTH_LEEWAY_SECONDS": "0",
            "EMBEDDINGS_PROVIDER": "none",
        }
        model = ScriptedModel.of(*["Good day."] * 20)
        async with running_agent(Keys, environ=environ, model=model, home=home / "agent") as url:
            yield idp, url


async def asked(url: str, home: Path) -> Finished:
    return await run("chat", "--url", url, "--ask", "Hello.", "-q", home=home)


async def test_after_a_login_the_chat_and_the_other_commands_are_let_in_until_the_logout(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path) as (idp, url):
        idp.refusals += ["authorization_pending", "authorization_pending"]
        assert (await asked(url, tmp_path)).code == 4
        done = await run("login", "--url", url, "--client-id", "cli", home=tmp_path)
        assert done.code == 0, done.err
        assert f"Open {idp.issuer()}/enter and enter the code WDJB-MJHT" in done.err
        assert idp.logins == ["openid offline_access agent:keys:use agent:keys:approve"]
        file = tmp_path / "logins.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        [stored] = json.loads(file.read_text()).values()
        assert stored["tokens"]["access"] not in done.out + done.err
        assert (await asked(url, tmp_path)).out == "Good day.\n"
        listed = await run("tasks", "list", "--url", url, "--json", home=tmp_path)
        assert listed.code == 0, listed.err
        assert len(json.loads(listed.out)) == 1
        assert (await run("logout", "--url", url, home=tmp_path)).code == 0
        assert (await asked(url, tmp_path)).code == 4


async def test_a_token_that_ends_is_renewed_and_one_that_is_revoked_asks_for_a_login(tmp_path: Path) -> None:
    async with desk(tmp_path) as (idp, url):
        idp.lasts = 3  # about to end at once
        assert (await run("login", "--url", url, "--client-id", "cli", home=tmp_path)).code == 0
        first = set(idp.renewals)
        assert (await asked(url, tmp_path)).out == "Good day.\n"
        assert not first & idp.renewals
        idp.renewals.clear()
        refused = await asked(url, tmp_path)
        assert refused.code == 4
        assert "platform-engineer login" in refused.err
        assert json.loads((tmp_path / "logins.json").read_text()) == {}


async def test_the_tokens_of_one_agent_are_not_sent_to_another(tmp_path: Path) -> None:
    async with desk(tmp_path) as (_, url), desk(tmp_path / "other") as (_, other):
        assert (await run("login", "--url", url, "--client-id", "cli", home=tmp_path)).code == 0
        assert (await asked(other, tmp_path)).code == 4
        logins = Logins(tmp_path / "logins.json")
        assert (bool(await logins.token(url)), await logins.token(other)) == (True, "")
        assert (await asked(url, tmp_path)).code == 0


@pytest.mark.parametrize(
    ("refusals", "options", "named"),
    [
        (["access_denied"], ("--client-id", "cli"), "login was refused"),
        (["expired_token"], ("--client-id", "cli"), "code expired"),
        ([], ("--client-id", "stranger"), "rejected the client ID"),
        ([], (), "--client-id"),
        ([], ("--client-id", "cli", "--issuer", "http://login.example.com"), "not reached over https"),
    ],
)
async def test_a_login_that_fails_says_why_and_stores_nothing(
    tmp_path: Path, refusals: list[str], options: tuple[str, ...], named: str
) -> None:
    async with desk(tmp_path) as (idp, url):
        idp.refusals += refusals
        done = await run("login", "--url", url, *options, home=tmp_path)
        assert done.code != 0
        assert named in done.err
        assert not (tmp_path / "logins.json").exists()
