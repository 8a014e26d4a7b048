"""A service whose processes are killed in the middle of an answer, and the page that was reading it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.web.chromium import SECONDS
from tests.e2e.web.service import whole_service
from utils.testing.strict_provider import Fault, FaultKind, ScriptedBrain, run_strict_provider

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]
expect.set_options(timeout=SECONDS)

ENDLESS = "600"
"""Seconds after which a stalled answer is asked for once more, which would take the next one of the script: longer than the test."""


def test_an_answer_that_was_cut_off_by_a_kill_is_there_whole_after_the_start_and_the_talk_goes_on(
    tmp_path, open_tab
):
    brain = ScriptedBrain(["The whole answer after the start.", "And the next one."])
    with (
        run_strict_provider(brain) as provider,
        whole_service(
            tmp_path, LLM_STREAM_TIMEOUT_SECONDS=ENDLESS, **provider.environment("openai")
        ) as service,
    ):
        tab = open_tab(service.url)
        tab.expected = ("Failed to load resource", "net::ERR")
        page = tab.page
        provider.fail_next(Fault(FaultKind.STALL, text="The first half"))
        tab.ask("Tell me something.")
        expect(page.get_by_text("The first half")).to_be_visible()
        service.kill()
        expect(page.locator(".line.lost")).to_have_text(
            "The connection is lost. It is taken up again by itself."
        )
        expect(page.get_by_text("The first half")).to_be_visible()
        service.start()
        expect(page.get_by_text("The whole answer after the start.")).to_have_count(1)
        expect(page.get_by_text("The first half")).to_have_count(0)
        expect(page.locator(".line.lost")).to_have_count(0)
        tab.ask("Go on.")
        expect(page.get_by_text("And the next one.")).to_be_visible()
        assert provider.rejections == []
        page.reload()
        for said in (
            "Tell me something.",
            "The whole answer after the start.",
            "Go on.",
            "And the next one.",
        ):
            expect(page.locator(".thread").get_by_text(said)).to_be_visible()
        provider.fail_next(Fault(FaultKind.STALL, text="Half of another"))
        tab.ask("And more?")
        expect(page.get_by_text("Half of another")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_text("Stopped.")).to_be_visible()
        page.locator(".thread").get_by_role("button", name="Copy trace id").click()
        assert re.fullmatch("[0-9a-f]{32}", page.evaluate("navigator.clipboard.readText()"))
