"""What the page shows of a task after a question of it was answered."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.scripted import serving_page

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]
expect.set_options(timeout=SECONDS)


async def asks(part):
    first = part.context.current_task is None
    await part.begin()
    if first:
        await part.artifact({"text": "Known before the question."}, name="response-early")
        await part.status("INPUT_REQUIRED", parts=[{"text": "Which city?"}])
        return
    await part.say(f"It is {part.said}.")
    await part.status("COMPLETED")


@pytest.fixture(scope="module")
def served():
    with serving_page({"asks": asks}) as page:
        yield page


def test_what_came_before_a_question_stays_beside_the_answer_to_the_reply(served, open_tab):
    tab = open_tab(served.url)
    tab.ask("asks please")
    expect(tab.page.get_by_text("Which city?")).to_be_visible()
    tab.page.get_by_label("Your answer").fill("Bern")
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_text("It is Bern.")).to_be_visible()
    expect(tab.page.get_by_text("Known before the question.")).to_be_visible()
    tab.page.reload()
    expect(tab.page.get_by_text("Known before the question.")).to_be_visible()
