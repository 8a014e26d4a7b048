"""Two persons in one tab, one after the other: what the first one wrote is neither sent nor shown by the login of the second one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Route, expect

from tests.e2e.auth.own_middleware import Private
from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.test_arrival import CALLER
from tests.e2e.web.test_conversations import delete_button
from tests.e2e.web.test_keys import NO_TIMERS, Scene, enter, lapses_when_a_message_comes, opened, serving_keys
from tests.e2e.web.test_lost_line import SENT, gateway_fails
from tests.e2e.web.test_refused import FOCUS
from tests.e2e.web.threaded import in_thread
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = [
    pytest.mark.servers,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
]
expect.set_options(timeout=SECONDS)

HELD = """
const real = window.fetch;
let held = false;
window.fetch = async (input, init) => {
  const answer = await real(input, init);
  if (held || !String(input).endsWith("/page/caller")) return answer;
  held = true;
  console.log("held");
  await new Promise((done) => { window.release = done; });
  return answer;
};
"""
"""The first answer of who is at the page comes when the test says so."""


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    home = tmp_path_factory.mktemp("keys")
    with in_thread(lambda: serving_keys(home)) as found:
        yield found


@asynccontextmanager
async def _private(home: Path) -> AsyncIterator[str]:
    model = ScriptedModel.of(*["Good day."] * 20)
    async with running_agent(Private, environ={"EMBEDDINGS_PROVIDER": "none"}, model=model, home=home) as url:
        yield url


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An agent whose middleware knows the callers, by a header where others take a cookie."""
    home = tmp_path_factory.mktemp("private")
    with in_thread(lambda: _private(home)) as url:
        yield url


def tasks_of(url: str, user: str) -> int:
    headers = {"A2A-Version": "1.0", "X-Checked-User": user}
    return len(httpx.get(f"{url}/rest/tasks", headers=headers, trust_env=False).json().get("tasks", []))


def test_what_one_person_wrote_is_neither_sent_nor_shown_to_the_next_one_and_is_there_again_for_the_first(
    scene, open_tab
):
    tab = opened(scene, open_tab)
    page = tab.page
    page.add_init_script(NO_TIMERS)
    page.reload()
    enter(page, scene.add("ann"))
    tab.ask("Hello from Ann.")
    expect(page.get_by_text("Good day.")).to_be_visible()
    expect(page.locator(".entry", has_text="Hello from Ann.")).to_be_visible()
    page.get_by_role("button", name="New conversation").click()
    lapses_when_a_message_comes(page, scene, "ann")
    tab.ask("Ann's secret message")
    expect(page.get_by_role("alert")).to_contain_text("What you wrote is kept.")
    anns = page.url

    enter(page, scene.add("bob"))
    expect(page.locator("main").get_by_text("There is no such conversation.")).to_be_visible()
    expect(page.locator(".entry")).to_have_count(0)
    assert "Ann" not in page.inner_text("body")
    page.get_by_role("button", name="Begin a new one").click()
    expect(page.get_by_label("Message", exact=True)).to_have_value("")
    tab.ask("Hello from Bob.")
    expect(page.get_by_text("Good day.")).to_be_visible()
    expect(page.locator(".entry")).to_have_count(1)

    page.goto(anns)
    page.reload()
    enter(page, scene.add("ann"))
    expect(page.locator(".bubble", has_text="Ann's secret message")).to_be_visible()
    expect(page.get_by_text("Good day.")).to_be_visible()
    expect(page.locator(".entry")).to_have_count(2)
    assert "Bob" not in page.inner_text("body")


def test_what_one_person_was_asked_in_a_dialog_is_not_shown_to_the_next_one(private, open_tab):
    tab = open_tab(private, extra_http_headers={"X-Checked-User": "ann asked"})
    page = tab.page
    tab.ask("Hello from Ann.")
    expect(page.get_by_text("Good day.")).to_be_visible()
    delete_button(page, "Hello from Ann.").click()
    expect(page.get_by_role("dialog")).to_contain_text("Hello from Ann.")
    tab.context.set_extra_http_headers({"X-Checked-User": "bob asked"})
    page.evaluate(FOCUS)
    expect(page.locator(".entry")).to_have_count(0)
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert "Ann" not in page.inner_text("body")


