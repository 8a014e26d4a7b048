"""The page in a browser, with the whole service behind it: what a user does on the first day."""

from __future__ import annotations

import os
import re
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.npm import axe
from tests.e2e.web.service import Service, whole_service

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]
expect.set_options(timeout=SECONDS)

BOTH = "How do I add a sub-agent, and which pull requests are open in octocat/hello-world?"
CHANGE = 'Create an issue in octocat/hello-world titled "Disk full" with the body "No space left"'
PICTURES = os.environ.get("PICTURES")
"""Folder for pictures of the documentation; none are made without it."""


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with whole_service(tmp_path_factory.mktemp("service")) as found:
        yield found


def picture(page: Page, name: str) -> None:
    if PICTURES:
        page.wait_for_timeout(400)
        page.screenshot(path=Path(PICTURES) / f"{name}.png")


def complaints(page: Page) -> list[str]:
    """What axe finds wrong with the page as it is now."""
    page.evaluate(axe())
    found = page.evaluate(
        "axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations.map("
        "(each) => each.id + ': ' + each.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')))"
    )
    return [str(each) for each in found]


def rest(service: Service, path: str) -> httpx.Response:
    return httpx.get(f"{service.url}/rest{path}", headers={"A2A-Version": "1.0"}, trust_env=False)


def answered(page: Page) -> None:
    expect(page.get_by_role("button", name="Copy answer").last).to_be_visible()


def test_a_newcomer_sees_who_is_there_and_asks_with_one_click(service, open_tab):
    tab = open_tab(service.url, color_scheme="light")
    page = tab.page
    paint = page.evaluate(
        "new Promise((done) => new PerformanceObserver((list) => list.getEntriesByName('first-contentful-paint')"
        ".forEach((each) => done(each.startTime))).observe({ type: 'paint', buffered: true }))"
    )
    loaded = page.evaluate(
        "performance.getEntriesByType('resource').filter((each) => each.name.includes('/page/')).reduce((sum, each) => sum + each.encodedBodySize, 0)"
    )
    print(f"first paint after {paint:.0f} ms; {loaded / 1000:.0f} kB compressed")
    assert loaded < 350_000
    for name in ("github", "rag"):
        expect(page.locator(".agent-name", has_text=name)).to_be_visible()
    assert complaints(page) == []
    picture(page, "web-welcome")
    page.get_by_role("button", name="How do I add a sub-agent?", exact=True).first.click()
    answered(page)
    page.get_by_role("button", name="1 How do I add an agent?").click()
    expect(page.locator(".passage")).to_contain_text("docs/faq.md#how-do-i-add-an-agent")
    expect(page.locator(".passage")).to_contain_text("make new-agent NAME=jira")
    assert complaints(page) == []


def test_two_agents_work_at_one_request_and_each_call_tells_what_it_did(service, open_tab):
    tab = open_tab(service.url)
    page = tab.page
    tab.ask(BOTH)
    answered(page)
    work = page.get_by_role("complementary", name="Work")
    expect(work.locator(".plan li")).to_have_count(2)
    expect(work.locator(".call.agent > details .name")).to_have_text(["rag", "github"])
    call = work.locator(".call.tool", has_text="list_pull_requests")
    call.locator("summary").click()
    for told in ("platform-engineer › github", 'owner="octocat"', "succeeded"):
        expect(call).to_contain_text(told)
    expect(call.locator(".result")).to_contain_text("pull requests")
    expect(work.locator(".usage tbody tr")).to_have_count(3)
    expect(work.locator(".ids p", has_text="Trace").locator("code")).to_have_text(
        re.compile("^[0-9a-f]{32}$")
    )
    work.get_by_role("button", name="Copy trace id").click()
    expect(work.locator(".gauge")).to_have_attribute(
        "aria-label", re.compile(r"^\d % of the context is used$")
    )
    assert complaints(page) == []
    for pane in (".viewport", ".side-work"):
        page.locator(pane).evaluate("(pane) => { pane.scrollTop = 0; }")
    picture(page, "web-two-agents")


