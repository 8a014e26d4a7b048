"""The page with a keyboard and a screen reader: where one is, and what a key does and does not."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.scripted import serving_page
from tests.e2e.web.test_events import fails, file, form, slowly

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]
expect.set_options(timeout=SECONDS)

COMPOSING = """(element) => element.dispatchEvent(new KeyboardEvent("keydown",
    { key: "Escape", bubbles: true, cancelable: true, isComposing: true }))"""
HELD = """(element) => element.dispatchEvent(new KeyboardEvent("keydown",
    { key: "Escape", bubbles: true, cancelable: true, repeat: true }))"""
FOCUSED = """() => {
    const at = document.activeElement, style = getComputedStyle(at), around = at.closest(".composer.focused");
    const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    const box = at.getBoundingClientRect();
    let seen = box.width > 0 && box.height > 0;
    for (let each = at; each; each = each.parentElement) seen &&= Number(getComputedStyle(each).opacity) > 0.4;
    const name = at.getAttribute("aria-label") || at.textContent.trim().slice(0, 60) || at.tagName;
    return [name, at === document.body || ((ring || (around && at.tagName === "TEXTAREA")) && seen)];
}"""


@pytest.fixture(scope="module")
def served():
    with serving_page({"slowly": slowly, "form": form, "fails": fails, "file": file}) as page:
        yield page


@pytest.fixture(autouse=True)
def gate(served):
    served.close_gate()
    yield
    served.open_gate()


def walk(page: Page) -> dict[str, bool]:
    """What Tab reaches, and whether one sees where one is."""
    seen: dict[str, bool] = {}
    for _ in range(50):
        page.keyboard.press("Tab")
        name, visible = page.evaluate(FOCUSED)
        seen[name] = visible and seen.get(name, True)
    return seen


def test_everything_that_tab_reaches_shows_that_it_has_the_focus(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("file please")
    expect(page.get_by_role("img", name="dot.png")).to_be_visible()
    seen = walk(page)
    wanted = {"Message", "Copy answer", "Ask again", "Conversation", "New conversation", "Add a file"}
    wanted |= {"Rename file please", "Save as HTML", "Copy into the input"}
    assert wanted <= set(seen)
    assert [name for name, visible in seen.items() if not visible] == []
    tab.ask("form please")
    expect(page.get_by_text("painter asks", exact=True)).to_be_visible()
    seen = walk(page)
    assert {"What is asked", "Say something else"} <= set(seen)
    assert [name for name, visible in seen.items() if not visible] == []


def test_enter_sends_and_shift_enter_begins_a_line(served, open_tab):
    page = open_tab(served.url).page
    page.get_by_label("Message", exact=True).press_sequentially("fails one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("and two")
    expect(page.get_by_label("Message", exact=True)).to_have_value("fails one\nand two")
    page.keyboard.press("Enter")
    expect(page.locator(".bubble")).to_have_text("fails one\nand two")


def test_an_escape_that_ends_a_composition_or_is_held_down_stops_nothing(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("slowly please")
    expect(page.get_by_text("The first half")).to_be_visible()
    for key in (COMPOSING, HELD):
        page.get_by_label("Message", exact=True).evaluate(key)
    served.open_gate()
    expect(page.get_by_text("The first half and the second half.")).to_be_visible()
    expect(page.get_by_text("Stopped.")).to_have_count(0)


def test_escape_in_a_form_that_was_begun_leaves_the_field_and_only_a_second_one_cancels(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("form please")
    page.get_by_label("Reason").fill("because")
    page.wait_for_timeout(700)  # keys that come too early are not taken for an answer
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    expect(page.get_by_label("Reason")).to_have_value("because")
    page.wait_for_timeout(700)
    page.keyboard.press("Escape")
    expect(page.get_by_text("Stopped.")).to_be_visible()


def test_an_escape_that_was_meant_for_what_stood_there_before_cancels_no_form(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    page.evaluate(
        """() => new MutationObserver((_, watching) => {
        const field = document.querySelector(".fields select");
        if (!field) return;
        watching.disconnect();
        setTimeout(() => { field.focus(); field.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
            document.body.dataset.pressed = "yes"; });
        }).observe(document.body, { childList: true, subtree: true })"""
    )
    tab.ask("form please")
    expect(page.locator("body[data-pressed]")).to_be_attached()
    page.get_by_label("Colour").select_option("green")
    page.get_by_role("button", name="Send").first.click()
    expect(page.get_by_text("Thank you.")).to_be_visible()


def test_a_screen_reader_is_told_the_answer_once_it_is_whole(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    told = page.locator("[aria-live='polite']")
    tab.ask("slowly please")
    expect(told).to_have_text("The first half")
    expect(told).to_have_attribute("aria-busy", "true")  # the words are not read out while they come
    served.open_gate()
    expect(told).to_have_text("The first half and the second half.")
    expect(told).to_have_attribute("aria-busy", "false")
