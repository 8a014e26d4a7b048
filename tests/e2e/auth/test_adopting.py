"""What was had without authentication goes to a person of an OpenID provider: the question that waits, its webhook and all words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.fernet import Fernet

from agents.github.agent import GitHubAgent
from agents.github.testing.server import GitHubServer, run_github_server
from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.test_delegation import until_ready
from tests.e2e.auth.provider import Provider, provider
from tests.e2e.auth.test_people import COMMENT, SUPERVISOR, brain
from tests.e2e.cli.command import run
from tests.e2e.delegation.teams import model
from tests.e2e.wire.test_push import Hook, listening
from tests.e2e.wire.wiring import message
from tests.postgres import PARAMETER, PostgresServer
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import call, calls

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("postgres"),
]

CONVERSATIONS = "urn:platform-engineer:ext:conversations:v1"
TENANT = "acme"


@pytest.fixture(params=["plain", "encrypted"])
def keys(request: pytest.FixtureRequest) -> dict[str, str]:
    return {"ENCRYPTION_KEYS": Fernet.generate_key().decode()} if request.param == "encrypted" else {}


@pytest.fixture(params=["sqlite", PARAMETER])
def environ(request: pytest.FixtureRequest, keys: dict[str, str]) -> dict[str, str]:
    if request.param == "sqlite":
        return keys
    server: PostgresServer = request.getfixturevalue("postgres")
    return {**keys, "DATABASE_URL": server.new_database()}


class Client:
    """Sends requests in a tenant, with a token where there is one."""

    def __init__(self, http: httpx.AsyncClient, url: str, token: str = "", tenant: str = TENANT) -> None:
        self._http, self._url, self._token, self._tenant = http, url, token, tenant

    async def rpc(self, method: str, **params: Any) -> dict[str, Any]:
        headers = {"A2A-Version": "1.0"} | ({"Authorization": f"Bearer {self._token}"} if self._token else {})
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"tenant": self._tenant, **params}}
        return dict((await self._http.post(f"{self._url}/", json=body, headers=headers)).json())

    async def say(self, text: str, **where: Any) -> dict[str, Any]:
        return await self.rpc("SendMessage", message=message(text, **where))

    async def asked(self, **payload: Any) -> dict[str, Any]:
        said = message("", parts=[{"data": {CONVERSATIONS: payload}}])
        answer = (await self.rpc("SendMessage", message=said))["result"]["message"]
        return dict(answer["parts"][1]["data"][CONVERSATIONS])


@asynccontextmanager
async def service(
    home: Path, github: GitHubServer, environ: dict[str, str], *, again: bool = False
) -> AsyncIterator[str]:
    async with AsyncExitStack() as stack:
        common = {**environ, "EMBEDDINGS_PROVIDER": "none", "PUSH_ALLOW_PRIVATE": "true"}
        own = {"GITHUB_API_URL": github.url, "GITHUB_WRITE": "true", "GITHUB_TOKEN": "t"}
        below = ["Sent."] if again else [calls(call("comment_on_issue", **COMMENT)), "Sent."]
        agent = await stack.enter_async_context(
            running_agent(GitHubAgent, home=home, model=model(below), environ={**common, **own})
        )
        above = {**common, "SUB_AGENTS": f"github={agent}", "SUB_AGENTS_SHARES": "github=results"}
        url = await stack.enter_async_context(
            running_agent(PlatformEngineer, home=home, model=model(brain), environ=above)
        )
        await until_ready(url)
        yield url


async def test_a_person_of_a_provider_answers_the_question_that_waits_and_its_webhook_hears_it(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    hook = Hook()
    async with AsyncExitStack() as stack:
        idp: Provider = await stack.enter_async_context(provider())
        github = stack.enter_context(run_github_server(pulls=2))
        http = await stack.enter_async_context(httpx.AsyncClient(trust_env=False, timeout=60))
        hooked = await stack.enter_async_context(listening(hook))
        async with service(tmp_path, github, environ) as url:
            nobody = Client(http, url)
            task = (await nobody.say("Thank them on issue 5."))["result"]["task"]
            assert task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED", task
            await nobody.rpc(
                "CreateTaskPushNotificationConfig", taskId=task["id"], id="w", url=hooked, token="t"
            )
            await nobody.asked(action="rename", contextId=task["contextId"], title="Thanks")
            elsewhere = (await Client(http, url, tenant="other").say("Thank them as well."))["result"]["task"]
            assert elsewhere["status"]["state"] == "TASK_STATE_COMPLETED", elsewhere
        who = ("ann", "--issuer", idp.issuer(), "--tenant", TENANT)
        given = await run("conversations", "adopt", *who, home=tmp_path, **environ)
        assert given.code == 0, given.err
        assert "platform-engineer: 1 adopted" in given.out
        assert "github: 1 adopted" in given.out

        on = {"AUTH_MODE": "oidc", "AUTH_ISSUERS": idp.issuer(), "AUTH_TENANT_CLAIM": "tenant"}
        async with service(tmp_path, github, {**environ, **on}, again=True) as url:
            ann, bob = (
                Client(http, url, idp.token(SUPERVISOR, sub=sub, tenant=TENANT)) for sub in ("ann", "bob")
            )
            assert "error" in await bob.rpc("GetTask", id=task["id"])
            assert (await bob.asked(action="list")).get("conversations", []) == []
            (listed,) = (await ann.asked(action="list"))["conversations"]
            assert (listed["contextId"], listed["title"]) == (task["contextId"], "Thanks")
            assert (await ann.rpc("GetTask", id=task["id"]))["result"]["history"] == task["history"]
            (config,) = (await ann.rpc("ListTaskPushNotificationConfigs", taskId=task["id"]))["result"][
                "configs"
            ]
            assert (config["url"], config["token"]) == (hooked, "t")
            answered = (await ann.say("yes", taskId=task["id"]))["result"]["task"]
            assert answered["status"]["state"] == "TASK_STATE_COMPLETED", answered
            assert len(github.recorder.changes()) == 1, answered
            async with asyncio.timeout(30):
                while "TASK_STATE_COMPLETED" not in json.dumps([body for _, body in hook.requests]):
                    await hook.heard(len(hook.requests) + 1)
            exported = await ann.asked(action="export", contextId=task["contextId"])
            assert "Thank them on issue 5." in json.dumps(exported)