def test_a_message_that_waits_for_the_line_is_not_sent_by_a_login_of_somebody_else_in_another_tab(
    private, open_tab
):
    tab = open_tab(private, extra_http_headers={"X-Checked-User": "ann"})
    tab.expected = ("Failed to load resource",)
    page = tab.page
    page.add_init_script(NO_TIMERS)
    page.reload()
    page.route(SENT, gateway_fails)
    tab.ask("Hello from Ann.")
    expect(page.locator(".line.lost")).to_be_visible()
    tab.context.set_extra_http_headers({"X-Checked-User": "bob"})
    page.unroute(SENT)
    expect(page.locator("main").get_by_text("There is no such conversation.")).to_be_visible()
    assert "Ann" not in page.inner_text("body")
    page.reload()
    expect(page.locator("main").get_by_text("There is no such conversation.")).to_be_visible()
    tab.context.set_extra_http_headers({"X-Checked-User": "ann"})
    page.evaluate(FOCUS)
    expect(page.locator(".bubble")).to_have_text("Hello from Ann.")
    expect(page.get_by_text("Good day.")).to_be_visible()
    assert (tasks_of(private, "ann"), tasks_of(private, "bob")) == (1, 0)


def test_an_answer_that_comes_late_does_not_bring_back_who_was_at_the_page_before(private, open_tab):
    tab = open_tab(private, extra_http_headers={"X-Checked-User": "ann"})
    page = tab.page
    box = page.get_by_label("Message", exact=True)
    box.fill("Ann's draft")
    page.evaluate(f"() => {{ {HELD} }}")
    with page.expect_console_message(lambda message: message.text == "held"):
        page.evaluate(FOCUS)
    tab.context.set_extra_http_headers({"X-Checked-User": "bob"})
    page.evaluate(FOCUS)
    expect(box).to_have_value("")
    page.evaluate("() => window.release()")
    box.fill("Bob's draft")
    page.reload()
    expect(box).to_have_value("Bob's draft")


def test_what_was_sent_and_typed_before_the_agent_said_whose_the_page_is_is_not_given_to_the_next_one(
    private, open_tab
):
    tab = open_tab(private, extra_http_headers={"X-Checked-User": "ann before"})
    page = tab.another()
    page.add_init_script(NO_TIMERS)
    held: list[Route] = []
    page.route(CALLER, lambda route: held.append(route))
    page.goto(private)
    box = page.get_by_label("Message", exact=True)
    box.fill("Hello from Ann.")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Good day.")).to_be_visible()
    expect(page.locator(".entry", has_text="Hello from Ann.")).to_be_visible()
    box.fill("Ann's draft")

    tab.expected = ("404", "net::ERR")
    tab.context.set_extra_http_headers({"X-Checked-User": "bob after"})
    while held:
        held.pop().abort()
    page.unroute(CALLER)
    expect(page.locator("main").get_by_text("There is no such conversation.")).to_be_visible()
    expect(page.locator(".entry")).to_have_count(0)
    page.get_by_role("button", name="Begin a new one").click()
    expect(box).to_have_value("")
    assert "Ann" not in page.inner_text("body") + page.evaluate("JSON.stringify({ ...sessionStorage })")


def test_what_was_sent_and_typed_before_the_agent_said_whose_the_page_is_stays_with_its_writer(
    private, open_tab
):
    tab = open_tab(private, extra_http_headers={"X-Checked-User": "ann alone"})
    page = tab.another()
    held: list[Route] = []
    page.route(CALLER, lambda route: held.append(route))
    page.goto(private)
    box = page.get_by_label("Message", exact=True)
    box.fill("Hello from Ann.")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Good day.")).to_be_visible()
    box.fill("Ann's draft")
    while held:
        held.pop().continue_()
    page.unroute(CALLER)
    page.wait_for_function("() => JSON.stringify({ ...sessionStorage }).includes('draft')")
    expect(box).to_have_value("Ann's draft")
    expect(page.locator(".bubble")).to_have_text("Hello from Ann.")
