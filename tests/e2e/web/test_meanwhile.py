"""What happens on the page while a message, an answer or a stop is on its way: nothing goes where it was not meant for, and no word is lost."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.e2e.web.chromium import SECONDS, Tab
from tests.e2e.web.scripted import serving_page
from tests.e2e.web.test_events import form, slowly
from tests.e2e.web.test_lost_line import CANCELED, SENT, quick, said, which
from tests.e2e.web.test_two_tabs import DEAF, STILL, words

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]
expect.set_options(timeout=SECONDS)

HELD_FILES = """
const read = FileReader.prototype.readAsDataURL;
FileReader.prototype.readAsDataURL = function (file) {
  console.log("reads a file");
  window.release = () => read.call(this, file);
};
"""
CHANGED = """
new BroadcastChannel(`conversations ${location.origin}`).postMessage({ changed: location.hash.slice("#/c/".length) })
"""
"""Another tab says that something was said in the open conversation."""

TASK = "**/rest/tasks/*"
FOLLOWED = "**/rest/tasks/*:subscribe"


@pytest.fixture(scope="module")
def served():
    scripts = {"quick": quick, "slowly": slowly, "form": form, "which": which, "words": words}
    with serving_page(scripts) as page:
        yield page


@pytest.fixture(autouse=True)
def gate(served):
    served.close_gate()
    yield
    served.open_gate()


def twin(tab: Tab, script: str) -> Page:
    """A second tab at what the first one shows."""
    second = tab.another()
    second.add_init_script(script)
    second.goto(tab.page.url)
    return second


def reply(page: Page):
    return page.get_by_label("Your answer", exact=True)


def box(page: Page):
    return page.get_by_label("Message", exact=True)


def test_what_is_said_in_another_tab_is_shown_while_a_message_waits_to_be_taken(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("quick one")
    expect(page.get_by_text("You said: quick one")).to_be_visible()
    second = twin(tab, STILL)
    expect(second.get_by_text("You said: quick one")).to_be_visible()
    held: list[Route] = []
    second.route(SENT, lambda route: held.append(route))
    box(second).fill("quick mine")
    with second.expect_request(SENT):
        second.keyboard.press("Enter")
    tab.ask("quick other")
    expect(second.get_by_text("You said: quick other")).to_be_visible()
    held.pop().continue_()
    expect(second.get_by_text("You said: quick mine")).to_be_visible()
    assert sorted(said(second)) == ["quick mine", "quick one", "quick other"]


def test_a_message_that_the_agent_has_and_the_page_does_not_know_of_yet_is_not_shown_twice(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    page.add_init_script(STILL)
    page.reload()

    def taken(route: Route) -> None:
        route.fetch()
        page.evaluate("window.taken = true")

    page.route(SENT, taken, times=1)
    tab.ask("quick and taken")
    page.wait_for_function("() => window.taken")
    with page.expect_response(lambda answer: "contextId=" in answer.url):
        page.evaluate(CHANGED)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    assert said(page) == ["quick and taken"]


def test_a_stop_goes_to_the_message_that_was_under_way_when_it_was_wanted(served, open_tab):
    served.open_gate()
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("slowly one")
    expect(page.get_by_text("The first half and the second half.")).to_be_visible()
    served.close_gate()
    held: list[Route] = []
    page.route(SENT, lambda route: held.append(route), times=1)
    with page.expect_request(SENT):
        tab.ask("slowly two")
    page.keyboard.press("Escape")
    expect(page.get_by_text("It is stopped as soon as the agent answers")).to_be_visible()
    page.get_by_role("button", name="Ask again").click()
    expect(page.get_by_text("The first half", exact=True)).to_have_count(1)
    held.pop().continue_()
    expect(page.get_by_text("Stopped.")).to_have_count(1)
    served.open_gate()
    answers = page.locator(".message.said")
    expect(answers).to_have_count(3)
    expect(answers.nth(1)).to_contain_text("Stopped.")
    expect(answers.nth(2)).to_contain_text("The first half and the second half.")
    expect(answers.nth(2)).not_to_contain_text("Stopped.")


def test_a_stop_that_is_on_its_way_when_the_question_is_answered_is_taken_back(served, open_tab):
    tab = open_tab(served.url)
    tab.expected = ("net::ERR",)
    page = tab.page
    tab.ask("which is it")
    expect(reply(page)).to_be_visible()
    held: list[Route] = []
    page.route(CANCELED, lambda route: held.append(route))
    with page.expect_request(CANCELED):
        page.get_by_role("button", name="Never mind").click()
    reply(page).fill("the last one")
    with page.expect_event("requestfailed", lambda request: request.url.endswith(":cancel")):
        reply(page).press("Enter")
    served.open_gate()
    expect(page.get_by_text("It was found.")).to_be_visible()


def test_a_question_that_was_cancelled_in_one_tab_is_gone_in_the_other(served, open_tab):
    tab = open_tab(served.url)
    tab.ask("words please")
    expect(reply(tab.page)).to_be_visible()
    second = twin(tab, STILL)
    expect(reply(second)).to_be_visible()
    tab.page.get_by_role("button", name="Never mind").click()
    for page in (tab.page, second):
        expect(page.get_by_text("Stopped.")).to_be_visible()
        expect(reply(page)).to_have_count(0)


def test_words_for_a_question_that_was_answered_elsewhere_since_it_was_drawn_are_not_sent(served, open_tab):
    tab = open_tab(served.url)
    tab.ask("which is it")
    expect(reply(tab.page)).to_be_visible()
    second = tab.another()
    second.add_init_script(STILL)
    second.clock.install()
    second.goto(tab.page.url)
    reply(second).fill("the last one")
    sent: list[Request] = []
    second.on(
        "request", lambda request: sent.append(request) if request.url.endswith("message:stream") else None
    )
    second.clock.pause_at(second.evaluate("Date.now() + 1000"))
    with second.expect_response(FOLLOWED):
        reply(tab.page).fill("the first one")
        tab.page.keyboard.press("Enter")
    expect(reply(second)).to_be_visible()
    reply(second).press("Enter")
    second.clock.run_for(1000)
    expect(second.locator(".line")).to_contain_text(
        "Your answer was not taken: the question is no longer open."
    )
    expect(box(second)).to_have_value("the last one")
    second.clock.resume()
    served.open_gate()
    expect(second.get_by_text("It was found.")).to_be_visible()
    assert sent == []
    assert said(second) == ["which is it", "the first one"]


@pytest.mark.parametrize("elsewhere", [False, True])
def test_words_that_were_not_taken_come_back_beside_what_was_typed_since(served, open_tab, elsewhere):
    tab = open_tab(served.url)
    tab.expected = ("400",)
    tab.ask("words please")
    expect(reply(tab.page)).to_be_visible()
    second = twin(tab, DEAF + STILL)
    reply(second).fill("black, with much milk")
    reply(tab.page).fill("green")
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_text("You want green.")).to_be_visible()
    held: list[Route] = []
    second.route(SENT, lambda route: held.append(route), times=1)
    with second.expect_request(SENT):
        second.keyboard.press("Enter")
    box(second).fill("and a cake")
    if elsewhere:
        second.get_by_role("button", name="New conversation").click()
        expect(second.get_by_role("heading", name="What do you want to know?")).to_be_visible()
    with second.expect_response(TASK):
        held.pop().continue_()
    if elsewhere:
        second.go_back()
    expect(second.get_by_text("You want green.")).to_be_visible()
    expect(box(second)).to_have_value("black, with much milk\n\nand a cake")


def test_words_of_an_answer_that_was_not_taken_are_there_after_a_reload(served, open_tab):
    tab = open_tab(served.url)
    tab.expected = ("net::ERR",)
    page = tab.page
    tab.ask("words please")
    reply(page).fill("green")
    page.route(SENT, lambda _: None, times=1)
    with page.expect_request(SENT):
        page.keyboard.press("Enter")
    page.reload()
    expect(reply(page)).to_have_value("green")
    reply(page).press("Enter")
    expect(page.get_by_text("You want green.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("You want green.")).to_be_visible()
    expect(box(page)).to_have_value("")


def test_words_of_an_answer_that_was_taken_are_not_in_the_input_after_a_reload(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("words please")
    reply(page).fill("green")

    def taken(route: Route) -> None:
        route.fetch()
        page.evaluate("window.taken = true")

    page.route(SENT, taken, times=1)
    page.keyboard.press("Enter")
    page.wait_for_function("() => window.taken")
    page.reload()
    expect(page.get_by_text("You want green.")).to_be_visible()
    expect(box(page)).to_have_value("")


def test_a_message_whose_file_was_still_read_goes_into_the_conversation_in_which_it_was_written(
    served, open_tab
):
    tab = open_tab(served.url)
    page = tab.page
    page.add_init_script(HELD_FILES)
    page.reload()
    tab.ask("quick one")
    expect(page.get_by_text("You said: quick one")).to_be_visible()
    first = page.url
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Add a file").click()
    chosen.value.set_files([{"name": "notes.txt", "mimeType": "text/plain", "buffer": b"notes"}])
    expect(page.get_by_text("notes.txt")).to_be_visible()
    with page.expect_console_message(lambda message: message.text == "reads a file"):
        tab.ask("quick with a file")
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_role("heading", name="What do you want to know?")).to_be_visible()
    with page.expect_request(SENT):
        page.evaluate("window.release()")
    expect(page.get_by_role("heading", name="What do you want to know?")).to_be_visible()
    assert said(page) == []
    page.goto(first)
    expect(page.get_by_text("You said: quick with a file")).to_be_visible()


def test_while_a_question_waits_nothing_is_asked_again(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("quick one")
    expect(page.get_by_role("button", name="Ask again")).to_have_count(1)
    tab.ask("words please")
    expect(reply(page)).to_be_visible()
    expect(page.get_by_role("button", name="Ask again")).to_have_count(0)
    reply(page).fill("green")
    reply(page).press("Enter")
    expect(page.get_by_role("button", name="Ask again")).to_have_count(2)
