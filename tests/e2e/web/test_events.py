"""The page in a browser, with an agent that says what a test needs."""

from __future__ import annotations

import asyncio
import base64
import json

import pytest
from google.protobuf.json_format import MessageToDict
from playwright.sync_api import expect

from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.scripted import serving_page
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION, USAGE_EXTENSION

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]
expect.set_options(timeout=SECONDS)

PIXEL = base64.b64encode(
    base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
).decode()
EVENTS = 5000


async def slowly(part):
    await part.begin()
    await part.say("The first half")
    await part.gate()
    await part.say(" and the second half.", append=True)
    await part.status("COMPLETED")


async def many(part):
    await part.begin()
    for number in range(EVENTS // 2):
        await part.activity(kind="tool_started", call_id=f"c{number}", tool="look", arguments=f"n={number}")
        await part.activity(kind="tool_finished", call_id=f"c{number}", tool="look", status="ok", seconds=0.1)
        if number % 50 == 0:
            await asyncio.sleep(0)
    await part.say("All were looked at.")
    await part.status("COMPLETED", {USAGE_EXTENSION: {"echo": {"input_tokens": 7, "output_tokens": 3}}})


async def file(part):
    await part.begin()
    heard = [
        (each.filename, each.media_type, len(each.raw)) for each in part.context.message.parts if each.raw
    ]
    part.agent.answers.append(heard)
    await part.artifact({"raw": PIXEL, "filename": "dot.png", "mediaType": "image/png"}, name="picture")
    await part.artifact(
        {"raw": base64.b64encode(b"a,b\n1,2\n").decode(), "filename": "list.csv", "mediaType": "text/csv"},
        name="list",
    )
    await part.say("Two files are attached.")
    await part.status("COMPLETED")


async def sizes(part):
    await part.begin()
    for size in (13, 14, 15, 16):
        raw = base64.b64encode(b"x" * size).decode()
        await part.artifact(
            {"raw": raw, "filename": f"of-{size}.txt", "mediaType": "text/plain"}, name=f"{size}"
        )
    await part.say("Four files are attached.")
    await part.status("COMPLETED")


async def form(part):
    await part.begin()
    data = [MessageToDict(each.data) for each in part.context.message.parts if each.HasField("data")]
    if data:
        part.agent.answers.append(data[0])
        await part.say("Thank you.")
        await part.status("COMPLETED")
        return
    schema = {
        "type": "object",
        "title": "Which one?",
        "properties": {
            "colour": {"type": "string", "title": "Colour", "enum": ["red", "green"]},
            "why": {"type": "string", "title": "Reason", "maxLength": 500},
        },
        "required": ["colour"],
    }
    await part.status(
        "INPUT_REQUIRED", parts=[{"text": "Choose one."}, {"data": {"form": schema, "origin": "painter"}}]
    )


async def fails(part):
    await part.begin()
    error = {"code": "upstream_unavailable", "message": "GitHub does not answer.", "trace_id": "abc123"}
    await part.status("FAILED", {ERROR_EXTENSION: error})


SCRIPTS = {"slowly": slowly, "many": many, "file": file, "form": form, "fails": fails, "sizes": sizes}


@pytest.fixture(scope="module")
def served():
    with serving_page(SCRIPTS) as page:
        yield page


@pytest.fixture(autouse=True)
def gate(served):
    served.close_gate()
    yield
    served.open_gate()


def test_an_answer_goes_on_in_a_page_that_was_loaded_again_and_in_a_second_one(served, open_tab):
    tab = open_tab(served.url)
    tab.ask("slowly please")
    expect(tab.page.get_by_text("The first half")).to_be_visible()
    second = tab.another()
    second.goto(tab.page.url)
    tab.page.reload()
    for page in (tab.page, second):
        expect(page.get_by_text("The first half")).to_be_visible()
        expect(page.get_by_role("button", name="Stop")).to_be_visible()
    served.open_gate()
    for page in (tab.page, second):
        expect(page.get_by_text("The first half and the second half.")).to_have_count(1)
        expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()


def test_escape_stops_an_answer_and_what_was_said_stays(served, open_tab):
    tab = open_tab(served.url)
    tab.ask("slowly please")
    expect(tab.page.get_by_text("The first half")).to_be_visible()
    tab.page.keyboard.press("Escape")
    expect(tab.page.get_by_text("Stopped.")).to_be_visible()
    expect(tab.page.get_by_text("The first half")).to_be_visible()


def longest_task(trace: bytes) -> float:
    """Milliseconds of a processor that one task of the browser took: how long it lasts tells of the machine, too."""
    events = json.loads(trace)["traceEvents"]
    took = [float(each["tdur"]) for each in events if each["name"].endswith("RunTask") and "tdur" in each]
    return max(took) / 1000


def test_thousands_of_events_leave_the_page_usable(served, open_tab):
    tab = open_tab(served.url)
    browser = tab.context.browser
    browser.start_tracing(page=tab.page, categories=["toplevel", "-*"])
    tab.ask("many please")
    expect(tab.page.get_by_text("All were looked at.")).to_be_visible()
    expect(tab.page.get_by_text("Show 500 of 2,440 earlier")).to_be_visible()
    longest = longest_task(browser.stop_tracing())
    print(f"longest task of the browser with {EVENTS} events: {longest:.0f} ms of a processor")
    assert longest < 1000, "a reader would see a page that stands still"
    tab.page.get_by_role("button", name="Card, events and rules").click()
    expect(tab.page.get_by_text(" events, the newest first")).to_be_visible()


def test_files_go_in_and_come_out(served, open_tab):
    tab = open_tab(served.url)
    with tab.page.expect_file_chooser() as chooser:
        tab.page.get_by_role("button", name="Add a file").click()
    chooser.value.set_files([{"name": "notes.md", "mimeType": "text/plain", "buffer": b"# Notes"}])
    expect(tab.page.get_by_text("notes.md")).to_be_visible()
    tab.ask("file please")
    expect(tab.page.get_by_role("img", name="dot.png")).to_be_visible()
    with tab.page.expect_download() as saved:
        tab.page.get_by_role("link", name="list.csv").click()
    assert saved.value.suggested_filename == "list.csv"
    assert saved.value.path().read_bytes() == b"a,b\n1,2\n"
    assert served.agent.answers[-1] == [("notes.md", "text/plain", 7)]


def attach(page, name: str, kind: str, content: bytes) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add a file").click()
    chooser.value.set_files([{"name": name, "mimeType": kind, "buffer": content}])


@pytest.mark.parametrize(
    ("name", "kind"),
    [("rows.csv", "text/csv"), ("main.py", "text/x-python"), ("app.ts", "video/mp2t"), ("values.yaml", "")],
)
def test_what_is_text_is_sent_as_text_whatever_browsers_call_it(served, open_tab, name, kind):
    tab = open_tab(served.url)
    attach(tab.page, name, kind, b"a,b")
    expect(tab.page.locator(".composer .label", has_text=name)).to_be_visible()
    tab.ask("file please")
    expect(tab.page.get_by_role("img", name="dot.png")).to_be_visible()
    assert served.agent.answers[-1] == [(name, "text/plain", 3)]


def test_what_is_text_is_sent_as_text_also_before_the_card_was_read(served, open_tab):
    tab = open_tab(served.url)
    tab.page.route("**/.well-known/agent-card.json", lambda route: None)  # it is never answered
    tab.page.reload()
    attach(tab.page, "main.py", "text/x-python", b"a,b")
    expect(tab.page.locator(".composer .label", has_text="main.py")).to_be_visible()
    tab.ask("file please")
    expect(tab.page.get_by_role("img", name="dot.png")).to_be_visible()
    assert served.agent.answers[-1] == [("main.py", "text/plain", 3)]


def test_a_file_that_was_chosen_before_the_card_was_read_is_refused_when_the_card_is_there(served, open_tab):
    tab = open_tab(served.url)
    tab.page.route("**/.well-known/agent-card.json", lambda route: None)  # it is never answered
    tab.page.reload()
    for name, kind in (("plan.docx", "application/octet-stream"), ("notes.md", "")):
        attach(tab.page, name, kind, b"PK")
        expect(tab.page.locator(".composer .label", has_text=name)).to_be_visible()
    tab.page.unroute("**/.well-known/agent-card.json")  # the next look at it is
    expect(tab.page.get_by_role("alert")).to_contain_text("This agent does not take plan.docx")
    expect(tab.page.locator(".composer .label")).to_have_text(["notes.md"])


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("big.txt", b"x" * 3_000_000, "big.txt is too large: a message takes up to 2.9 MB."),
        ("plan.docx", b"PK", "This agent does not take plan.docx"),
    ],
)
def test_a_file_that_cannot_be_sent_is_refused_when_it_is_chosen(served, open_tab, name, content, sentence):
    tab = open_tab(served.url)
    attach(tab.page, name, "application/octet-stream", content)
    expect(tab.page.get_by_role("alert")).to_contain_text(sentence)
    expect(tab.page.locator(".composer .label")).to_have_count(0)
    attach(tab.page, "notes.md", "", b"# Notes")
    expect(tab.page.locator(".composer .label", has_text="notes.md")).to_be_visible()
    expect(tab.page.get_by_role("alert")).to_contain_text(sentence)
    tab.ask("file please")
    expect(tab.page.get_by_role("alert")).to_have_count(0)


