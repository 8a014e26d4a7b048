"""Known callers: each has what is theirs, approves what they may, and is never let in for what an agent may not do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.github.agent import GitHubAgent
from agents.github.testing.server import GitHubServer, run_github_server
from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.test_delegation import until_ready
from tests.e2e.auth.house import house
from tests.e2e.auth.provider import Provider, provider
from tests.e2e.delegation.teams import model
from tests.e2e.wire.wiring import message
from utils.auth.service_tokens import Signer, key_in
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import call, calls

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(300)]

SUPERVISOR = "platform-engineer"
COMMENT: dict[str, Any] = {"owner": "octocat", "repo": "hello-world", "number": 5, "body": "Thank you!"}


@dataclass
class Scene:
    """A supervisor and its GitHub agent, which both know their callers."""

    idp: Provider
    github: GitHubServer
    url: str
    agent_url: str
    http: httpx.AsyncClient
    home: Path

    def token(self, sub: str = "ann", **claims: Any) -> str:
        return self.idp.token(SUPERVISOR, sub=sub, **claims)

    async def rpc(self, method: str, params: Any, token: str, url: str = "") -> httpx.Response:
        headers = {"A2A-Version": "1.0", "Authorization": f"Bearer {token}"}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return await self.http.post(f"{url or self.url}/", json=body, headers=headers)

    async def say(self, text: str, token: str, url: str = "", **where: Any) -> httpx.Response:
        return await self.rpc("SendMessage", {"message": message(text, **where)}, token, url)

    async def asked(self) -> dict[str, Any]:
        """Ann's task, which asks whether a comment may be sent."""
        task = (await self.say("Thank them on issue 5.", self.token())).json()["result"]["task"]
        assert task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED", task
        return dict(task)


def brain(messages: Any) -> Any:
    last = messages[-1]
    return (
        f"They said: {last.content}"
        if last.type == "tool"
        else calls(call("github", "c1", request="Comment"))
    )


@asynccontextmanager
async def scene(home: Path) -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:
        idp = await stack.enter_async_context(provider())
        double = stack.enter_context(run_github_server(pulls=2))
        auth = {"AUTH_MODE": "oidc", "AUTH_ISSUERS": idp.issuers, "AUTH_TENANT_CLAIM": "tenant"}
        common = {**auth, "EMBEDDINGS_PROVIDER": "none"}
        github = {
            "GITHUB_API_URL": double.url,
            "GITHUB_TOKEN": "of-the-test",
            "GITHUB_WRITE": "true",
            **common,
        }
        writes = model([calls(call("comment_on_issue", **COMMENT)), "It is sent."])
        agent = await stack.enter_async_context(
            running_agent(GitHubAgent, environ=github, model=writes, home=home)
        )
        own = {"SUB_AGENTS": f"github={agent}", "SUB_AGENTS_SHARES": "github=results", **common}
        url = await stack.enter_async_context(
            running_agent(PlatformEngineer, environ=own, model=model(brain), home=home)
        )
        await until_ready(url)
        http = await stack.enter_async_context(httpx.AsyncClient(trust_env=False, timeout=60))
        yield Scene(idp, double, url, agent, http, home)


async def test_an_approval_counts_only_from_the_person_who_asked_and_may_approve(tmp_path: Path) -> None:
    async with scene(tmp_path) as it:
        task = await it.asked()
        assert "nonce" not in str(task), "callers are known: a secret is not needed"
        where = {"taskId": task["id"], "contextId": task["contextId"]}
        bob = await it.say("yes", it.token("bob"), **where)
        assert "not found" in bob.text.lower()
        use = f"agent:{SUPERVISOR}:use"
        for refused in ({"scope": use}, {"act": {"sub": "weather"}}, {"client_id": "ann"}):
            answer = await it.say("yes", it.token(**refused), **where)
            assert answer.status_code == 403, refused
        assert (
            f'scope="agent:{SUPERVISOR}:approve"'
            in (await it.say("yes", it.token(scope=use), **where)).headers["www-authenticate"]
        )
        assert it.github.recorder.changes() == []
        sent = (await it.say("yes", it.token(), **where)).json()["result"]["task"]
        assert sent["status"]["state"] == "TASK_STATE_COMPLETED", sent
        assert len(it.github.recorder.changes()) == 1


