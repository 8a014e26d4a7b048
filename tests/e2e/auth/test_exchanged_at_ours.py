"""An agent of ours that gets exchanged tokens: what is the supervisor's is one person's, by whichever token, and none approves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.github.agent import GitHubAgent
from agents.github.testing.server import GitHubServer, run_github_server
from tests.e2e.auth.exchange_grant import CLIENT
from tests.e2e.auth.exchanging import Houses, common
from tests.e2e.auth.provider import OTHER, provider
from tests.e2e.auth.test_people import COMMENT
from tests.e2e.delegation.teams import model, writing_to
from utils.auth.service_tokens import Signer, key_in
from utils.messages.approval import digest_in_form
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import call, calls

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(300)]

ALL = "agent:github:use agent:github:approve"


@asynccontextmanager
async def agent(home: Path, github: GitHubServer, **environ: str) -> AsyncIterator[Houses]:
    """Serve the GitHub agent, which a supervisor with the client of the tests asks."""
    script = [calls(call("comment_on_issue", **COMMENT)), "Sent."]
    async with provider() as idp, httpx.AsyncClient(trust_env=False, timeout=60) as http:
        settings = {**common(idp), **writing_to(github), **environ}
        running = running_agent(GitHubAgent, model=model(script), home=home, environ=settings)
        async with running as url:
            yield Houses(idp, url, url, model([]), home, http)


def exchanged(it: Houses, sub: str = "ann", **claims: Any) -> str:
    """A token as the provider exchanges it for our supervisor, with more rights than it should have."""
    return it.idp.token("github", sub=sub, scope=ALL, **({"act": {"sub": CLIENT}} | claims))


def signed(it: Houses, sub: str = "ann", **claims: Any) -> str:
    """A token that our supervisor signs."""
    signer = Signer(key_in(it.home / "service-key.json"), "platform-engineer")
    return signer.token("github", f"{it.idp.issuer()} {sub}", tenant="acme", **claims)


async def test_both_tokens_of_the_supervisor_are_one_owner_and_nobody_elses(tmp_path: Path) -> None:
    with run_github_server(pulls=2) as github:
        async with agent(tmp_path, github, AUTH_EXCHANGE_ACTOR=CLIENT) as it:
            asked = await it.say("Thank them on issue 5.", signed(it))
            assert asked["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"

            async def sees(token: str) -> bool:
                return "result" in await it.rpc("GetTask", {"id": asked["id"]}, token)

            ours = {
                "by its act claim": exchanged(it),
                "behind another program": exchanged(it, act={"sub": CLIENT, "act": {"sub": "page"}}),
                "by its client alone": exchanged(it, act=None, azp=CLIENT),
            }
            assert {name: await sees(token) for name, token in ours.items()} == dict.fromkeys(ours, True)
            others = {
                "ann herself": it.idp.token("github", sub="ann"),
                "the supervisor for bob": exchanged(it, "bob"),
                "the supervisor in another tenant": exchanged(it, tenant="other"),
                "another program for ann": exchanged(it, act={"sub": "page"}),
                "another program behind the supervisor": exchanged(it, act={"sub": "page", "act": {"sub": CLIENT}}),
                "ann through another client": exchanged(it, act=None, azp="page"),
                "the supervisor for itself": exchanged(it, CLIENT, act=None, azp=CLIENT),
                "ann of another provider": exchanged(it, issued_by=OTHER),
            }  # fmt: skip
            assert {name: await sees(token) for name, token in others.items()} == dict.fromkeys(others, False)


@pytest.mark.parametrize("claims", [{}, {"act": None, "azp": CLIENT}])
async def test_an_exchanged_token_never_approves_and_the_supervisors_signature_still_does(
    tmp_path: Path, claims: dict[str, Any]
) -> None:
    with run_github_server(pulls=2) as github:
        async with agent(tmp_path, github, AUTH_EXCHANGE_ACTOR=CLIENT) as it:
            asked = await it.say("Thank them on issue 5.", exchanged(it, **claims))
            form = asked["status"]["message"]["parts"][1]["data"]["form"]
            where = {"taskId": asked["id"], "contextId": asked["contextId"]}
            with pytest.raises(KeyError):
                await it.say("yes", exchanged(it, **claims), **where)
            assert github.recorder.changes() == []
            answered = await it.say("yes", signed(it, consent=digest_in_form(form)), **where)
            assert answered["status"]["state"] == "TASK_STATE_COMPLETED"
            assert len(github.recorder.changes()) == 1
