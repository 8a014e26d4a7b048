"""One browser for the tests of a file: Playwright's loop runs as long as it does, and asynchronous tests have their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.e2e.web.chromium import Tab, chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def open_tab(browser: Browser) -> Iterator[Callable[..., Tab]]:
    """Opens a tab at an agent; what it must not do fails the test at its end."""
    tabs: list[Tab] = []

    def opened(url: str, width: int = 1280, height: int = 860, **options: Any) -> Tab:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            permissions=["clipboard-read", "clipboard-write"],
            accept_downloads=True,
            reduced_motion="reduce",
            **options,
        )
        tabs.append(Tab(context, url))
        tabs[-1].open()
        return tabs[-1]

    yield opened
    try:
        for tab in tabs:
            tab.check()
    finally:
        for tab in tabs:
            tab.context.close()
