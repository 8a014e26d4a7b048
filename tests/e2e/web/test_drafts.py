"""What is typed and not sent: it stays with its conversation and with its tab."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.scripted import serving_page
from tests.e2e.web.test_events import fails, form

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]
expect.set_options(timeout=SECONDS)


@pytest.fixture(scope="module")
def served():
    with serving_page({"fails": fails, "form": form}) as page:
        yield page


def message(page: Page) -> Locator:
    return page.get_by_label("Message", exact=True)


def test_what_was_typed_stays_with_its_conversation_and_survives_a_reload(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("fails first")
    expect(page.locator(".outcome")).to_be_visible()
    first = page.url
    message(page).fill("for the first")
    page.get_by_role("button", name="New conversation").click()
    expect(message(page)).to_have_value("")
    message(page).fill("for a new one")
    page.get_by_role("link", name="fails first").click()
    expect(message(page)).to_have_value("for the first")
    page.reload()
    expect(message(page)).to_have_value("for the first")
    assert page.url == first
    page.get_by_role("button", name="New conversation").click()
    expect(message(page)).to_have_value("for a new one")
    page.reload()
    expect(message(page)).to_have_value("for a new one")


def test_what_was_sent_is_typed_no_more(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("fails second")
    expect(page.locator(".outcome")).to_be_visible()
    expect(message(page)).to_have_value("")
    page.reload()
    expect(page.locator(".outcome")).to_be_visible()
    expect(message(page)).to_have_value("")
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_role("heading", name="What do you want to know?")).to_be_visible()
    expect(message(page)).to_have_value("")


def test_what_was_typed_beside_a_question_survives_a_reload(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("form please")
    page.get_by_text("Say something else").click()
    other = page.get_by_label("Say something else", exact=True)
    other.press_sequentially("the blue one")
    page.reload()
    expect(other).to_have_value("the blue one")
    other.press("Enter")
    expect(page.locator(".bubble", has_text="the blue one")).to_be_visible()
    page.reload()
    expect(page.get_by_text("painter asks", exact=True)).to_be_visible()
    expect(other).to_have_value("")


def test_two_tabs_of_new_conversations_do_not_share_what_is_typed(served, open_tab):
    tab = open_tab(served.url)
    message(tab.page).fill("of the first tab")
    second = tab.another()
    second.goto(served.url)
    expect(message(second)).to_have_value("")
    message(second).fill("of the second tab")
    tab.page.reload()
    expect(message(tab.page)).to_have_value("of the first tab")
