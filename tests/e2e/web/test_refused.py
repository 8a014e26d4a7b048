"""What a proxy or a login in front of the agent refuses: the reader learns why, and no message is lost, hidden or sent twice."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.web.chromium import SECONDS, Tab
from tests.e2e.web.scripted import serving_page
from tests.e2e.web.test_events import slowly
from tests.e2e.web.test_lost_line import LISTED, SENT, is_redirected, quick, said
from tests.e2e.web.test_service import complaints

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]
expect.set_options(timeout=SECONDS)

REST = "**/rest/**"
PORTAL = "Your login has ended. Log in again: this page then goes on by itself, and nothing that you wrote is lost."
FOCUS = "dispatchEvent(new Event('focus'))"


@pytest.fixture(scope="module")
def served():
    with serving_page({"quick": quick, "slowly": slowly}) as page:
        yield page


@pytest.fixture
def refusing(served, open_tab) -> tuple[Tab, Page]:
    tab = open_tab(served.url)
    tab.expected = ("Failed to load resource", "net::ERR")
    return tab, tab.page


def refuse(page: Page, status: int, where: str = SENT) -> None:
    """As a proxy does, whose answer is none of an agent's."""
    page.route(
        where, lambda route: route.fulfill(status=status, content_type="text/html", body="<h1>No</h1>")
    )


@pytest.mark.parametrize("status", [403, 404, 413])
def test_a_first_message_that_a_proxy_refused_is_there_after_a_reload_with_the_reason(refusing, status):
    tab, page = refusing
    refuse(page, status)
    tab.ask("quick and refused")
    reason = f"This was refused between the page and the agent, for example by a proxy: {status}"
    expect(page.locator(".outcome.failed")).to_contain_text(reason)
    assert complaints(page) == []
    entry = page.locator(".entry", has_text="quick and refused").filter(has_text="not sent")
    expect(entry).to_have_attribute("data-current", "true")
    page.unroute(SENT)
    page.get_by_role("button", name="New conversation").click()
    entry.first.click()
    page.reload()
    expect(page.locator(".outcome.failed")).to_contain_text(reason)
    assert said(page) == ["quick and refused"], "a message that was refused is not sent by itself"
    page.get_by_role("button", name="Ask again").click()
    expect(page.get_by_text("You said: quick and refused")).to_be_visible()
    page.reload()
    expect(page.get_by_text("You said: quick and refused")).to_be_visible()
    expect(page.locator(".entry .badge.unsent")).to_have_count(0)
    assert said(page) == ["quick and refused"]


def test_a_message_that_was_taken_although_a_proxy_refused_it_stands_there_once_with_its_answer(refusing):
    tab, page = refusing

    def taken(route) -> None:
        route.fetch()
        route.fulfill(status=403, body="no")

    page.route(SENT, taken)
    tab.ask("quick and taken")
    expect(page.locator(".outcome.failed")).to_be_visible()
    page.evaluate(FOCUS)
    expect(page.get_by_text("You said: quick and taken")).to_be_visible()
    assert said(page) == ["quick and taken"]
    page.reload()
    expect(page.get_by_text("You said: quick and taken")).to_have_count(1)
    assert said(page) == ["quick and taken"]


def test_a_refused_message_does_not_hide_what_is_said_in_another_tab(refusing):
    tab, page = refusing
    tab.ask("quick one")
    expect(page.get_by_text("You said: quick one")).to_be_visible()
    refuse(page, 403)
    tab.ask("quick two")
    expect(page.locator(".outcome.failed")).to_be_visible()
    second = tab.another()
    second.goto(page.url)
    second.get_by_label("Message", exact=True).fill("quick three")
    second.keyboard.press("Enter")
    expect(second.get_by_text("You said: quick three")).to_be_visible()
    expect(page.get_by_text("You said: quick three")).to_be_visible()


def test_a_task_that_could_not_be_followed_for_a_while_is_shown_as_it_ended(refusing, served):
    tab, page = refusing
    served.close_gate()
    tab.ask("slowly please")
    expect(page.get_by_text("The first half")).to_be_visible()
    refuse(page, 404, "**/rest/tasks/*")
    refuse(page, 404, "**/rest/tasks/*:subscribe")
    page.reload()
    expect(page.locator(".outcome.failed")).to_contain_text("404")
    page.unroute("**/rest/tasks/*")
    page.unroute("**/rest/tasks/*:subscribe")
    page.evaluate(FOCUS)
    expect(page.locator(".outcome.failed")).to_have_count(0)
    served.open_gate()
    expect(page.get_by_text("The first half and the second half.")).to_be_visible()
    expect(page.locator(".outcome.failed")).to_have_count(0)


def test_a_portal_whose_session_ended_is_named_and_the_message_is_sent_after_the_login(refusing):
    tab, page = refusing
    page.route(REST, is_redirected)
    tab.ask("quick through a portal")
    expect(page.locator(".line.lost")).to_contain_text(PORTAL)
    link = page.get_by_role("link", name="Log in in a new tab")
    expect(link).to_have_attribute("href", f"{tab.origin}/")
    expect(link).to_have_attribute("target", "_blank")
    assert complaints(page) == []
    page.unroute(REST)
    expect(page.get_by_text("You said: quick through a portal")).to_be_visible()
    expect(page.locator(".line.lost")).to_have_count(0)
    assert said(page) == ["quick through a portal"]


def test_a_portal_whose_session_ended_is_named_before_anything_is_sent(refusing):
    tab, page = refusing
    tab.ask("quick before")
    expect(page.get_by_text("You said: quick before")).to_be_visible()
    page.route(LISTED, is_redirected)
    page.evaluate(FOCUS)
    expect(page.locator(".line.lost")).to_contain_text(PORTAL)
    page.unroute(LISTED)
    page.evaluate(FOCUS)
    expect(page.locator(".line.lost")).to_have_count(0)


def test_a_portal_that_answers_401_in_front_of_an_open_agent_is_named_and_the_message_is_sent(refusing):
    tab, page = refusing
    expect(page.get_by_text("Everybody who reaches this address")).to_be_visible()  # the card was read
    refuse(page, 401, REST)
    tab.ask("quick after the login")
    link = page.get_by_role("link", name="Log in in a new tab")
    expect(link).to_have_attribute("href", f"{tab.origin}/")
    expect(page.locator(".lead")).to_contain_text("a proxy in front of it seems to want a login")
    assert complaints(page) == []
    page.unroute(REST)
    page.evaluate(FOCUS)
    expect(page.get_by_text("You said: quick after the login")).to_be_visible()
    assert said(page) == ["quick after the login"]
