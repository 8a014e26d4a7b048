"""Conversations that are renamed and deleted on the page, with agents that keep them in different ways."""

from __future__ import annotations

import base64
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import Keys
from tests.e2e.agents.test_delegation import until_ready
from tests.e2e.conversations.test_deleting import finding
from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.scripted import Part, serving_page
from tests.e2e.web.test_events import fails
from tests.e2e.web.threaded import in_thread
from utils.testing.live_agent import running_agent
from utils.testing.live_server import loopback_socket
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]
expect.set_options(timeout=SECONDS)

LARGE = base64.b64encode(bytes(1_900_000)).decode()
HOSTILE = '<img src=x onerror="window.ran = true">'
SAYS = [calls(call("keys", request="the value of a")), "The value of a is 1."]


@asynccontextmanager
async def _supervisor(home: Path, keys: str, trust: str) -> AsyncIterator[str]:
    own = {"SUB_AGENTS": f"keys={keys}", "SUB_AGENTS_TRUST": f"keys={trust}", "EMBEDDINGS_PROVIDER": "none"}
    async with running_agent(
        PlatformEngineer, home=home / "ours", model=ScriptedModel(script=SAYS), environ=own
    ) as url:
        await until_ready(url)
        yield url


@contextmanager
def _keys(home: Path, listener: socket.socket) -> Iterator[str]:
    with in_thread(
        lambda: running_agent(Keys, home=home / "theirs", model=finding("a"), listener=listener)
    ) as url:
        yield url


def delete_button(page: Page, title: str) -> Any:
    entry = page.locator(".entry", has_text=title)
    entry.first.hover()
    return entry.first.get_by_role("button", name="Delete")


def tasks_of(url: str) -> list[dict[str, Any]]:
    answer = httpx.get(f"{url}/rest/tasks", headers={"A2A-Version": "1.0"}, trust_env=False).json()
    return list(answer.get("tasks", []))


def test_a_deleted_conversation_names_the_foreign_agent_that_keeps_its_part(tmp_path, open_tab):
    listener = loopback_socket()
    with (
        _keys(tmp_path, listener) as keys,
        in_thread(lambda: _supervisor(tmp_path, keys, "foreign")) as url,
    ):
        tab = open_tab(url)
        page = tab.page
        tab.ask("What is a?")
        expect(page.get_by_text("The value of a is 1.")).to_be_visible()
        delete_button(page, "What is a?").click()
        dialog = page.get_by_role("dialog", name="Delete the conversation?")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        assert len(tasks_of(url)) == 1
        delete_button(page, "What is a?").click()
        dialog.get_by_role("button", name="Delete", exact=True).click()
        expect(page.get_by_role("dialog", name="Deleted here")).to_contain_text(
            "keys may still have what it was told: it belongs to somebody else, and cannot be made to delete it."
        )
        assert tasks_of(url) == []
        page.get_by_role("button", name="Close").click()
        expect(page.get_by_role("button", name="New conversation")).to_be_focused()
        expect(page.locator(".entry")).to_have_count(0)
        tab.leave()


def test_an_agent_that_is_away_is_named_and_the_user_may_delete_here_only(tmp_path, open_tab):
    listener = loopback_socket()
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with ExitStack() as stack:
        agent = stack.enter_context(ExitStack())
        agent.enter_context(_keys(tmp_path, listener))
        url = stack.enter_context(in_thread(lambda: _supervisor(tmp_path, address, "own")))
        tab = open_tab(url)
        tab.expected = ("400",)
        page = tab.page
        tab.ask("What is a?")
        expect(page.get_by_text("The value of a is 1.")).to_be_visible()
        agent.close()
        entry = page.locator(".entry", has_text="What is a?")
        entry.hover()
        entry.get_by_role("button", name="Rename").click()
        page.get_by_label("Name of the conversation").fill(HOSTILE)
        page.keyboard.press("Enter")
        delete_button(page, HOSTILE).click()
        expect(page.get_by_role("dialog")).to_contain_text(HOSTILE)
        assert page.evaluate("window.ran") is None
        page.get_by_role("button", name="Delete", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("Nothing was deleted here")
        expect(page.get_by_role("alert")).to_contain_text("keys")
        assert len(tasks_of(url)) == 1
        page.get_by_role("button", name="Delete here only").click()
        expect(page.get_by_role("dialog", name="Deleted here")).to_contain_text("it could not be reached")
        assert tasks_of(url) == []
        tab.leave()


def test_an_agent_without_the_extension_offers_no_deletion_and_names_stay_in_the_browser(open_tab):
    with serving_page({"fails": fails}) as served:
        tab = open_tab(served.url)
        page = tab.page
        tab.ask("fails please")
        entry = page.locator(".entry", has_text="fails please")
        expect(entry).to_be_visible()
        entry.hover()
        expect(entry.get_by_role("button", name="Delete")).to_have_count(0)
        entry.get_by_role("button", name="Rename").click()
        page.get_by_label("Name of the conversation").fill("Mine")
        page.keyboard.press("Enter")
        expect(page.get_by_role("link", name="Mine")).to_be_visible()
        assert "Mine" in page.evaluate("JSON.stringify({ ...localStorage })")
        tab.leave()


async def attaches(part: Part) -> None:
    """Answer with a file of which two, and no three, have room on a page of a list."""
    await part.begin()
    await part.artifact({"raw": LARGE, "filename": "large.bin"}, name="file")
    await part.status("COMPLETED")


def test_a_conversation_whose_tasks_take_several_pages_of_a_list_is_read_whole(open_tab):
    asked = [f"attaches number {number}" for number in range(5)]
    with serving_page({"attaches": attaches}) as served:
        tab = open_tab(served.url)
        page = tab.page
        for number, request in enumerate(asked):
            tab.ask(request)
            expect(page.get_by_text("large.bin")).to_have_count(number + 1)
        page.reload()
        expect(page.get_by_text("large.bin")).to_have_count(len(asked))
        for request in asked:
            expect(page.get_by_role("main").get_by_text(request, exact=True)).to_be_visible()
        tab.leave()