async def test_a_token_of_the_supervisor_approves_only_what_its_user_has_approved(tmp_path: Path) -> None:
    async with scene(tmp_path) as it:
        signer = Signer(key_in(tmp_path / "service-key.json"), SUPERVISOR)

        def token(**claims: str) -> str:
            return signer.token("github", "a conversation", **claims)

        task = (await it.say("Comment", token(), it.agent_url)).json()["result"]["task"]
        form = next(part["data"]["form"] for part in task["status"]["message"]["parts"] if "data" in part)
        where = {"taskId": task["id"], "contextId": task["contextId"]}
        for consent in ("", "0" * 64):
            answer = await it.say("yes", token(consent=consent), it.agent_url, **where)
            assert answer.status_code == 403, consent
        assert it.github.recorder.changes() == []
        digest = form["properties"]["digest"]["const"]
        assert (await it.say("yes", token(consent=digest), it.agent_url, **where)).status_code == 200
        assert len(it.github.recorder.changes()) == 1


async def test_another_user_and_another_tenant_reach_nothing(tmp_path: Path) -> None:
    async with scene(tmp_path) as it:
        task = await it.asked()
        for stranger in (it.token("bob"), it.token(tenant="other"), it.token(issued_by="other")):
            mine = await it.rpc("ListTasks", {}, stranger)
            assert mine.json()["result"]["tasks"] == []
            for method in ("GetTask", "CancelTask", "SubscribeToTask"):
                answer = await it.rpc(method, {"id": task["id"]}, stranger)
                assert "not found" in answer.text.lower(), (method, answer.text)
            push = {"taskId": task["id"], "url": "https://example.com/hook"}
            answer = await it.rpc("CreateTaskPushNotificationConfig", push, stranger)
            assert "not found" in answer.text.lower()
        listed = (await it.rpc("ListTasks", {}, it.token())).json()["result"]["tasks"]
        assert [each["id"] for each in listed] == [task["id"]]
        assert (await it.rpc("CancelTask", {"id": task["id"]}, it.token())).status_code == 200
        async with asyncio.timeout(60):
            while (await it.rpc("GetTask", {"id": task["id"]}, it.token())).json()["result"]["status"][
                "state"
            ] != ("TASK_STATE_CANCELED"):
                await asyncio.sleep(0.05)


async def test_the_card_the_probes_and_the_metadata_are_public_and_metrics_need_a_scope(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as it:
        card = (await it.http.get(f"{it.url}/.well-known/agent-card.json")).json()
        scheme = card["securitySchemes"]["oidc-1"]["openIdConnectSecurityScheme"]
        assert scheme["openIdConnectUrl"].startswith(it.idp.issuer())
        assert "agent:platform-engineer:use" in str(card["securityRequirements"])
        assert (await it.http.get(f"{it.url}/healthz")).status_code == 200
        told = (await it.http.get(f"{it.url}/.well-known/oauth-protected-resource")).json()
        assert it.idp.issuer() in told["authorization_servers"]
        assert (await it.http.get(f"{it.url}/metrics")).status_code == 401
        headers = {"Authorization": f"Bearer {it.token(scope=f'agent:{SUPERVISOR}:use')}"}
        assert (await it.http.get(f"{it.url}/metrics", headers=headers)).status_code == 403
        headers = {"Authorization": f"Bearer {it.token()}"}
        assert (await it.http.get(f"{it.url}/metrics", headers=headers)).status_code == 200


async def test_the_page_for_browsers_is_public_and_what_it_asks_is_not(tmp_path: Path) -> None:
    async with house(tmp_path) as found:
        for door in found.doors:
            shown = await found.http.get(door.url, headers={"Accept": "text/html"})
            assert (shown.status_code, "<!doctype html>" in shown.text) == (200, True)
            files = re.findall(r"\./(page/[^\"]+)", shown.text)
            assert len(files) >= 2
            for file in files:
                assert (await found.http.get(f"{door.url}/{file}")).status_code == 200
            asked = await found.http.post(door.url, json={"jsonrpc": "2.0", "id": 1, "method": "ListTasks"})
            assert asked.status_code == 401
            assert (await found.http.get(f"{door.url}/rest/tasks")).status_code == 401
