"""A slow network, a page that the browser froze, and two tabs that approve the same change."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.scripted import serving_page
from tests.e2e.web.test_accessibility import APPROVAL
from tests.e2e.web.test_events import slowly
from tests.e2e.web.test_lost_line import quick, said

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]
expect.set_options(timeout=SECONDS)

SLOW = {"offline": False, "latency": 1500, "downloadThroughput": 30_000, "uploadThroughput": 10_000}
"""Milliseconds, and bytes a second: a phone at the edge of its network."""

STANDS_STILL = """
new MutationObserver((_, observer) => {
  if (!document.querySelector(".question-form")) return;
  observer.disconnect();
  console.log("the question came");
  for (const end = performance.now() + 3000; performance.now() < end; ) continue;
}).observe(document, { childList: true, subtree: true });
"""
"""The page stands still for three seconds before it draws a question, as on a machine that has much else to do."""

CLICKS_AT_ONCE = """(name) => new MutationObserver((_, observer) => {
  const button = [...document.querySelectorAll(".approval button")].find((each) => each.textContent.startsWith(name));
  if (!button) return;
  observer.disconnect();
  button.click();
  console.log("clicked");
}).observe(document, { childList: true, subtree: true })"""
"""A click that was meant for what stood there before."""

APPROVED: list[str] = []


async def change(part):
    await part.begin()
    if any(each.HasField("data") for each in part.context.message.parts):
        APPROVED.append(part.context.message.message_id)
        await part.gate()
        await part.say("It was deleted.")
        await part.status("COMPLETED")
        return
    question = {"text": "May I delete the repository?"}
    await part.status("INPUT_REQUIRED", parts=[question, {"data": {"form": APPROVAL, "origin": "github"}}])


async def asks(part):
    if part.context.current_task is None:
        await part.begin()
        await part.gate()
    await change(part)


@pytest.fixture(scope="module")
def served():
    with serving_page({"quick": quick, "slowly": slowly, "change": change, "asks": asks}) as page:
        yield page


def test_on_a_slow_network_a_message_is_answered_once(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", SLOW)
    tab.ask("quick on a slow line")
    expect(page.locator(".bubble")).to_have_text("quick on a slow line")
    expect(page.get_by_text("You said: quick on a slow line")).to_be_visible()
    page.reload()
    expect(page.get_by_text("You said: quick on a slow line")).to_have_count(1)
    assert said(page) == ["quick on a slow line"]


def test_a_page_that_was_frozen_while_the_agent_worked_shows_the_answer_when_it_wakes(served, open_tab):
    served.close_gate()
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("slowly please")
    expect(page.get_by_text("The first half")).to_be_visible()
    session = page.context.new_cdp_session(page)
    session.send("Page.setWebLifecycleState", {"state": "frozen"})
    served.open_gate()
    other = open_tab(served.url).page
    other.locator(".entry", has_text="slowly please").click()
    expect(other.get_by_text("The first half and the second half.")).to_be_visible()
    session.send("Page.setWebLifecycleState", {"state": "active"})
    expect(page.get_by_text("The first half and the second half.")).to_have_count(1)
    expect(page.locator(".line.lost")).to_have_count(0)


def test_two_tabs_that_approve_the_same_change_have_it_made_once(served, open_tab):
    served.close_gate()
    APPROVED.clear()
    tab = open_tab(served.url)
    tab.expected = ("400",)
    page = tab.page
    tab.ask("change please")
    expect(page.get_by_role("button", name="Send it")).to_be_enabled()
    twin = tab.another()
    kept = page.evaluate("JSON.stringify({ ...sessionStorage })")
    twin.add_init_script(f"Object.entries({kept}).forEach(([name, value]) => sessionStorage[name] = value)")
    twin.goto(page.url)
    expect(twin.get_by_role("button", name="Send it")).to_be_enabled()
    both = [each.get_by_role("button", name="Send it").element_handle() for each in (page, twin)]
    for button in both:
        button.evaluate("(each) => void setTimeout(() => each.click())")
    served.open_gate()
    for each in (page, twin):
        expect(each.get_by_text("It was deleted.")).to_have_count(1)
        expect(each.get_by_role("button", name="Send it")).to_have_count(0)
    assert len(APPROVED) == 1


@pytest.mark.parametrize("written", ["", "quick one more"])
def test_enter_that_was_pressed_before_a_question_was_drawn_does_not_answer_it(served, open_tab, written):
    served.close_gate()
    APPROVED.clear()
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("asks later")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.keyboard.type(written)
    page.evaluate(f"() => {{ {STANDS_STILL} }}")
    with page.expect_console_message(lambda message: message.text == "the question came"):
        served.open_gate()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Send it")).to_be_visible()
    assert page.locator(".bubble").all_inner_texts() == ["asks later"]
    assert APPROVED == []
    if written:
        expect(page.get_by_label("Say something else", exact=True)).to_have_value(written)


@pytest.mark.parametrize("name", ["Send it", "No, do nothing"])
def test_a_click_where_an_approval_has_just_appeared_does_not_answer_it_and_a_later_one_does(
    served, open_tab, name
):
    served.close_gate()
    APPROVED.clear()
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("asks later")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.evaluate(CLICKS_AT_ONCE, name)
    with page.expect_console_message(lambda message: message.text == "clicked"):
        served.open_gate()
    button = page.get_by_role("button", name=name)
    expect(button).to_be_enabled()
    assert APPROVED == []
    assert page.locator(".bubble").all_inner_texts() == ["asks later"]
    button.click()
    expect(page.get_by_role("button", name="Send it")).to_have_count(0)
    expect(page.get_by_text("It was deleted.")).to_be_visible()
    assert len(APPROVED) == 1


def test_a_double_click_on_send_does_not_stop_what_it_sent(served, open_tab):
    served.close_gate()
    page = open_tab(served.url).page
    page.get_by_label("Message", exact=True).fill("slowly please")
    page.get_by_role("button", name="Send", exact=True).dblclick()
    expect(page.get_by_text("The first half")).to_be_visible()
    served.open_gate()
    expect(page.get_by_text("The first half and the second half.")).to_be_visible()
    expect(page.get_by_text("Stopped.")).to_have_count(0)
    assert said(page) == ["slowly please"]
