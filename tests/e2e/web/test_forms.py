"""Forms on the page."""

from __future__ import annotations

import pytest
from google.protobuf.json_format import MessageToDict
from playwright.sync_api import Page, expect

from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.scripted import serving_page
from utils.a2a_common.execution.agent_messages import question_message
from utils.events import InputRequired

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]
expect.set_options(timeout=SECONDS)

TITLES = ["Zone", "Name", "Reviewers", "Days", "Ports", "Login", "Area"]
FORM = {
    "type": "object",
    "title": "Where to?",
    "properties": {
        "zone": {"type": "string", "title": "Zone"},
        "name": {"type": "string", "title": "Name"},
        "reviewers": {"type": "array", "title": "Reviewers", "items": {"type": "string"}},
        "days": {"type": "array", "title": "Days", "items": {"type": "string", "enum": ["Monday", "Friday"]}},
        "ports": {"type": "array", "title": "Ports", "items": {"type": "integer"}},
        "login": {"type": "string", "title": "Login", "writeOnly": True},
        "area": {"type": "string", "title": "Area"},
    },
    "required": ["zone", "reviewers"],
}


async def asks(part):
    await part.begin()
    data = [MessageToDict(each.data) for each in part.context.message.parts if each.HasField("data")]
    if data:
        part.agent.answers.append(data[0])
        await part.say("Thank you.")
        await part.status("COMPLETED")
        return
    asked = question_message(InputRequired("Fill it in.", "porter", FORM), "Echo", form=True)
    await part.status("INPUT_REQUIRED", parts=MessageToDict(asked)["parts"])


@pytest.fixture(scope="module")
def served():
    with serving_page({"asks": asks}) as page:
        yield page


def titles(page: Page) -> list[str]:
    expect(page.get_by_text("porter asks", exact=True)).to_be_visible()
    shown = page.locator(".fields .field > label .field-name, .fields .field > legend").all_inner_texts()
    return [each.split("\n")[0].removesuffix("optional").strip() for each in shown]


def test_the_fields_of_a_form_stand_in_the_order_of_the_agent(served, open_tab):
    tab = open_tab(served.url)
    tab.ask("asks please")
    assert titles(tab.page) == TITLES
    tab.page.reload()
    assert titles(tab.page) == TITLES
