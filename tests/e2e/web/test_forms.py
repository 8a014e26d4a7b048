"""Forms on the page: fields in the agent's order, lists, and passwords that are shown nowhere."""

from __future__ import annotations

import json

import pytest
from google.protobuf.json_format import MessageToDict
from playwright.sync_api import Page, expect

from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.scripted import serving_page
from utils.a2a_common.execution.agent_messages import question_message
from utils.events import DataPart, InputRequired

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
SECRET = "correct horse"


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


async def asks_with_data(part):
    await part.begin()
    if part.context.current_task is not None:
        await part.say("Thank you.")
        await part.status("COMPLETED")
        return
    call = DataPart(
        {"name": "ask_user", "args": {"question": "which colour?"}}, metadata={"adk_type": "function_call"}
    )
    asked = question_message(
        InputRequired("It asks: which colour?", "porter", parts=[call]), "Echo", form=True
    )
    sent = MessageToDict(asked)
    await part.status("INPUT_REQUIRED", parts=sent["parts"], about=sent["metadata"])


@pytest.fixture(scope="module")
def served():
    with serving_page({"asks": asks, "data": asks_with_data}) as page:
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


def test_a_list_is_written_one_value_a_line_or_chosen_with_boxes(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("asks please")
    page.get_by_label("Zone").fill("eu")
    page.get_by_role("button", name="Send").first.click()
    expect(page.get_by_role("alert").last).to_have_text("Reviewers is missing.")
    page.get_by_label("Reviewers").fill("Ann Lee\n\n Bob \n")
    page.get_by_label("Friday").check()
    page.get_by_label("Ports").fill("80\nhttp")
    page.get_by_role("button", name="Send").first.click()
    expect(page.get_by_role("alert").last).to_have_text("Ports must be whole numbers, one a line.")
    page.get_by_label("Ports").fill("80\n443")
    page.reload()
    expect(page.get_by_label("Reviewers")).to_have_value("Ann Lee\n\n Bob \n")
    page.get_by_role("button", name="Send").first.click()
    expect(page.get_by_text("Thank you.")).to_be_visible()
    assert served.agent.answers[-1] == {
        "zone": "eu",
        "reviewers": ["Ann Lee", "Bob"],
        "days": ["Friday"],
        "ports": [80, 443],
    }


def test_a_question_that_came_as_data_is_read_in_words_alone_and_answered_in_words(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("data please")
    expect(page.get_by_role("region", name="What is asked")).to_have_text("It asks: which colour?")
    page.get_by_label("Your answer").fill("blue")
    page.get_by_role("button", name="Answer").click()
    expect(page.get_by_text("Thank you.")).to_be_visible()
    expect(page.get_by_text("ask_user")).to_have_count(0)


def test_a_password_is_masked_and_neither_kept_nor_shown_again(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    tab.ask("asks please")
    login = page.get_by_label("Login")
    expect(login).to_have_attribute("type", "password")
    login.fill(SECRET)
    page.get_by_label("Zone").fill("eu")
    page.get_by_label("Reviewers").fill("Ann")
    assert SECRET not in page.evaluate("JSON.stringify({ ...sessionStorage, ...localStorage })")
    page.get_by_role("button", name="Send").first.click()
    expect(page.get_by_text("Thank you.")).to_be_visible()
    assert served.agent.answers[-1]["login"] == SECRET
    expect(page.locator(".bubble").last).to_contain_text("login: ••••")
    page.get_by_role("button", name="Card, events and rules").click()
    page.get_by_role("button", name="Copy all").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "reviewers" in json.dumps(copied)
    assert SECRET not in copied
    page.keyboard.press("Escape")
    page.reload()
    expect(page.locator(".bubble").last).to_contain_text("login: ••••")
    assert SECRET not in page.evaluate("document.body.outerHTML")