def test_files_that_are_too_large_together_are_said_to_be_before_they_are_sent(served, open_tab):
    page = open_tab(served.url).page
    for name in ("one.txt", "two.txt"):
        attach(page, name, "text/plain", b"x" * 2_000_000)
        expect(page.locator(".composer .label", has_text=name)).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("too large together")
    page.get_by_role("button", name="Remove the file").first.click()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_message_is_copied_into_the_input(served, open_tab):
    tab = open_tab(served.url)
    tab.ask("file please")
    expect(tab.page.get_by_role("img", name="dot.png")).to_be_visible()
    tab.page.get_by_role("button", name="Copy into the input").click()
    expect(tab.page.get_by_label("Message", exact=True)).to_have_value("file please")


def test_the_size_of_a_file_is_that_of_its_content(served, open_tab):
    tab = open_tab(served.url)
    tab.ask("sizes please")
    for size in (13, 14, 15, 16):
        link = tab.page.get_by_role("link", name=f"of-{size}.txt")
        expect(link).to_contain_text(f"{size} B")


def test_a_form_takes_the_place_of_the_input_and_survives_a_reload(served, open_tab):
    tab = open_tab(served.url)
    tab.ask("form please")
    expect(tab.page.get_by_text("painter asks", exact=True)).to_be_visible()
    expect(tab.page.get_by_label("Message", exact=True)).to_have_count(0)
    tab.page.get_by_role("button", name="Send").first.click()
    expect(tab.page.get_by_text("Colour is missing.")).to_be_visible()
    tab.page.get_by_label("Colour").select_option("green")
    tab.page.reload()
    expect(tab.page.get_by_label("Colour")).to_have_value("green")
    tab.page.get_by_label("Colour").focus()
    tab.page.get_by_label("Reason").focus()
    tab.page.get_by_role("button", name="Send").first.press("Enter")
    expect(tab.page.get_by_text("Thank you.")).to_be_visible()
    expect(tab.page.get_by_text("colour: green")).to_be_visible()
    assert served.agent.answers[-1] == {"colour": "green"}


