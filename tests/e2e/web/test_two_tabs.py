"""Two tabs on one conversation: what is said in one stands in the other at once."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.scripted import serving_page
from tests.e2e.web.test_events import form, slowly

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]
expect.set_options(timeout=SECONDS)

STILL = """
const timers = setInterval;
window.setInterval = (call, pause) => timers(() => undefined, pause);
addEventListener("focus", (event) => event.stopImmediatePropagation(), true);
"""
"""A page that does not look by itself, after a time or when it is seen again, whether something is new."""


async def words(part):
    await part.begin()
    if part.said.startswith("words"):
        await part.status("INPUT_REQUIRED", parts=[{"text": "Do you want tea?"}])
        return
    await part.say(f"You want {part.said}.")
    await part.status("COMPLETED")


@pytest.fixture(scope="module")
def served():
    with serving_page({"slowly": slowly, "form": form, "words": words}) as page:
        yield page


def test_what_is_sent_in_one_tab_stands_in_the_other_without_a_reload(served, open_tab):
    served.close_gate()
    tab = open_tab(served.url)
    tab.expected = ("400",)  # the other tab may begin to follow a task in the moment in which it ends
    tab.ask("form please")
    expect(tab.page.get_by_text("painter asks", exact=True)).to_be_visible()
    second = tab.another()
    second.add_init_script(STILL)
    second.goto(tab.page.url)
    expect(second.get_by_text("painter asks", exact=True)).to_be_visible()
    tab.page.get_by_label("Colour").select_option("green")
    tab.page.get_by_role("button", name="Send").first.click()
    expect(second.get_by_text("Thank you.")).to_be_visible()
    expect(second.get_by_text("painter asks", exact=True)).to_have_count(0)
    tab.ask("slowly please")
    expect(second.locator(".bubble", has_text="slowly please")).to_be_visible()
    expect(second.get_by_text("The first half")).to_be_visible()
    expect(second.get_by_role("button", name="Stop")).to_be_visible()
    served.open_gate()
    for page in (tab.page, second):
        expect(page.get_by_text("The first half and the second half.")).to_have_count(1)
        expect(page.locator(".bubble")).to_have_count(3)


def test_a_task_that_ends_between_its_reading_and_its_following_is_shown_as_it_ended(served, open_tab):
    served.close_gate()
    tab = open_tab(served.url)
    tab.expected = ("400",)
    tab.ask("slowly please")
    expect(tab.page.get_by_text("The first half")).to_be_visible()
    second = tab.another()
    second.add_init_script(STILL)
    held: list[Route] = []
    second.route("**/rest/tasks/*:subscribe", lambda route: held.append(route))
    with second.expect_request("**/rest/tasks/*:subscribe"):
        second.goto(tab.page.url)
    served.open_gate()
    expect(tab.page.get_by_text("The first half and the second half.")).to_be_visible()
    held[0].continue_()
    expect(second.get_by_text("The first half and the second half.")).to_be_visible()
    expect(second.get_by_text("The task has ended")).to_have_count(0)


def test_a_conversation_that_begins_in_one_tab_is_listed_in_the_other(served, open_tab):
    served.open_gate()
    tab = open_tab(served.url)
    second = tab.another()
    second.add_init_script(STILL)
    second.goto(served.url)
    expect(second.get_by_label("Message", exact=True)).to_be_visible()
    tab.ask("slowly and listed")
    expect(second.locator(".entry", has_text="slowly and listed")).to_be_visible()


DEAF = "window.BroadcastChannel = class { postMessage() {} };"
"""A tab that hears nothing of the others, as one of another browser."""


def test_an_answer_that_comes_after_another_persons_is_given_back_and_the_page_says_so(served, open_tab):
    tab = open_tab(served.url)
    tab.expected = ("400",)
    tab.ask("words please")
    expect(tab.page.get_by_text("Do you want tea?")).to_be_visible()
    second = tab.another()
    second.add_init_script(DEAF + STILL)
    second.goto(tab.page.url)
    second.get_by_label("Your answer", exact=True).fill("black, with much milk")
    tab.page.get_by_label("Your answer", exact=True).fill("green")
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_text("You want green.")).to_be_visible()
    second.keyboard.press("Enter")
    expect(second.get_by_text("You want green.")).to_be_visible()
    expect(second.locator(".line")).to_contain_text(
        "Your answer was not taken: the question is no longer open."
    )
    expect(second.get_by_label("Message", exact=True)).to_have_value("black, with much milk")


def test_a_choice_that_comes_after_another_persons_is_said_to_be_late_and_nothing_to_be_in_the_input(
    served, open_tab
):
    tab = open_tab(served.url)
    tab.expected = ("400",)
    tab.ask("form please")
    expect(tab.page.get_by_text("painter asks", exact=True)).to_be_visible()
    second = tab.another()
    second.add_init_script(DEAF + STILL)
    second.goto(tab.page.url)
    second.get_by_label("Colour").select_option("red")
    tab.page.get_by_label("Colour").select_option("green")
    tab.page.get_by_role("button", name="Send").first.click()
    expect(tab.page.get_by_text("Thank you.")).to_be_visible()
    second.get_by_role("button", name="Send").first.click()
    late = "Your answer was not taken: the question is no longer open."
    expect(second.locator(".line")).to_have_text(late)
    expect(second.get_by_label("Message", exact=True)).to_have_value("")
    expect(second.locator("[role=status]")).to_have_text(late)
