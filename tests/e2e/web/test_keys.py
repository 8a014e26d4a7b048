"""Keys on the page: one that is wrong, one that is taken back, and one that is forgotten."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.agents.peers import Keys
from tests.e2e.web.chromium import SECONDS, Tab
from tests.e2e.web.test_service import complaints
from tests.e2e.web.threaded import in_thread
from utils.auth.api_keys import ApiKey, KeyFile, new_key
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = [
    pytest.mark.servers,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
]
expect.set_options(timeout=SECONDS)

NO_TIMERS = "window.setInterval = () => 0;"
"""A page that does not look by itself whether something is new, so that it learns of a key's end when a message is sent."""


@dataclass(frozen=True)
class Scene:
    """An agent whose callers have keys."""

    url: str
    keys: KeyFile

    def add(self, name: str) -> str:
        """A key that the agent takes from now on."""
        made, stored = new_key(ApiKey(name, "", ("agent:keys:use",)))
        self.keys.add(stored)
        return made


@asynccontextmanager
async def serving_keys(home: Path) -> AsyncIterator[Scene]:
    """Serve it."""
    keys = KeyFile(home / "keys.json")
    own = {"AUTH_MODE": "api-key", "EMBEDDINGS_PROVIDER": "none"}
    model = ScriptedModel.of(*["Good day."] * 20)
    async with running_agent(Keys, environ=own, model=model, home=home) as url:
        yield Scene(url, keys)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    home = tmp_path_factory.mktemp("keys")
    with in_thread(lambda: serving_keys(home)) as found:
        yield found


def opened(scene: Scene, open_tab) -> Tab:
    tab: Tab = open_tab(scene.url)
    tab.expected = ("401",)
    return tab


def enter(page: Page, key: str) -> None:
    page.get_by_label("Key or access token").fill(key)
    page.keyboard.press("Enter")


def lapses_when_a_message_comes(page: Page, scene: Scene, name: str) -> None:
    """Take a key back while the page's next message is on its way: before, any other request would learn of it first."""

    def on_the_way(route: Route) -> None:
        scene.keys.remove(name)
        route.continue_()

    page.route("**/rest/message:stream", on_the_way, times=1)


@pytest.mark.parametrize("wrong", ["not-a-key", "schlüssel-€"])
def test_a_wrong_key_is_said_to_be_wrong_and_another_one_is_asked_for(scene, open_tab, wrong):
    tab = opened(scene, open_tab)
    page = tab.page
    enter(page, wrong)
    expect(page.get_by_role("alert")).to_have_text(
        "The agent does not accept this key: it is wrong, has expired, or was revoked. Enter another one."
    )
    expect(page.get_by_label("Key or access token")).to_have_value("")
    expect(page.get_by_label("Key or access token")).to_be_focused()
    assert complaints(page) == []
    enter(page, scene.add("after a wrong one"[:5] + wrong[:3]))
    tab.ask("Hello.")
    expect(page.get_by_text("Good day.")).to_be_visible()


def test_a_key_that_was_taken_back_is_said_so_and_what_was_typed_and_sent_stays(scene, open_tab):
    tab = opened(scene, open_tab)
    page = tab.page
    page.add_init_script(NO_TIMERS)
    page.reload()
    enter(page, scene.add("expires"))
    tab.ask("Hello.")
    expect(page.get_by_text("Good day.")).to_be_visible()
    lapses_when_a_message_comes(page, scene, "expires")
    tab.ask("Are you there?")
    expect(page.get_by_role("alert")).to_have_text(
        "The agent no longer accepts your key: it has expired or was revoked. Enter another one. What you wrote is kept."
    )
    enter(page, scene.add("expires"))
    expect(page.locator(".bubble", has_text="Are you there?")).to_be_visible()
    page.get_by_label("Message", exact=True).fill("not sent yet")
    scene.keys.remove("expires")
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(page.get_by_role("alert")).to_contain_text("What you wrote is kept.")
    enter(page, scene.add("expires"))
    expect(page.get_by_label("Message", exact=True)).to_have_value("not sent yet")


def test_a_key_is_forgotten_with_everything_that_the_tab_knows(scene, open_tab):
    tab = opened(scene, open_tab)
    page = tab.page
    expect(page.get_by_label("Key or access token")).to_be_visible()
    expect(page.get_by_role("button", name="Forget this key")).to_have_count(0)
    enter(page, scene.add("leaves"))
    tab.ask("Hello.")
    expect(page.get_by_text("Good day.")).to_be_visible()
    page.get_by_label("Message", exact=True).fill("for nobody else")
    page.get_by_role("button", name="Forget this key").click()
    expect(page.get_by_label("Key or access token")).to_be_visible()
    assert page.evaluate("JSON.stringify({ ...sessionStorage })") == "{}"
    assert page.url == f"{scene.url}/"
    expect(page.get_by_text("Good day.")).to_have_count(0)
    expect(page.locator(".entry")).to_have_count(0)
    enter(page, scene.add("comes"))
    expect(page.get_by_label("Message", exact=True)).to_have_value("")


TYPES = """() => {
  history.replaceState = () => {
    const box = document.querySelector("textarea");
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(box, "typed late");
    box.dispatchEvent(new Event("input", { bubbles: true }));
  };
}"""
"""Somebody types after the page has forgotten what it knows, and before it is loaded again: the address is changed between the two."""


def test_nothing_is_kept_of_what_is_typed_between_forgetting_a_key_and_the_reload(scene, open_tab):
    page = opened(scene, open_tab).page
    enter(page, scene.add("leaves late"))
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    page.evaluate(TYPES)
    page.get_by_role("button", name="Forget this key").click()
    expect(page.get_by_label("Key or access token")).to_be_visible()
    assert page.evaluate("JSON.stringify({ ...sessionStorage })") == "{}"


INPUTS = """
new MutationObserver(() => {
  if (document.querySelector(".composer")) console.log("an input was drawn");
}).observe(document, { childList: true, subtree: true });
"""


def test_a_new_tab_shows_no_input_before_it_asks_for_a_key(scene, open_tab):
    tab = opened(scene, open_tab)
    page = tab.another()
    page.add_init_script(INPUTS)
    drawn: list[str] = []
    page.on("console", lambda message: drawn.append(message.text) if "drawn" in message.text else None)
    page.goto(scene.url)
    expect(page.get_by_label("Key or access token")).to_be_visible()
    assert drawn == []