def test_the_rules_that_a_page_can_see_are_kept(service, open_tab):
    tab = open_tab(service.url)
    tab.expected = ("400", "404")
    page = tab.page
    tab.ask("How do I add a sub-agent?")
    answered(page)
    tasks = rest(service, "/tasks").json()["totalSize"]
    page.get_by_role("button", name="Card, events and rules").click()
    page.get_by_role("tab", name="Rules").click()
    expect(page.get_by_text("13 pass, 0 fail, 0 skipped")).to_be_visible()
    expect(page.locator(".rules tbody tr")).to_have_count(13)
    expect(page.get_by_text(f"platform-engineer conformance {service.url}", exact=True)).to_be_visible()
    assert complaints(page) == []
    assert rest(service, "/tasks").json()["totalSize"] == tasks, "a look is no question"
    picture(page, "web-rules")


def test_a_change_is_sent_only_after_a_yes(service, open_tab):
    tab = open_tab(service.url)
    page = tab.page
    tab.ask(CHANGE)
    expect(page.get_by_text("github asks for your approval")).to_be_visible()
    expect(page.locator(".asked-text")).to_contain_text("Disk full")
    expect(page.locator(".badge.waiting")).to_be_visible()
    expect(page.get_by_role("button", name="Send it")).to_be_enabled()
    assert complaints(page) == []
    picture(page, "web-approval")
    page.reload()
    expect(page.get_by_text("github asks for your approval")).to_be_visible()
    page.get_by_role("button", name="No, do nothing").click()
    expect(page.locator(".bubble", has_text="Not approved")).to_be_visible()
    answered(page)
    assert "It was approved and sent." not in page.locator(".thread").inner_text()
    tab.ask(CHANGE)
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_text("It was approved and sent.", exact=True)).to_be_visible()


@pytest.mark.parametrize("begins", ["before the approval comes", "when it is there"])
def test_who_writes_when_an_approval_comes_goes_on_writing_and_approves_nothing(service, open_tab, begins):
    tab = open_tab(service.url)
    page = tab.page
    other = "and what is the newest commit of octocat/hello-world?"

    def first_writing(route: Route) -> None:
        if begins == "before the approval comes":
            page.get_by_label("Message", exact=True).press_sequentially(other[:9])
        route.continue_()

    page.route("**/message:stream", first_writing, times=1)
    tab.ask(CHANGE)
    expect(page.get_by_text("github asks for your approval")).to_be_visible()
    written = page.get_by_label("Say something else", exact=True)
    page.keyboard.type(other[9:] if begins == "before the approval comes" else other)
    expect(written).to_have_value(other)
    expect(written).to_be_focused()
    assert complaints(page) == []
    # An Enter that comes sooner is one that was meant for the input.
    expect(page.get_by_role("button", name="Send it")).to_be_enabled()
    page.keyboard.press("Enter")
    expect(page.locator(".bubble", has_text=other)).to_be_visible()
    answered(page)
    assert "It was approved and sent." not in page.locator(".thread").inner_text()


def test_something_else_is_written_where_it_was_opened(service, open_tab):
    tab = open_tab(service.url)
    page = tab.page
    tab.ask(CHANGE)
    expect(page.get_by_text("github asks for your approval")).to_be_visible()
    page.get_by_text("Say something else").click()
    expect(page.get_by_label("Say something else", exact=True)).to_be_focused()
    page.keyboard.type("and then")
    page.get_by_role("button", name="No, do nothing").click()
    answered(page)
    expect(page.get_by_label("Message", exact=True)).to_have_value("and then")


def test_another_browser_cannot_approve_and_the_one_that_asked_still_can(service, open_tab):
    tab = open_tab(service.url)
    page = tab.page
    tab.ask(CHANGE)
    expect(page.get_by_text("github asks for your approval")).to_be_visible()
    stranger = open_tab(service.url)
    stranger.expected = ("400",)
    other = stranger.page
    other.goto(page.url)
    other.get_by_role("button", name="Send it").click()
    expect(other.get_by_role("alert")).to_contain_text(
        "only the browser tab, terminal or program that sent the request can approve it. Answer there,"
    )
    expect(other.get_by_text("github asks for your approval")).to_be_visible()
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_text("It was approved and sent.", exact=True)).to_be_visible()
    other.bring_to_front()
    other.evaluate("dispatchEvent(new Event('focus'))")
    expect(other.get_by_text("It was approved and sent.", exact=True)).to_be_visible()
    expect(other.get_by_role("alert")).to_have_count(0)


