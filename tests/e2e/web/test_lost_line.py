"""A line that is lost, redirected or silent: nothing that was said is lost, doubled or out of order."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.web.chromium import SECONDS, Tab
from tests.e2e.web.scripted import serving_page
from tests.e2e.web.test_events import slowly

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]
expect.set_options(timeout=SECONDS)

SENT = "**/rest/message:stream"
LISTED = "**/rest/tasks?**"
CANCELED = "**/rest/tasks/*:cancel"
LOST = "The connection is lost. It is taken up again by itself."

HELD = """
const real = window.fetch;
let held = false;
window.fetch = async (input, init) => {
  const answer = await real(input, init);
  if (held || !String(input).includes("message:stream")) return answer;
  held = true;
  const first = await answer.body.getReader().read();
  const start = (body) => {
    body.enqueue(first.value);
    init.signal.addEventListener("abort", () => body.error(new DOMException("given up", "AbortError")));
  };
  return new Response(new ReadableStream({ start }), { status: answer.status, headers: answer.headers });
};
"""
"""The first stream brings its first chunk and then nothing, and stays open, as a proxy holds a dead connection."""

FORBIDDEN = """
Object.defineProperty(window, "{}", {{ get() {{ throw new DOMException("denied", "SecurityError"); }} }});
"""


async def quick(part):
    await part.begin()
    await part.say(f"You said: {part.said}")
    await part.status("COMPLETED")


async def which(part):
    await part.begin()
    if part.context.current_task is None:
        await part.status("INPUT_REQUIRED", parts=[{"text": "Which one?"}])
        return
    await part.gate()
    await part.say("It was found.")
    await part.status("COMPLETED")


@pytest.fixture(scope="module")
def served():
    with serving_page({"quick": quick, "slowly": slowly, "which": which}) as page:
        yield page


@pytest.fixture
def lost(served, open_tab) -> tuple[Tab, Page]:
    tab = open_tab(served.url)
    tab.expected = ("Failed to load resource", "net::ERR")
    return tab, tab.page


def gateway_fails(route: Route) -> None:
    route.fulfill(status=502, content_type="text/html", body="<h1>502 Bad Gateway</h1>")


def is_redirected(route: Route) -> None:
    route.fulfill(status=302, headers={"Location": "/portal-login"})


def said(page: Page) -> list[str]:
    return page.locator(".bubble").all_inner_texts()


def test_a_message_that_waits_to_be_sent_survives_a_reload_and_is_sent_once(lost):
    tab, page = lost
    page.route(SENT, gateway_fails)
    tab.ask("quick please")
    expect(page.locator(".line.lost")).to_have_text(LOST)
    page.reload()
    expect(page.locator(".bubble", has_text="quick please")).to_be_visible()
    expect(page.locator(".line.lost")).to_have_text(LOST)
    page.unroute(SENT)
    expect(page.get_by_text("You said: quick please")).to_be_visible()
    page.reload()
    expect(page.get_by_text("You said: quick please")).to_have_count(1)
    assert said(page) == ["quick please"]


def test_while_the_conversation_cannot_be_read_the_page_says_that_the_message_is_kept(lost):
    tab, page = lost
    page.route(SENT, gateway_fails)
    tab.ask("quick and kept")
    expect(page.locator(".line.lost")).to_be_visible()
    page.route(LISTED, gateway_fails)
    page.reload()
    expect(page.locator(".outcome")).to_contain_text("Your message is kept in this tab")
    page.unroute(LISTED)
    page.unroute(SENT)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("You said: quick and kept")).to_be_visible()


def test_a_message_that_was_stopped_before_it_was_sent_is_not_sent_after_a_reload(lost):
    tab, page = lost
    tab.ask("quick before")
    expect(page.get_by_text("You said: quick before")).to_be_visible()
    page.route(SENT, gateway_fails)
    tab.ask("quick no more")
    expect(page.locator(".line.lost")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("It is stopped as soon as the agent answers")).to_be_visible()
    page.reload()
    expect(page.get_by_text("You said: quick before")).to_be_visible()
    page.unroute(SENT)
    tab.ask("quick after")
    expect(page.get_by_text("You said: quick after")).to_be_visible()
    assert said(page) == ["quick before", "quick after"]


def test_what_is_said_while_the_conversation_cannot_be_read_stands_below_what_was_said_before(lost):
    tab, page = lost
    for words in ("quick one", "quick two"):
        tab.ask(words)
        expect(page.get_by_text(f"You said: {words}")).to_be_visible()
    page.route(LISTED, gateway_fails)
    page.reload()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    tab.ask("quick three")
    expect(page.get_by_text("You said: quick three")).to_be_visible()
    page.unroute(LISTED)
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(page.locator(".bubble")).to_have_count(3)
    assert said(page) == ["quick one", "quick two", "quick three"]


def test_a_refusal_ends_the_search_for_the_line(lost):
    tab, page = lost
    page.route(SENT, gateway_fails)
    tab.ask("quick and refused")
    expect(page.locator(".line.lost")).to_be_visible()
    # the route that was added last is asked first; without any, a request between the two would be answered
    page.route(SENT, lambda route: route.fulfill(status=403, body="no"))
    expect(page.locator(".outcome.failed")).to_be_visible()
    expect(page.locator(".line.lost")).to_have_count(0)


def test_the_answer_behind_a_connection_that_died_without_a_word_is_there_after_a_while(
    served, lost: tuple[Tab, Page]
):
    tab, page = lost
    served.close_gate()
    page.add_init_script(HELD)
    page.clock.install()
    page.reload()
    tab.ask("slowly please")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.route(LISTED, gateway_fails)  # what the page looks up now and then would bring the answer too
    served.open_gate()
    page.clock.fast_forward(15_000)  # its clock runs too: a machine may take half a minute until here
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.clock.fast_forward(45_000)
    expect(page.get_by_text("The first half and the second half.")).to_have_count(1)
    expect(page.locator(".line")).to_have_count(0)


@pytest.mark.parametrize("storage", ["localStorage", "sessionStorage"])
def test_a_browser_that_forbids_storage_shows_the_page_and_its_answers(
    served, open_tab: Callable[..., Tab], storage: str
):
    tab = open_tab(served.url)
    tab.page.add_init_script(FORBIDDEN.format(storage))
    tab.page.reload()
    tab.ask(f"quick without {storage}")
    expect(tab.page.get_by_text(f"You said: quick without {storage}")).to_be_visible()
    tab.page.get_by_role("button", name="Copy answer").wait_for()


def test_a_stop_that_did_not_reach_the_agent_is_brought_again(lost, served):
    tab, page = lost
    served.close_gate()
    page.route(CANCELED, lambda route: route.fulfill(status=503, body="busy"))
    tab.ask("slowly please")
    expect(page.get_by_text("The first half")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("It is stopped as soon as the agent answers")).to_be_visible()
    page.unroute(CANCELED)
    expect(page.get_by_text("Stopped.")).to_be_visible()


def test_a_stop_that_the_agent_refuses_after_all_is_not_announced_any_longer(lost, served):
    tab, page = lost
    served.close_gate()
    page.route(CANCELED, lambda route: route.fulfill(status=503, body="busy"))
    tab.ask("slowly please")
    expect(page.get_by_text("The first half")).to_be_visible()
    page.keyboard.press("Escape")
    announced = page.get_by_text("It is stopped as soon as the agent answers")
    expect(announced).to_be_visible()
    said = {"error": {"code": 400, "status": "FAILED_PRECONDITION", "message": "Other turns began."}}
    # added last, and asked first: without any route for a moment a stop would reach the agent
    page.route(CANCELED, lambda route: route.fulfill(status=400, json=said))
    expect(announced).to_have_count(0)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    served.open_gate()
    expect(page.get_by_text("The first half and the second half.")).to_be_visible()


def test_a_stop_of_a_question_is_not_brought_again_once_the_question_was_answered(lost, served):
    tab, page = lost
    served.close_gate()
    page.clock.install()
    tab.ask("which is it")
    reply = page.get_by_label("Your answer", exact=True)
    expect(reply).to_be_visible()
    stops: list[Route] = []

    def busy(route: Route) -> None:
        stops.append(route)
        route.fulfill(status=503, body="busy")

    page.route(CANCELED, busy)
    with page.expect_response(CANCELED):
        page.get_by_role("button", name="Never mind").click()
    reply.fill("the last one")
    with page.expect_request(SENT):
        reply.press("Enter")
    before = len(stops)
    page.clock.run_for(60_000)
    served.open_gate()
    expect(page.get_by_text("It was found.")).to_be_visible()
    assert len(stops) == before


def test_what_goes_on_after_the_answer_can_be_stopped_although_a_stop_of_the_question_was_on_its_way(
    lost, served
):
    tab, page = lost
    served.close_gate()
    page.clock.install()
    tab.ask("which is it")
    reply = page.get_by_label("Your answer", exact=True)
    expect(reply).to_be_visible()
    page.route(CANCELED, lambda route: route.fulfill(status=503, body="busy"))
    with page.expect_response(CANCELED):
        page.get_by_role("button", name="Never mind").click()
    for _ in range(6):  # the next one is a while ahead then
        with page.expect_response(CANCELED):
            page.clock.run_for(10_000)
    reply.fill("the last one")
    with page.expect_request(SENT):
        reply.press("Enter")
    page.unroute(CANCELED)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped.")).to_be_visible()
