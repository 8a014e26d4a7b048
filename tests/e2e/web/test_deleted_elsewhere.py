"""A conversation that is deleted elsewhere while a message of this tab waits for the connection."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e.agents.peers import Keys
from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.test_keys import NO_TIMERS
from tests.e2e.web.test_lost_line import SENT
from tests.e2e.web.threaded import in_thread
from utils.a2a_common.protocol.conversations import CONVERSATIONS_EXTENSION
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = [
    pytest.mark.servers,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
]
expect.set_options(timeout=SECONDS)


@asynccontextmanager
async def _agent(home: Path) -> AsyncIterator[str]:
    model = ScriptedModel.of("The first answer.", "The second answer.")
    async with running_agent(Keys, environ={"EMBEDDINGS_PROVIDER": "none"}, model=model, home=home) as url:
        yield url


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[str]:
    with in_thread(lambda: _agent(tmp_path)) as url:
        yield url


def tasks_of(url: str, context_id: str) -> list[Any]:
    answer = httpx.get(
        f"{url}/rest/tasks?contextId={context_id}", headers={"A2A-Version": "1.0"}, trust_env=False
    )
    return list(answer.json().get("tasks", []))


def delete(url: str, context_id: str) -> None:
    """As another client does."""
    asked = {"data": {CONVERSATIONS_EXTENSION: {"action": "delete", "contextId": context_id}}}
    message = {"messageId": "delete", "role": "ROLE_USER", "parts": [asked]}
    answer = httpx.post(
        f"{url}/rest/message:send",
        json={"message": message},
        headers={"A2A-Version": "1.0"},
        trust_env=False,
    )
    assert answer.status_code == 200, answer.text
    assert tasks_of(url, context_id) == []


@pytest.mark.parametrize("reloads", [False, True])
def test_the_message_is_not_sent_into_it_and_can_be_sent_in_a_new_one(agent, open_tab, reloads):
    tab = open_tab(agent)
    tab.expected = ("Failed to load resource",)
    page = tab.page
    page.add_init_script(NO_TIMERS)
    page.reload()
    tab.ask("The first question?")
    expect(page.get_by_text("The first answer.")).to_be_visible()
    gone = page.url.split("#/c/")[1]
    # Nothing gets through, so that the page did not ask just before the deletion whether the conversation is there.
    tab.context.set_offline(True)
    tab.ask("The second question?")
    expect(page.locator(".line.lost")).to_be_visible()
    delete(agent, gone)
    tab.context.set_offline(False)
    if reloads:
        page.reload()
    expect(page.locator(".outcome.failed")).to_contain_text("This conversation was deleted elsewhere")
    expect(page.locator("main").get_by_text("There is no such conversation.")).to_be_visible()
    page.reload()
    expect(page.locator(".outcome.failed")).to_contain_text("your message was not sent")
    expect(page.locator(".bubble")).to_have_text("The second question?")
    expect(page.locator(".entry", has_text="The second question?")).to_contain_text("not sent")
    page.get_by_role("button", name="Ask again").click()
    expect(page.get_by_text("The second answer.")).to_be_visible()
    expect(page.locator(".bubble")).to_have_text("The second question?")
    assert page.url.split("#/c/")[1] != gone
    assert tasks_of(agent, gone) == []
    expect(page.locator(".entry", has_text="not sent")).to_have_count(0)


def test_a_message_that_was_not_sent_can_be_deleted_from_the_list(agent, open_tab):
    tab = open_tab(agent)
    tab.expected = ("Failed to load resource",)
    page = tab.page
    page.route(SENT, lambda route: route.fulfill(status=403, body="no"))
    tab.ask("Never sent.")
    entry = page.locator(".entry", has_text="Never sent.")
    expect(entry).to_contain_text("not sent")
    entry.hover()
    entry.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog", name="Delete the message?")
    expect(dialog).to_contain_text("No agent has it: it was not sent, and is only in this tab.")
    expect(dialog).not_to_contain_text("your own agents")
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(entry).to_have_count(0)
    page.reload()
    expect(page.get_by_role("heading", name="What do you want to know?")).to_be_visible()
    expect(entry).to_have_count(0)
    assert "Never sent." not in page.evaluate("JSON.stringify({ ...sessionStorage })")
