"""Changes on GitHub are made with the authorisation of the user who asks, through the supervisor and back."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from agents.github.agent import GitHubAgent
from agents.github.testing.accounts import CLIENT
from agents.github.testing.recorder import Recorded
from agents.github.testing.server import run_github_server
from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.test_delegation import until_ready
from tests.e2e.auth.provider import provider
from tests.e2e.auth.test_people import COMMENT, Scene
from tests.e2e.delegation.teams import model
from utils.errors import SettingsError
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import call, calls

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(300)]

SHARED = "of-the-installation"
BUSY = -32004
ASKED, WAITS, DONE = "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED", "TASK_STATE_COMPLETED"


def top(messages: Any) -> Any:
    last = messages[-1]
    if last.type == "tool":
        return f"They said: {last.content}"
    return calls(call("github", f"c{len(messages)}", request=last.content))


def commenting(messages: Any) -> Any:
    last = messages[-1]
    if last.type == "tool":
        return f"Result: {last.content}"
    if "sign me out" in str(last.content).lower():
        return calls(call("forget_authorisation", f"f{len(messages)}"))
    return calls(call("comment_on_issue", f"w{len(messages)}", **COMMENT))


@asynccontextmanager
async def scene(
    home: Path, *, supervisor: Mapping[str, str] | None = None, **settings: str
) -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:
        idp = await stack.enter_async_context(provider())
        double = stack.enter_context(run_github_server(pulls=2))
        auth = {"AUTH_MODE": "oidc", "AUTH_ISSUERS": idp.issuers, "AUTH_TENANT_CLAIM": "tenant"}
        common = {**auth, "EMBEDDINGS_PROVIDER": "none"}
        github = {
            "GITHUB_API_URL": double.url,
            "GITHUB_TOKEN": SHARED,
            "GITHUB_WRITE": "true",
            "GITHUB_OAUTH_CLIENT_ID": CLIENT,
            **common,
            **settings,
        }
        agent = await stack.enter_async_context(
            running_agent(GitHubAgent, environ=github, model=model(commenting), home=home)
        )
        own = {"SUB_AGENTS": f"github={agent}", "SUB_AGENTS_SHARES": "github=results", **common}
        own |= supervisor or {}
        url = await stack.enter_async_context(
            running_agent(PlatformEngineer, environ=own, model=model(top), home=home)
        )
        await until_ready(url)
        http = await stack.enter_async_context(httpx.AsyncClient(trust_env=False, timeout=60))
        yield Scene(idp, double, url, agent, http, home)


async def said(it: Scene, text: str, token: str, task: dict[str, Any] | None = None) -> dict[str, Any]:
    where = {"taskId": task["id"], "contextId": task["contextId"]} if task else {}
    answer = await it.say(text, token, **where)
    while (
        task and answer.json().get("error", {}).get("code") == BUSY
    ):  # it went on by itself after the sign-in
        shown = dict((await it.rpc("GetTask", {"id": task["id"]}, token)).json()["result"])
        if text == "done" and state(shown) == ASKED:
            return shown
        answer = await it.say(text, token, **where)
    assert answer.status_code == 200, answer.text
    assert "result" in answer.json(), answer.text
    return dict(answer.json()["result"]["task"])


def state(task: dict[str, Any]) -> str:
    return str(task["status"]["state"])


def words(task: dict[str, Any]) -> str:
    return str(task["status"]["message"]["parts"][0]["text"])


def code(task: dict[str, Any]) -> str:
    data = next(part["data"] for part in task["status"]["message"]["parts"] if "data" in part)
    assert data["form"]["code"] in words(task)
    assert f"{data['form']['url']} " in words(task)
    return str(data["form"]["code"])


def sent_as(change: Recorded, it: Scene) -> str:
    return it.github.accounts.tokens.get(change.headers["authorization"].partition(" ")[2], "nobody")


def everything(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


async def test_a_comment_is_made_in_the_name_of_the_user_who_asked_and_approved(tmp_path: Path) -> None:
    with capture_logs() as logged:
        async with scene(tmp_path) as it:
            ann, bob = it.token("ann"), it.token("bob")
            waits = await said(it, "Thank them on issue 5.", ann)
            assert state(waits) == WAITS
            it.github.accounts.enter(code(waits), "ann-at-github")
            asked = await said(it, "done", ann, waits)
            assert state(asked) == ASKED
            assert "in your name, ann-at-github?" in words(asked)
            assert it.github.recorder.changes() == []
            where = {"taskId": asked["id"], "contextId": asked["contextId"]}
            assert "not found" in (await it.say("yes", bob, **where)).text.lower()
            assert it.github.recorder.changes() == []
            assert state(await said(it, "yes", ann, asked)) == DONE
            [change] = it.github.recorder.changes()
            assert sent_as(change, it) == "ann-at-github"

            again = await said(it, "Thank them once more.", ann)  # authorised already, in a new conversation
            assert state(again) == ASKED
            other = await said(it, "Thank them on issue 5.", bob)
            assert state(other) == WAITS, "one user's authorisation is of no use to another"
            tokens = set(it.github.accounts.tokens)
    kept = everything(tmp_path)
    assert tokens
    for token in tokens:
        assert token.encode() not in kept
        assert token not in str(logged)


async def test_the_same_user_of_another_tenant_has_not_authorised_anything(tmp_path: Path) -> None:
    async with scene(tmp_path) as it:
        waits = await said(it, "Thank them.", it.token("ann"))
        it.github.accounts.enter(code(waits), "ann-at-github")
        assert state(await said(it, "done", it.token("ann"), waits)) == ASKED
        assert state(await said(it, "Thank them.", it.token("ann", tenant="other"))) == WAITS


async def test_who_answers_before_signing_in_is_asked_again_and_a_yes_to_that_approves_nothing(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as it:
        ann = it.token("ann")
        waits = await said(it, "Thank them.", ann)
        again = await said(it, "yes", ann, waits)
        assert state(again) == WAITS
        assert "has not received your authorisation" in words(again)
        assert code(again) == code(waits)
        it.github.accounts.enter(code(again), "ann-at-github")
        asked = await said(it, "yes", ann, again)
        assert state(asked) == ASKED, "a yes to the sign-in is none to the change"
        assert it.github.recorder.changes() == []
        where = {"taskId": asked["id"], "contextId": asked["contextId"]}
        refused = (await it.say("yes", ann, **where)).json()["error"]["message"]
        assert it.github.recorder.changes() == [], (
            "nor is the next one, which may be the same message once more"
        )
        (named,) = re.findall(r'"(yes \w+)"', refused)
        assert state(await said(it, named, ann, asked)) == DONE
        assert len(it.github.recorder.changes()) == 1


async def test_who_refuses_at_github_changes_nothing(tmp_path: Path) -> None:
    async with scene(tmp_path) as it:
        waits = await said(it, "Thank them.", it.token("ann"))
        it.github.accounts.enter(code(waits), "")
        ended = await said(it, "done", it.token("ann"), waits)
        assert "refused at GitHub" in str(ended)
        assert it.github.recorder.changes() == []


async def test_an_authorisation_that_is_revoked_or_taken_back_is_asked_for_anew(tmp_path: Path) -> None:
    async with scene(tmp_path) as it:
        ann = it.token("ann")
        waits = await said(it, "Thank them.", ann)
        it.github.accounts.enter(code(waits), "ann-at-github")
        asked = await said(it, "done", ann, waits)
        it.github.recorder.requests.clear()
        assert "deleted" in str(await said(it, "Sign me out of GitHub", ann))
        assert state(await said(it, "Thank them.", ann)) == WAITS
        again = await said(it, "yes", ann, asked)
        assert state(again) == WAITS, "approved, but the authorisation is gone"
        assert it.github.recorder.changes() == []


async def test_a_token_that_ends_is_renewed(tmp_path: Path) -> None:
    async with scene(tmp_path) as it:
        it.github.accounts.expires_in = 30  # less than what is taken for ended
        ann = it.token("ann")
        waits = await said(it, "Thank them.", ann)
        it.github.accounts.enter(code(waits), "ann-at-github")
        asked = await said(it, "done", ann, waits)
        before = set(it.github.accounts.tokens)
        assert state(await said(it, "yes", ann, asked)) == DONE
        [change] = it.github.recorder.changes()
        assert change.headers["authorization"].partition(" ")[2] not in before
        it.github.accounts.renewals.clear()  # revoked at GitHub
        assert state(await said(it, "Thank them.", ann)) == WAITS


async def test_a_sign_in_at_another_address_than_githubs_is_not_shown(tmp_path: Path) -> None:
    async with scene(tmp_path) as it:
        it.github.accounts.wherever = "https://login.example.com"
        told = str(await said(it, "Thank them.", it.token("ann")))
        assert "login.example.com" not in told
        assert "cannot be reached" in told


async def test_the_shared_token_only_reads_and_the_same_person_is_known_at_the_agent_itself(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as it:
        waits = await said(it, "Thank them.", it.token("ann"))
        it.github.accounts.enter(code(waits), "ann-at-github")
        asked = await said(it, "done", it.token("ann"), waits)
        assert state(await said(it, "yes", it.token("ann"), asked)) == DONE
        direct = it.idp.token("github", sub="ann")
        task = (await it.say("Thank them.", direct, it.agent_url)).json()["result"]["task"]
        assert state(task) == ASKED
        shared = [
            each for each in it.github.recorder.requests if SHARED in each.headers.get("authorization", "")
        ]
        assert all(each.method == "GET" for each in shared)


async def test_an_agent_that_knows_nobody_takes_no_authorisations(tmp_path: Path) -> None:
    environ = {"GITHUB_WRITE": "true", "GITHUB_OAUTH_CLIENT_ID": CLIENT, "EMBEDDINGS_PROVIDER": "none"}
    with pytest.raises(SettingsError, match="users cannot be told apart"):
        async with running_agent(GitHubAgent, environ=environ, model=model(commenting), home=tmp_path):
            pass
