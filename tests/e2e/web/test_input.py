"""What people put into the page: other scripts and directions, and more than a conversation is made for."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.scripted import serving_page

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]
expect.set_options(timeout=SECONDS)

HEBREW = "מה שלום main.py היום?"
ARABIC = "ما هو main.py؟"
JAPANESE = "東京の天気を教えてください。" * 20
LARGE = 1_000_000


async def echo(part):
    await part.begin()
    await part.say(f"{part.said[:200]}\n\nIt has {len(part.said)} characters.")
    await part.status("COMPLETED")


class AnyWord(dict):
    """The same script, whatever the request begins with."""

    def __missing__(self, key):
        return echo


@pytest.fixture(scope="module")
def served():
    with serving_page(AnyWord()) as page:
        yield page


@pytest.mark.parametrize("words", [HEBREW, ARABIC])
def test_text_from_right_to_left_is_laid_out_so_in_the_input_the_request_and_the_answer(
    served, open_tab, words
):
    tab = open_tab(served.url)
    page = tab.page
    box = page.get_by_label("Message", exact=True)
    box.fill(words)
    assert box.evaluate("(each) => getComputedStyle(each).direction") == "rtl"
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"It has {len(words)} characters.")).to_be_visible()
    expect(page.locator(".bubble")).to_have_text(words)
    for shown in (".bubble", ".markdown p >> nth=0"):
        assert page.locator(shown).evaluate("(each) => getComputedStyle(each).direction") == "rtl", shown
    title = page.locator(".entry .title", has_text=words)
    assert title.evaluate("(each) => getComputedStyle(each).direction") == "rtl"


MIXED = """مرحبا بالعالم

Then `make up` starts it.

- بند أول
- بند ثان

## العنوان

| عمود | قيمة |
|---|---|
| ا | 1 |

> اقتباس"""


def test_each_block_of_an_answer_runs_in_the_direction_of_its_own_language(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    tab.ask(MIXED)
    answer = page.locator(".markdown")
    expect(answer.get_by_text(f"It has {len(MIXED)} characters.")).to_be_visible()
    blocks = answer.evaluate(
        "(each) => [...each.children].map((block) => [block.tagName, getComputedStyle(block).direction])"
    )
    assert blocks == [
        ["P", "rtl"],
        ["P", "ltr"],
        ["UL", "rtl"],
        ["H3", "rtl"],
        ["DIV", "rtl"],
        ["BLOCKQUOTE", "rtl"],
        ["P", "ltr"],
    ]


def test_a_footnote_and_an_address_that_stand_below_another_heading_are_found(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    tab.ask(
        "See[^1] and [this][there].\n\n## More\n\nMore of it.\n\n[^1]: The note.\n\n[there]: https://example.com/x"
    )
    answer = page.locator(".markdown")
    expect(answer.get_by_role("heading", name="More")).to_be_visible()
    expect(answer.locator("sup")).to_have_text("1")
    expect(answer.get_by_role("link", name="this")).to_have_attribute("href", "https://example.com/x")
    expect(answer.get_by_role("listitem")).to_have_text("The note.")
    expect(answer).not_to_contain_text("[")
    assert page.locator("[id^=user-content]").count() == 0, "two answers would have the same ids"


def test_code_in_a_sentence_from_right_to_left_keeps_its_own_order(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("`make up` هو الأمر")
    sentence = page.locator(".markdown p").first
    expect(sentence).to_contain_text("make up")
    assert sentence.evaluate("(each) => getComputedStyle(each).direction") == "rtl"
    assert sentence.locator("code").evaluate("(each) => getComputedStyle(each).direction") == "ltr"


def test_chinese_and_japanese_text_breaks_at_the_edge_of_a_phone(served, open_tab):
    tab = open_tab(served.url, width=360, height=740)
    page = tab.page
    tab.ask(JAPANESE)
    expect(page.get_by_text(f"It has {len(JAPANESE)} characters.")).to_be_visible()
    expect(page.locator(".bubble")).to_have_text(JAPANESE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_enter_that_ends_the_choice_of_a_character_sends_nothing(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    box = page.get_by_label("Message", exact=True)
    box.fill("にほん")
    box.evaluate(
        "(each) => each.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', code: 'Enter', keyCode: 229, isComposing: true, bubbles: true, cancelable: true }))"
    )
    expect(box).to_have_value("にほん")
    page.keyboard.press("Enter")
    expect(page.locator(".bubble")).to_have_text("にほん")


def test_a_text_of_a_megabyte_that_was_pasted_is_sent_and_the_page_stays_quick(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    box = page.get_by_label("Message", exact=True)
    box.focus()
    page.evaluate(f"navigator.clipboard.writeText('word '.repeat({LARGE // 5}))")
    page.keyboard.press("Control+V")
    page.wait_for_function(f"document.querySelector('textarea').value.length === {LARGE}")
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"It has {LARGE} characters.")).to_be_visible()
    tab.ask("and now a short one")
    expect(page.locator(".bubble")).to_have_count(2)
    expect(page.get_by_text("It has 19 characters.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("It has 19 characters.")).to_be_visible()


def test_what_is_typed_and_sent_before_the_agent_says_who_is_at_the_page_is_not_lost(served, open_tab):
    page = open_tab(served.url).another()
    held: list[Route] = []
    page.route("**/page/caller", lambda route: held.append(route))
    page.goto(served.url)
    box = page.get_by_label("Message", exact=True)
    expect(box).to_be_focused()
    page.keyboard.type("sent early")
    page.keyboard.press("Enter")
    expect(page.get_by_text("It has 10 characters.")).to_be_visible()
    page.keyboard.type("typed early")
    while held:
        held.pop().continue_()
    page.unroute("**/page/caller")
    page.wait_for_function("() => JSON.stringify({ ...sessionStorage }).includes('typed early')")
    expect(box).to_have_value("typed early")
    page.reload()
    expect(page.locator(".bubble")).to_have_text("sent early")
    expect(box).to_have_value("typed early")