def test_yesterdays_conversation_is_found_renamed_and_gone_on_with(service, open_tab):
    tab = open_tab(service.url)
    page = tab.page
    tab.ask("How many stars does octocat/hello-world have?")
    answered(page)
    address = page.url
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_role("heading", name="What do you want to know?")).to_be_visible()
    entry = page.locator(".entry", has_text="How many stars")
    entry.first.hover()
    entry.first.get_by_role("button", name="Rename").click()
    page.get_by_label("Name of the conversation").fill("Popularity")
    page.keyboard.press("Enter")
    elsewhere = open_tab(service.url).page
    expect(elsewhere.get_by_role("link", name="Popularity")).to_be_visible()
    page.get_by_role("link", name="Popularity").click()
    assert page.url == address
    expect(page.locator(".bubble", has_text="How many stars")).to_be_visible()
    tab.ask("and its license?")
    expect(page.get_by_role("button", name="Copy answer")).to_have_count(2)
    page.go_back()
    page.go_forward()
    expect(page.get_by_role("button", name="Copy answer")).to_have_count(2)


def test_a_deleted_conversation_is_gone_from_the_page_and_from_the_service(service, open_tab):
    tab = open_tab(service.url)
    page = tab.page
    tab.ask("How many forks does octocat/hello-world have?")
    answered(page)
    other = tab.another()
    other.goto(page.url)
    answered(other)
    other.get_by_label("Message", exact=True).fill("typed meanwhile")
    context_id = page.url.split("#/c/")[1]
    (task,) = rest(service, f"/tasks?contextId={context_id}").json()["tasks"]
    entry = page.locator(".entry", has_text="How many forks")
    entry.hover()
    entry.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("dialog")).to_contain_text("This cannot be undone.")
    assert complaints(page) == []
    picture(page, "web-delete")
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("heading", name="What do you want to know?")).to_be_visible()
    expect(entry).to_have_count(0)
    assert rest(service, f"/tasks/{task['id']}").status_code == 404
    assert not rest(service, f"/tasks?contextId={context_id}").json().get("tasks")
    missing = "There is no such conversation. It was deleted, or it is somebody else's."
    expect(other.locator("main").get_by_text(missing)).to_be_visible()
    expect(other.locator("[role=status].hidden")).to_have_text(missing)
    expect(other.get_by_role("button", name="Begin a new one")).to_be_focused()
    other.reload()
    other.get_by_role("button", name="Begin a new one").click()
    expect(other.get_by_role("heading", name="What do you want to know?")).to_be_visible()
    expect(other.get_by_label("Message", exact=True)).to_have_value("typed meanwhile")


def test_a_service_that_is_killed_and_started_again_answers_what_was_asked_meanwhile(service, open_tab):
    tab = open_tab(service.url)
    tab.expected = ("Failed to load resource", "net::ERR")
    page = tab.page
    tab.ask("How do I add a sub-agent?")
    answered(page)
    service.kill()
    tab.ask("Which pull requests are open in octocat/hello-world?")
    expect(page.locator(".line.lost")).to_be_visible()
    service.start()
    expect(page.get_by_role("button", name="Copy answer")).to_have_count(2)
    expect(page.locator(".message.said").last).to_contain_text("8 pull requests")
    expect(page.locator(".line.lost")).to_have_count(0)


def test_everything_can_be_reached_at_390_pixels(service, open_tab):
    tab = open_tab(service.url, 390, 800, color_scheme="dark", has_touch=True)
    page = tab.page
    tab.ask(BOTH)
    answered(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator(".work-line").last.click()
    expect(page.locator(".work .plan li")).to_have_count(2)
    assert complaints(page) == []
    picture(page, "web-phone")
    page.get_by_role("button", name="Conversations", exact=True).click()
    expect(page.get_by_role("button", name="New conversation")).to_be_visible()
    assert complaints(page) == []
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_role("heading", name="What do you want to know?")).to_be_visible()


def test_the_keyboard_alone_asks_reads_approves_and_opens(service, open_tab):
    tab = open_tab(service.url)
    page = tab.page
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
    page.keyboard.type(CHANGE)
    page.keyboard.press("Enter")
    expect(page.get_by_text("github asks for your approval")).to_be_visible()
    expect(
        page.get_by_role("button", name="Send it")
    ).to_be_enabled()  # what is typed sooner is not taken for an answer
    page.keyboard.press("Escape")
    expect(page.locator(".bubble", has_text="Not approved")).to_be_visible()
    answered(page)
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.add(
            page.evaluate(
                "document.activeElement?.getAttribute('aria-label') || document.activeElement?.textContent?.trim()"
            )
        )
    assert {
        "New conversation",
        "Message",
        "Card, events and rules",
        "Copy answer",
        "Conversation",
        "Work",
    } <= seen
