"""Ten things that users do with the page, each done as somebody who sees it for the first time, with every click counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.cli.command import ROOT
from tests.e2e.web.chromium import SECONDS, Tab
from tests.e2e.web.scripted import serving_page
from tests.e2e.web.service import Service, whole_service
from tests.e2e.web.test_events import slowly
from tests.e2e.web.test_service import CHANGE, answered

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]
expect.set_options(timeout=SECONDS)

_COUNT = """
window.clicks = 0;
addEventListener("pointerdown", (event) => event.isTrusted && clicks++, true);
"""


@dataclass(frozen=True)
class Job:
    """A row of the table in docs/web.md, and how many clicks it takes."""

    wanted: str
    done: str
    clicks: int

    @property
    def row(self) -> str:
        return f"| {self.wanted} | {self.done} |"


ASK = Job("ask a question", "type it, Enter", 0)
FOLLOW = Job("ask a follow-up question", "type it, Enter", 0)
APPROVE = Job("approve a change", "read what will be sent, Enter", 0)
FIND = Job("find yesterday's conversation", "click it in the list on the left", 1)
SLOW = Job("see why an answer took long", "click the call beside the answer that took the seconds", 1)
CANCEL = Job("stop an answer", "Esc", 0)
FILE = Job("send a file", "click the clip and choose it, write a question, Enter", 1)
EXAMPLE = Job("try an example", "click it in a new conversation", 1)
EXPORT = Job("save a conversation", "click the arrow at the top", 1)
THEME = Job("switch between light and dark", "click the circle at the top", 1)
JOBS = (ASK, FOLLOW, APPROVE, FIND, SLOW, CANCEL, FILE, EXAMPLE, EXPORT, THEME)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with whole_service(tmp_path_factory.mktemp("service")) as found:
        yield found


@pytest.fixture
def newcomer(open_tab: Callable[..., Tab]) -> Callable[[str], Tab]:
    """Opens the page for somebody who was never there, and counts from then on."""

    def opened(url: str) -> Tab:
        tab = open_tab(url)
        begin(tab.page)
        return tab

    return opened


def begin(page: Page) -> None:
    page.evaluate(_COUNT)


def took(page: Page, job: Job) -> None:
    clicks = page.evaluate("clicks")
    print(f"{job.row} {clicks} |")
    assert clicks == job.clicks, job.wanted


def say(page: Page, text: str) -> None:
    """Write where the cursor is already: nobody has to click into the input first."""
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def test_ask_and_follow_up(service, newcomer):
    page = newcomer(service.url).page
    say(page, "Which pull requests are open in octocat/hello-world?")
    answered(page)
    took(page, ASK)
    begin(page)
    say(page, "and its license?")
    expect(page.get_by_role("button", name="Copy answer")).to_have_count(2)
    took(page, FOLLOW)


def test_approve(service, newcomer):
    tab = newcomer(service.url)
    page = tab.page
    say(page, CHANGE)
    expect(page.locator(".asked-text")).to_contain_text("Disk full")
    expect(
        page.get_by_role("button", name="Send it")
    ).to_be_enabled()  # what is typed sooner is not taken for an answer
    page.keyboard.press("Enter")
    expect(page.get_by_text("It was approved and sent.", exact=True)).to_be_visible()
    took(page, APPROVE)


def test_find_a_conversation_of_an_earlier_visit(service, newcomer):
    first = newcomer(service.url).page
    say(first, "How many stars does octocat/hello-world have?")
    answered(first)
    page = newcomer(service.url).page
    page.locator(".entry", has_text="How many stars").first.click()
    expect(page.locator(".bubble", has_text="How many stars")).to_be_visible()
    answered(page)
    took(page, FIND)


def test_see_why_it_took_long(service, newcomer):
    page = newcomer(service.url).page
    say(page, "Which pull requests are open in octocat/hello-world?")
    answered(page)
    call = page.get_by_role("complementary", name="Work").locator(".call.tool").first
    call.locator("summary").click()
    expect(call.locator(".result")).to_be_visible()
    expect(call).to_contain_text("octocat")
    took(page, SLOW)


def test_stop_an_answer(newcomer):
    with serving_page({"slowly": slowly}) as served:
        tab = newcomer(served.url)
        page = tab.page
        say(page, "slowly please")
        expect(page.get_by_text("The first half")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_text("Stopped.")).to_be_visible()
        took(page, CANCEL)
        tab.leave()


def test_send_a_file(service, newcomer):
    page = newcomer(service.url).page
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add a file").click()
    chooser.value.set_files(
        [{"name": "notes.md", "mimeType": "text/markdown", "buffer": b"# Notes\n\nThe disk is full.\n"}]
    )
    expect(page.get_by_text("notes.md")).to_be_visible()
    say(page, "What do my notes say?")
    answered(page)
    expect(page.locator(".bubble", has_text="notes.md")).to_be_visible()
    took(page, FILE)


def test_try_an_example(service, newcomer):
    page = newcomer(service.url).page
    page.locator(".example").first.click()
    answered(page)
    took(page, EXAMPLE)


def test_save_a_conversation(service, newcomer):
    page = newcomer(service.url).page
    say(page, "How do I add a sub-agent?")
    answered(page)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as HTML").click()
    assert "make new-agent" in saved.value.path().read_text("utf-8")
    took(page, EXPORT)


def test_switch_the_theme(service, newcomer):
    page = newcomer(service.url).page
    light = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.get_by_role("button", name="Theme: system").click()
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") != light
    took(page, THEME)


def test_the_documentation_says_how_each_is_done():
    text = (ROOT / "docs" / "web.md").read_text("utf-8")
    assert [job.row for job in JOBS if job.row not in text] == []
