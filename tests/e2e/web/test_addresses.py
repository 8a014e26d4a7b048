"""Addresses of conversations: bookmarks, back and forward, and ones that were damaged on their way."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.scripted import serving_page
from tests.e2e.web.test_lost_line import quick, said

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]
expect.set_options(timeout=SECONDS)

WELCOME = "What do you want to know?"


@pytest.fixture(scope="module")
def served():
    with serving_page({"quick": quick}) as page:
        yield page


def test_back_and_forward_go_through_the_conversations_with_what_was_typed_in_each(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    for words in ("quick one", "quick two"):
        page.get_by_role("button", name="New conversation").click()
        tab.ask(words)
        expect(page.get_by_text(f"You said: {words}")).to_be_visible()
        page.get_by_label("Message", exact=True).fill(f"after {words}")
    page.go_back()
    expect(page.get_by_role("heading", name=WELCOME)).to_be_visible()
    page.go_back()
    expect(page.get_by_text("You said: quick one")).to_be_visible()
    assert said(page) == ["quick one"]
    expect(page.get_by_label("Message", exact=True)).to_have_value("after quick one")
    page.go_forward()
    page.go_forward()
    expect(page.get_by_text("You said: quick two")).to_be_visible()
    assert said(page) == ["quick two"]
    expect(page.get_by_label("Message", exact=True)).to_have_value("after quick two")


def test_a_bookmark_opens_its_conversation_in_another_browser_escaped_or_not(served, open_tab):
    tab = open_tab(served.url)
    tab.ask("quick bookmark")
    expect(tab.page.get_by_text("You said: quick bookmark")).to_be_visible()
    place, context_id = tab.page.url.split("#/c/")
    escaped = "".join(f"%{ord(letter):02X}" for letter in context_id)
    for written in (context_id, escaped):
        other = open_tab(served.url).page
        other.goto(f"{place}#/c/{written}")
        expect(other.get_by_text("You said: quick bookmark")).to_be_visible()


@pytest.mark.parametrize("damage", ["%ZZ", "%", "%20here", "/more", "x" * 200])
def test_a_damaged_bookmark_names_no_conversation_and_a_new_one_can_be_begun(served, open_tab, damage):
    tab = open_tab(served.url)
    tab.page.goto(f"{served.url}/#/c/0123456789abcdef{damage}")
    page = tab.page
    expect(page.locator("main").get_by_text("There is no such conversation.")).to_be_visible()
    page.get_by_role("button", name="Begin a new one").click()
    expect(page.get_by_role("heading", name=WELCOME)).to_be_visible()
    tab.ask("quick after a damaged one")
    expect(page.get_by_text("You said: quick after a damaged one")).to_be_visible()
    assert said(page) == ["quick after a damaged one"]
