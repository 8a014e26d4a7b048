"""A page that opens while the agent is slow to say who is at it, or does not answer at all."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.scripted import serving_page
from tests.e2e.web.test_lost_line import SENT, gateway_fails, is_redirected, quick, said
from tests.e2e.web.test_service import complaints

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]
expect.set_options(timeout=SECONDS)

CALLER = "**/page/caller"
KEPT = "What you wrote in this tab is kept, and is shown as soon as the agent answers."


@pytest.fixture(scope="module")
def served():
    with serving_page({"quick": quick}) as page:
        yield page


def test_a_tab_that_keeps_something_says_what_it_waits_for_and_shows_it_as_soon_as_the_agent_answers(
    served, open_tab
):
    page = open_tab(served.url).page
    box = page.get_by_label("Message", exact=True)
    box.fill("not sent yet")
    held: list[Route] = []
    page.route(CALLER, lambda route: held.append(route), times=1)
    page.reload()
    expect(page.get_by_role("status")).to_have_text(f"Asking the agent who you are. {KEPT}")
    expect(box).to_have_count(0)
    assert complaints(page) == []
    held.pop().continue_()
    expect(box).to_have_value("not sent yet")
    expect(box).to_be_focused()
    expect(page.get_by_text(KEPT)).to_have_count(0)


def test_what_a_tab_keeps_outlasts_a_reload_while_the_agent_is_away_and_is_sent_once_when_it_is_back(
    served, open_tab
):
    tab = open_tab(served.url)
    tab.expected = ("Failed to load resource", "net::ERR")
    page = tab.page
    for each in (SENT, CALLER):
        page.route(each, gateway_fails)
    box = page.get_by_label("Message", exact=True)
    tab.ask("quick and kept")
    expect(page.locator(".line.lost")).to_be_visible()
    box.fill("and a draft")
    page.reload()
    expect(page.get_by_role("status")).to_contain_text("refused between the page and the agent")
    expect(page.get_by_role("status")).to_contain_text(KEPT)
    expect(box).to_have_count(0)
    for each in (SENT, CALLER):
        page.unroute(each)
    expect(page.get_by_text("You said: quick and kept")).to_have_count(1)
    expect(box).to_have_value("and a draft")
    assert said(page) == ["quick and kept"]


def test_a_portal_that_wants_a_login_is_named_before_what_the_tab_keeps_is_shown(served, open_tab):
    page = open_tab(served.url).page
    page.get_by_label("Message", exact=True).fill("not sent yet")
    page.route(CALLER, is_redirected)
    page.reload()
    expect(page.get_by_role("status")).to_contain_text("Your login in front of the agent has ended.")
    expect(page.get_by_role("link", name="Log in in a new tab")).to_have_attribute("href", f"{served.url}/")
    page.unroute(CALLER)
    expect(page.get_by_label("Message", exact=True)).to_have_value("not sent yet")


def test_on_a_slow_line_the_page_says_that_it_is_loading_before_its_script_is_there(served, open_tab):
    page = open_tab(served.url).page
    held: list[Route] = []
    page.route("**/page/*.js", lambda route: held.append(route), times=1)
    page.goto(served.url, wait_until="commit")
    expect(page.get_by_text("The page is loading.")).to_be_visible()
    held.pop().continue_()
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    expect(page.get_by_text("The page is loading.")).to_have_count(0)
