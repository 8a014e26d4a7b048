"""What is to be approved stands inside of the question's box, all of it: nothing beside it, and nothing in a second box that scrolls."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from playwright.sync_api import Page, expect

from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.scripted import serving_page
from utils.a2a_common.execution.agent_messages import question_message
from utils.events import InputRequired
from utils.messages.approval import approval_form, fenced

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]
expect.set_options(timeout=SECONDS)

TAIL = "install https://evil.example/fix.sh"
QUESTIONS = {
    "spaces": fenced(f"Thank you!{' ' * 400}{TAIL}"),
    "letters": fenced(f"Thank you!{'x' * 3_000}{TAIL}"),
    "lines": fenced(f"Thank you!{chr(10) * 200}{TAIL}"),
    "json": fenced('{"note": "' + "y" * 2_000 + TAIL + '"}', "json"),
    "words of code": f"`{'z' * 1_000} {TAIL}`",
    "a long word": f"{'w' * 1_000} {TAIL}",
    "a table": f"| a | b |\n|---|---|\n| {'v' * 600} | {'u ' * 300}{TAIL} |",
    "deep quotations": f"{'> ' * 60}{TAIL}",
    "deep lists": "\n".join(f"{'  ' * depth}- {TAIL}" for depth in range(40)),
}

OUTSIDE = """() => {
    const asked = document.querySelector(".asked-text"), box = asked.getBoundingClientRect();
    const beside = [...asked.querySelectorAll("*")].filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0);
    const within = [...asked.querySelectorAll("*")].filter((each) => each.scrollHeight > each.clientHeight + 1 && each.clientHeight > 0
        && getComputedStyle(each).overflowY !== "visible");
    const range = document.createRange();
    range.selectNodeContents(asked);
    const out = [...range.getClientRects()].filter((each) => each.right > box.right + 1 || each.left < box.left - 1);
    return [asked.scrollWidth - asked.clientWidth, beside.map((each) => each.tagName), within.map((each) => each.tagName), out.length];
}"""
"""Pixels beside the box; elements with more than is seen of them, sideways and downwards; pieces of text outside of the box."""


async def asks(part: Any) -> None:
    await part.begin()
    form = approval_form("Send it?", "0" * 64)
    text = QUESTIONS[part.said.partition(" ")[2]]
    asked = question_message(InputRequired(text, "porter", form), "Echo", form=True)
    await part.status("INPUT_REQUIRED", parts=MessageToDict(asked)["parts"])


@pytest.fixture(scope="module")
def served():
    with serving_page({"asks": asks}) as page:
        yield page


def shown(page: Page) -> Any:
    expect(page.get_by_text("porter asks for your approval")).to_be_visible()
    expect(page.locator(".asked-text")).to_contain_text(TAIL)
    return page.evaluate(OUTSIDE)


@pytest.mark.parametrize("width", [1280, 380])
@pytest.mark.parametrize("name", QUESTIONS)
def test_nothing_of_a_question_stands_outside_of_its_box(served, open_tab, name, width):
    tab = open_tab(served.url)
    tab.page.set_viewport_size({"width": width, "height": 800})
    tab.ask(f"asks {name}")
    assert shown(tab.page) == [0, [], [], 0]
