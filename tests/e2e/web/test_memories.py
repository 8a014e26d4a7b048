"""What an agent remembers of a person, seen and forgotten on the page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.memory.house import House, asked, house
from tests.e2e.web.chromium import SECONDS, Tab
from tests.e2e.web.test_service import complaints
from tests.e2e.web.threaded import in_thread

pytestmark = [
    pytest.mark.servers,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
]
expect.set_options(timeout=SECONDS)

KNOWN = ("I work in Zanzibar.", "I like short answers.", "<b>My team</b> is called Rex.")


@asynccontextmanager
async def _known(home: Path) -> AsyncIterator[House]:
    async with house(home, {}) as service:
        ann = await service.person("ann")
        for text in KNOWN:
            await asked(ann, action="add", text=text)
        yield service


@pytest.fixture
def service(tmp_path: Path) -> Iterator[House]:
    with in_thread(lambda: _known(tmp_path)) as found:
        yield found


def entered(service: House, open_tab: Callable[..., Tab], who: str) -> Tab:
    tab = open_tab(service.url)
    tab.expected = ("401",)
    tab.page.get_by_label("Key or access token").fill(service.keys[who])
    tab.page.keyboard.press("Enter")
    return tab


def test_a_person_sees_what_is_remembered_of_her_and_has_it_forgotten(service, open_tab):
    page = entered(service, open_tab, "ann").page
    page.get_by_role("button", name="Your memories").click()
    dialog = page.get_by_role("dialog", name="Your memories")
    rows = dialog.get_by_role("listitem")
    expect(rows).to_have_count(3)
    for row, text in zip(rows.all(), KNOWN, strict=True):
        expect(row).to_contain_text(text)
        expect(row).to_contain_text("fact, 2")
    assert complaints(page) == []
    dialog.get_by_role("button", name="Forget I work in Zanzibar.").click()
    expect(rows).to_have_count(2)
    dialog.get_by_role("button", name="Forget all").click()
    expect(rows).to_have_count(2)
    dialog.get_by_role("button", name="Forget all 2, for good").click()
    expect(dialog.get_by_text("You have no memories here.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Your memories").click()
    expect(dialog.get_by_text("You have no memories here.")).to_be_visible()


def test_nobody_sees_what_is_remembered_of_another(service, open_tab):
    page = entered(service, open_tab, "bob").page
    page.get_by_role("button", name="Your memories").click()
    expect(page.get_by_text("You have no memories here.")).to_be_visible()
    assert "Zanzibar" not in page.content()