def test_a_failure_is_a_sentence_with_a_trace_id_to_copy_and_can_be_tried_again(served, open_tab):
    tab = open_tab(served.url)
    tab.ask("fails please")
    expect(tab.page.locator(".outcome", has_text="GitHub does not answer.")).to_be_visible()
    tab.page.get_by_role("button", name="Copy trace id").first.click()
    assert tab.page.evaluate("navigator.clipboard.readText()") == "abc123"
    tab.page.get_by_role("button", name="Ask again").click()
    expect(tab.page.locator(".outcome", has_text="GitHub does not answer.")).to_have_count(2)


def test_an_agent_that_wants_to_know_who_asks_gets_the_key_that_was_entered_and_nothing_stores_it(
    served, open_tab
):
    tab = open_tab(served.url)
    tab.expected = ("401",)
    page = tab.page
    page.route(
        "**/rest/**",
        lambda route: (
            route.continue_()
            if route.request.headers.get("authorization") == "Bearer a-key"
            else route.fulfill(
                status=401, json={"error": {"code": 401, "status": "UNAUTHENTICATED", "message": "Who?"}}
            )
        ),
    )
    page.reload()
    page.get_by_label("Key or access token").fill("a-key")
    page.keyboard.press("Enter")
    tab.ask("fails please")
    expect(page.locator(".outcome", has_text="GitHub does not answer.")).to_be_visible()
    stored = page.evaluate("JSON.stringify({ ...sessionStorage, ...localStorage }) + document.cookie")
    assert "a-key" not in stored
    page.reload()
    expect(page.get_by_label("Key or access token")).to_be_visible()


def test_a_rule_that_is_broken_is_named_with_what_the_agent_did_instead(served, open_tab):
    tab = open_tab(served.url)
    page = tab.page
    page.route(
        f"{served.url}/",
        lambda route: (
            route.fulfill(json={"jsonrpc": "2.0", "id": 1, "result": {"tasks": [{}, {}]}})
            if route.request.method == "POST"
            else route.continue_()
        ),
    )
    page.get_by_role("button", name="Card, events and rules").click()
    page.get_by_role("tab", name="Rules").click()
    for rule, reason in {
        "an unknown method is not found": "it was answered in place of error -32601",
        "a page is no larger than asked for": "a page of 1 holds 2 tasks",
        "a list says how many there are": "nextPageToken, pageSize, totalSize is missing",
        "the id of a JSON-RPC request comes back": "another id came back",
    }.items():
        expect(page.locator(".rules .fail", has_text=rule)).to_contain_text(reason)
    expect(page.locator(".rules .skipped", has_text="a stream is about one task")).to_contain_text(
        "no stream was read here"
    )
    expect(page.get_by_text("2 pass, 8 fail, 3 skipped")).to_be_visible()


def test_the_export_is_one_file_without_scripts(served, open_tab):
    tab = open_tab(served.url)
    tab.ask("file please")
    expect(tab.page.get_by_text("Two files are attached.")).to_be_visible()
    expect(tab.page.get_by_role("img", name="dot.png")).to_be_visible()
    with tab.page.expect_download() as saved:
        tab.page.get_by_role("button", name="Save as HTML").click()
    html = saved.value.path().read_text("utf-8")
    assert "Two files are attached." in html
    assert "data:image/png" in html
    for forbidden in ("<script", "<button", 'http-equiv="refresh"', "blob:", 'src="http'):
        assert forbidden not in html
