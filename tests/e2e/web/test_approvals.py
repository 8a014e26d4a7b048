"""Who may answer a question for approval on the page: the person who was asked, and nobody else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from agents.github.agent import GitHubAgent
from agents.github.testing.server import GitHubServer, run_github_server
from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.test_delegation import until_ready
from tests.e2e.auth.test_people import COMMENT, SUPERVISOR, brain
from tests.e2e.delegation.teams import model
from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.threaded import in_thread
from utils.auth.api_keys import ApiKey, KeyFile, new_key
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import call, calls

pytestmark = [
    pytest.mark.servers,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
]
expect.set_options(timeout=SECONDS)

REQUEST = "Thank them on issue 5."


@dataclass(frozen=True)
class Scene:
    """A supervisor whose callers have keys, and the double of GitHub behind its agent."""

    url: str
    github: GitHubServer
    keys: dict[str, str]


def _keys(file: Path) -> dict[str, str]:
    """Ann and Bob may ask and approve, Carol may ask."""
    use, approve = f"agent:{SUPERVISOR}:use", f"agent:{SUPERVISOR}:approve"
    made = {}
    for name, scopes in {"ann": (use, approve), "bob": (use, approve), "carol": (use,)}.items():
        made[name], stored = new_key(ApiKey(name, "", scopes))
        KeyFile(file).add(stored)
    return made


@asynccontextmanager
async def _scene(home: Path) -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:
        double = stack.enter_context(run_github_server(pulls=2))
        keys = _keys(home / "keys.json")
        common = {"AUTH_MODE": "api-key", "EMBEDDINGS_PROVIDER": "none"}
        github = {
            "GITHUB_API_URL": double.url,
            "GITHUB_TOKEN": "of-the-test",
            "GITHUB_WRITE": "true",
            **common,
        }
        writes = model([calls(call("comment_on_issue", **COMMENT)), "It is sent."] * 3)
        agent = await stack.enter_async_context(
            running_agent(GitHubAgent, environ=github, model=writes, home=home)
        )
        own = {"SUB_AGENTS": f"github={agent}", "SUB_AGENTS_SHARES": "github=results", **common}
        url = await stack.enter_async_context(
            running_agent(PlatformEngineer, environ=own, model=model(brain), home=home)
        )
        await until_ready(url)
        yield Scene(url, double, keys)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    home = tmp_path_factory.mktemp("people")
    with in_thread(lambda: _scene(home)) as found:
        yield found


def enter(page: Page, key: str) -> None:
    page.get_by_label("Key or access token").fill(key)
    page.keyboard.press("Enter")
    expect(page.get_by_label("Key or access token")).to_have_count(0)


def test_another_person_cannot_approve_and_the_one_who_was_asked_still_can(scene, open_tab):
    tab = open_tab(scene.url)
    tab.expected = ("401",)
    ann = tab.page
    enter(ann, scene.keys["ann"])
    tab.ask(REQUEST)
    expect(ann.get_by_text("github asks for your approval")).to_be_visible()
    before = len(scene.github.recorder.changes())
    other = open_tab(scene.url)
    other.expected = ("401", "404")
    bob = other.page
    enter(bob, scene.keys["bob"])
    bob.goto(ann.url)
    bob.reload()
    enter(bob, scene.keys["bob"])
    expect(
        bob.locator("main").get_by_text(
            "There is no such conversation. It was deleted, or it is somebody else's."
        )
    ).to_be_visible()
    expect(bob.locator(".entry")).to_have_count(0)
    refused = bob.evaluate(
        """async ([task, key]) => {
        const parts = [{ data: { approve: true } }];
        const answer = await fetch("/rest/message:send", { method: "POST",
            headers: { "Content-Type": "application/json", "A2A-Version": "1.0", Authorization: `Bearer ${key}` },
            body: JSON.stringify({ message: { messageId: "of-bob", role: "ROLE_USER", taskId: task, parts } }) });
        return [answer.status, (await answer.json()).error.message]; }""",
        [_task(ann, scene.keys["ann"]), scene.keys["bob"]],
    )
    assert refused[0] == 404
    assert "not found" in refused[1].lower()
    assert len(scene.github.recorder.changes()) == before
    ann.get_by_role("button", name="Send it").click()
    expect(ann.get_by_text("It is sent.")).to_be_visible()
    assert len(scene.github.recorder.changes()) == before + 1


def test_a_person_without_the_right_to_approve_reads_why_and_the_question_stays(scene, open_tab):
    tab = open_tab(scene.url)
    tab.expected = ("401", "403")
    page = tab.page
    enter(page, scene.keys["carol"])
    tab.ask(REQUEST)
    before = len(scene.github.recorder.changes())
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_role("alert")).to_have_text(
        "Your answer was not taken. "
        "Your credentials do not allow approvals. The question stays open for somebody who may approve."
    )
    expect(page.get_by_text("github asks for your approval")).to_be_visible()
    assert len(scene.github.recorder.changes()) == before


def _task(page: Page, key: str) -> str:
    """The id of the newest task of a person."""
    found = page.evaluate(
        """async (key) => (await (await fetch("/rest/tasks", { headers: { "A2A-Version": "1.0",
        Authorization: `Bearer ${key}` } })).json()).tasks[0].id""",
        key,
    )
    return str(found)
