"""What the page reads again and again: an answer that was given before something changed changes nothing back when it comes after it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.agents.peers import Keys
from tests.e2e.web.chromium import SECONDS, Tab
from tests.e2e.web.late import Late
from tests.e2e.web.scripted import serving_page
from tests.e2e.web.test_conversations import delete_button
from tests.e2e.web.test_deleted_elsewhere import delete
from tests.e2e.web.test_keys import NO_TIMERS
from tests.e2e.web.test_lost_line import SENT, quick, said
from tests.e2e.web.test_refused import FOCUS
from tests.e2e.web.threaded import in_thread
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = [
    pytest.mark.servers,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
]
expect.set_options(timeout=SECONDS)

CONVERSATION = "/rest/tasks?contextId="
LIST = "/rest/tasks?pageSize="
TITLES = "/rest/message:send"
CARD = "**/.well-known/agent-card.json"


@pytest.fixture(scope="module")
def served():
    with serving_page({"quick": quick}) as page:
        yield page


@asynccontextmanager
async def _storing(home: Path) -> AsyncIterator[str]:
    model = ScriptedModel.of(*["Good day."] * 20)
    async with running_agent(Keys, environ={"EMBEDDINGS_PROVIDER": "none"}, model=model, home=home) as url:
        yield url


@pytest.fixture(scope="module")
def storing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An agent that keeps titles, and deletes conversations."""
    home = tmp_path_factory.mktemp("storing")
    with in_thread(lambda: _storing(home)) as url:
        yield url


def still(tab: Tab) -> Page:
    """The page, which looks for news when a test has it do so."""
    tab.page.add_init_script(NO_TIMERS)
    tab.page.reload()
    return tab.page


def greeted(tab: Tab, words: str) -> None:
    tab.ask(words)
    expect(tab.page.get_by_text("Good day.")).to_be_visible()
    expect(tab.page.locator(".entry", has_text=words)).to_be_visible()


def test_a_message_that_was_answered_while_the_conversation_was_read_stays_with_its_answer(served, open_tab):
    tab = open_tab(served.url)
    page = still(tab)
    tab.ask("quick one")
    expect(page.get_by_text("You said: quick one")).to_be_visible()
    late = Late(page, CONVERSATION)
    with late.held():
        page.evaluate(FOCUS)
    tab.ask("quick two")
    expect(page.get_by_text("You said: quick two")).to_be_visible()
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
    late.comes()
    assert said(page) == ["quick one", "quick two"]
    expect(page.get_by_text("You said: quick two")).to_have_count(1)


def test_a_first_message_that_was_answered_while_its_conversation_was_read_stays(served, open_tab):
    tab = open_tab(served.url)
    page = still(tab)
    sent: list[Route] = []
    page.route(SENT, lambda route: sent.append(route))
    tab.ask("quick and first")
    late = Late(page, CONVERSATION)
    with late.held():
        page.evaluate(FOCUS)
    sent.pop().continue_()
    expect(page.get_by_text("You said: quick and first")).to_be_visible()
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
    late.comes()
    expect(page.get_by_text("There is no such conversation.")).to_have_count(0)
    assert said(page) == ["quick and first"]


def test_a_conversation_that_was_deleted_elsewhere_does_not_come_back_with_an_older_answer(storing, open_tab):
    tab = open_tab(storing)
    page = still(tab)
    greeted(tab, "Deleted elsewhere?")
    late = Late(page, CONVERSATION)
    with late.held():
        page.evaluate(FOCUS)
    delete(storing, page.url.split("#/c/")[1])
    page.evaluate(FOCUS)
    missing = page.locator("main").get_by_text("There is no such conversation.")
    expect(missing).to_be_visible()
    late.comes()
    expect(missing).to_be_visible()
    assert said(page) == []


def test_a_conversation_that_began_while_the_list_was_read_stays_in_it(served, open_tab):
    tab = open_tab(served.url)
    page = still(tab)
    expect(page.locator(".conversations")).to_be_visible()
    late = Late(page, LIST)
    with late.held():
        page.evaluate(FOCUS)
    looks = count()
    with page.expect_response(lambda answer: LIST in answer.url and next(looks) == 1):
        tab.ask("quick and listed")  # it is looked for when it was sent, and when it was answered
    entry = page.locator(".entry", has_text="quick and listed")
    expect(entry).to_be_visible()
    late.comes()
    expect(entry).to_be_visible()


def test_a_conversation_that_was_deleted_here_does_not_come_back_into_the_list(storing, open_tab):
    tab = open_tab(storing)
    page = still(tab)
    greeted(tab, "Is it gone?")
    delete_button(page, "Is it gone?").click()
    late = Late(page, LIST)
    with late.held():
        page.evaluate(FOCUS)
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    entry = page.locator(".entry", has_text="Is it gone?")
    expect(entry).to_have_count(0)
    late.comes()
    expect(entry).to_have_count(0)


def test_a_conversation_that_was_renamed_while_the_titles_were_read_keeps_its_new_title(storing, open_tab):
    tab = open_tab(storing)
    page = still(tab)
    greeted(tab, "What is it called?")
    late = Late(page, TITLES)
    with late.held():
        page.evaluate(FOCUS)
    entry = page.locator(".entry", has_text="What is it called?")
    entry.hover()
    entry.get_by_role("button", name="Rename").click()
    page.get_by_label("Name of the conversation").fill("The new title")
    page.keyboard.press("Enter")
    renamed = page.locator(".entry", has_text="The new title")
    expect(renamed).to_be_visible()
    late.comes()
    expect(renamed).to_be_visible()


def test_an_older_look_at_the_agent_that_failed_does_not_call_it_offline(served, open_tab):
    tab = open_tab(served.url)
    tab.expected = ("net::ERR",)
    page = tab.page
    page.clock.install()
    page.reload()
    lamp = page.locator(".health .words")
    expect(lamp).to_contain_text("ms")
    held: list[Route] = []
    page.route(CARD, lambda route: held.append(route), times=1)
    with page.expect_request(CARD):
        page.clock.fast_forward(15_000)
    with page.expect_response("**/readyz"):
        page.clock.fast_forward(15_000)
    with page.expect_event("requestfailed"):
        held.pop().abort()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(done))")
    expect(lamp).to_contain_text("ms")
