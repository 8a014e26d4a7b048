"""Debian's Chromium, and tabs that hear everything that a page must not do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]
SECONDS = 90_000
"""The longest wait of a test, in milliseconds: machines stall."""

_HEAR = """
window.heard = [];
addEventListener("securitypolicyviolation", (event) => heard.push(`${event.violatedDirective} ${event.blockedURI}`));
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class Tab:
    """One tab of a browser, and what was wrong in it."""

    def __init__(self, context: BrowserContext, origin: str) -> None:
        self.context = context
        self.origin = origin
        self.wrong: list[str] = []
        self.expected: tuple[str, ...] = ()
        self.origins: tuple[str, ...] = (origin, "blob:", "data:")
        self.page = self._watched(context.new_page())

    def another(self) -> Page:
        return self._watched(self.context.new_page())

    def _watched(self, page: Page) -> Page:
        page.set_default_timeout(SECONDS)
        page.add_init_script(_HEAR)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("request", lambda request: self._request(request.url))
        return page

    def _console(self, message: Any) -> None:
        if message.type in {"error", "warning"} and not any(each in message.text for each in self.expected):
            self.wrong.append(f"{message.type}: {message.text}")

    def _request(self, url: str) -> None:
        if not url.startswith(self.origins):
            self.wrong.append(f"request to {url}")

    def check(self) -> None:
        for page in self.context.pages:
            self.wrong += page.evaluate("window.heard || []")
        assert self.wrong == [], self.wrong

    def leave(self) -> None:
        """Ask a server that is about to end for nothing more: what it refuses then is no fault of the page."""
        self.check()
        self.page.goto("about:blank")

    def ask(self, text: str) -> None:
        self.page.get_by_label("Message", exact=True).fill(text)
        self.page.keyboard.press("Enter")

    def open(self, path: str = "/") -> Page:
        self.page.goto(self.origin + path)
        return self.page
