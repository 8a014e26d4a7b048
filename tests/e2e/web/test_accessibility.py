"""The main screens on a narrow phone, light and dark: axe finds nothing wrong with them, and nothing is cut off."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.scripted import serving_page
from tests.e2e.web.test_events import fails
from tests.e2e.web.test_keys import Scene, serving_keys
from tests.e2e.web.test_lost_line import LISTED, SENT, gateway_fails
from tests.e2e.web.test_service import complaints
from tests.e2e.web.threaded import in_thread

pytestmark = [
    pytest.mark.servers,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
]
expect.set_options(timeout=SECONDS)

SCHEMES = ("light", "dark")
NARROW = {"width": 360, "height": 740}

APPROVAL = {
    "type": "object",
    "properties": {
        "approve": {"type": "boolean", "title": "Send it"},
        "digest": {"type": "string", "const": "d" * 64},
    },
    "required": ["approve", "digest"],
}


async def change(part):
    await part.begin()
    about = {"text": "May I delete the repository octocat/hello-world with all of its 4711 issues?"}
    await part.status("INPUT_REQUIRED", parts=[about, {"data": {"form": APPROVAL, "origin": "github"}}])


async def rich(part):
    await part.begin()
    await part.say(
        "# Title\n\nWords with `code` and a [link](https://example.org/).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "- [x] done\n- [ ] not done\n\n```python\nprint('a long line of code that does not fit on a phone at all')\n```\n"
    )
    await part.status("COMPLETED")


@pytest.fixture(scope="module")
def served():
    with serving_page({"change": change, "fails": fails, "rich": rich}) as page:
        yield page


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with in_thread(lambda: serving_keys(tmp_path_factory.mktemp("keys"))) as found:
        yield found


def check(page: Page) -> None:
    assert complaints(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_screens_of_a_conversation(served, open_tab, scheme):
    tab = open_tab(served.url, color_scheme=scheme, **NARROW)
    page = tab.page
    tab.expected = ("Failed to load resource",)
    expect(page.get_by_role("heading", name="What do you want to know?")).to_be_visible()
    check(page)
    tab.ask("rich please")
    expect(page.get_by_role("button", name="Copy answer")).to_be_visible()
    check(page)
    tab.ask("fails please")
    expect(page.locator(".outcome.failed")).to_be_visible()
    check(page)
    tab.ask("change please")
    expect(page.get_by_text("github asks", exact=False).first).to_be_visible()
    check(page)
    page.get_by_role("button", name="Conversations").click()
    expect(page.locator(".entry").first).to_be_visible()
    check(page)
    page.goto(f"{served.url}/#/c/nowhere")
    expect(page.locator("main").get_by_text("There is no such conversation.")).to_be_visible()
    check(page)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_screens_of_a_lost_connection(served, open_tab, scheme):
    tab = open_tab(served.url, color_scheme=scheme, **NARROW)
    page = tab.page
    tab.expected = ("Failed to load resource",)
    page.route(SENT, gateway_fails)
    tab.ask("rich and waiting")
    expect(page.locator(".line.lost")).to_be_visible()
    check(page)
    page.route(SENT, lambda route: route.fulfill(status=403, body="no"))
    expect(page.locator(".outcome.failed")).to_be_visible()
    page.get_by_role("button", name="Conversations").click()
    expect(page.locator(".badge.unsent").first).to_be_visible()
    check(page)
    page.route(LISTED, gateway_fails)
    page.reload()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    check(page)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_entry_of_a_key(keyed, open_tab, scheme):
    tab = open_tab(keyed.url, color_scheme=scheme, **NARROW)
    tab.expected = ("401",)
    expect(tab.page.get_by_label("Key or access token")).to_be_focused()
    check(tab.page)
    tab.page.keyboard.type("wrong")
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("alert")).to_be_visible()
    check(tab.page)
