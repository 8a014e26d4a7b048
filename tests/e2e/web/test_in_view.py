"""What a person sees without scrolling: the beginning of an answer, what can be done with it, and what a question is about."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.scripted import serving_page

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]
expect.set_options(timeout=SECONDS)

LONG = "\n\n".join(f"Paragraph {number} of the answer." for number in range(80))
WHOLLY = 1.0
ROUNDED = 1
"""Pixels: an edge stands on a part of one."""


async def long(part):
    await part.begin()
    await part.say(f"The beginning of {part.said}.\n\n{LONG}\n\nThe end of {part.said}.")
    await part.status("COMPLETED")


async def asks(part):
    await part.begin()
    if part.said == "main":
        await part.say("Thank you.")
        await part.status("COMPLETED")
        return
    await part.activity(kind="tool_started", call_id="c1", tool="list_branches", arguments="")
    await part.activity(kind="tool_finished", call_id="c1", tool="list_branches", status="ok", seconds=0.1)
    await part.status("INPUT_REQUIRED", parts=[{"text": "Which branch do you mean?"}])


@pytest.fixture(scope="module")
def served():
    with serving_page({"long": long, "asks": asks}) as page:
        yield page


def edge(shown: Locator, side: str) -> float:
    """Where an edge of what is shown stands, in pixels from the top of the window."""
    return float(shown.evaluate("(each, side) => each.getBoundingClientRect()[side]", side))


def test_the_first_answer_of_a_conversation_is_read_from_its_beginning(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("long one")
    expect(page.get_by_text("The end of long one.")).to_be_attached()
    expect(page.get_by_role("button", name="Copy answer")).to_be_attached()
    expect(page.get_by_role("button", name="Jump to the latest message")).to_be_visible()
    expect(page.get_by_text("The beginning of long one.")).to_be_in_viewport(ratio=WHOLLY)
    expect(page.locator(".bubble")).to_be_in_viewport(ratio=WHOLLY)


def test_a_conversation_that_is_opened_again_is_shown_at_its_end(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("long two")
    expect(page.get_by_role("button", name="Copy answer")).to_be_attached()
    page.reload()
    expect(page.get_by_text("The end of long two.")).to_be_in_viewport(ratio=WHOLLY)


def test_what_can_be_done_with_the_last_answer_is_drawn_without_a_pointer_on_it(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    for turn in range(2):
        tab.ask(f"long {turn}")
        expect(page.get_by_text(f"The end of long {turn}.")).to_be_attached()
        expect(page.get_by_role("button", name="Ask again")).to_have_count(turn + 1)
    actions = page.locator(".said .actions")
    expect(actions.last).to_have_css("opacity", "1")
    expect(actions.first).to_have_css("opacity", "0")


def test_a_question_comes_with_the_request_that_it_is_about_in_view(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("long three")
    expect(page.get_by_role("button", name="Ask again")).to_have_count(1)
    tab.ask("asks of me")
    question = page.get_by_role("region", name="The agent asks")
    expect(question).to_be_visible()
    request = page.locator(".bubble", has_text="asks of me")
    expect(request).to_be_in_viewport(ratio=WHOLLY)
    expect(page.get_by_role("button", name="Jump to the latest message")).to_have_count(0)
    assert edge(request, "top") >= edge(page.locator(".header"), "bottom") - ROUNDED
    assert edge(request, "bottom") <= edge(question, "top") + ROUNDED


def test_on_a_phone_the_work_can_be_opened_while_the_agent_waits_for_an_answer(served, open_tab):
    tab = open_tab(served.url, width=360, height=740)
    page = tab.page
    tab.ask("asks of me")
    expect(page.get_by_role("region", name="The agent asks")).to_be_visible()
    expect(page.get_by_role("heading", name="Answer", exact=True)).to_have_count(0)
    page.locator("summary.work-line").click()
    expect(page.locator(".work-inline").get_by_text("list_branches")).to_be_visible()
    page.get_by_label("Your answer").fill("main")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Thank you.")).to_be_visible()
    expect(page.get_by_role("heading", name="Answer", exact=True)).to_have_count(2)
