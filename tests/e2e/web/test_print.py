"""The conversation on paper: all of it, dark on white, and nothing of what is only there to click."""

from __future__ import annotations

import io

import pytest
from playwright.sync_api import Page, expect
from pypdf import PdfReader

from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.scripted import serving_page

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]
expect.set_options(timeout=SECONDS)

LINES = 200
CODE = "\n".join(f"code line {number}" for number in range(LINES))


async def long(part):
    await part.begin()
    paragraphs = "\n\n".join(f"Paragraph {number}." for number in range(LINES))
    await part.say(f"{paragraphs}\n\n```text\n{CODE}\n```\n\nThe end of {part.said}.")
    await part.status("COMPLETED")


@pytest.fixture(scope="module")
def served():
    with serving_page({"long": long}) as page:
        yield page


def printed(page: Page) -> str:
    return "\n".join(sheet.extract_text() for sheet in PdfReader(io.BytesIO(page.pdf())).pages)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_whole_conversation_is_printed_dark_on_white(served, open_tab, scheme):
    tab = open_tab(served.url, color_scheme=scheme)
    page = tab.page
    for words in ("long one", "long two"):
        tab.ask(words)
        expect(page.get_by_text(f"The end of {words}.")).to_be_visible()
    paper = printed(page)
    for shown in (
        "long one",
        "Paragraph 0.",
        f"code line {LINES - 1}",
        "The end of long one.",
        "The end of long two.",
    ):
        assert shown in paper, shown
    for clicked in ("New conversation", "Enter sends"):
        assert clicked not in paper
    page.emulate_media(media="print", color_scheme=scheme)
    assert (
        page.locator(".markdown").first.evaluate("(each) => getComputedStyle(each).color")
        == "rgb(31, 35, 38)"
    )


def test_what_is_only_colour_is_still_seen_in_forced_colours(served, open_tab):
    tab = open_tab(served.url, forced_colors="active")
    page = tab.page
    tab.ask("long one")
    expect(page.get_by_text("The end of long one.")).to_be_visible()
    lamp = page.locator(".lamp.up").evaluate("(each) => getComputedStyle(each).backgroundColor")
    assert lamp == "rgb(43, 122, 86)"
    current = page.locator('.entry[data-current="true"]')
    expect(current).to_have_css("outline-style", "solid")
