"""`GET /`: a page for browsers, and what it always was for everybody else."""

from __future__ import annotations

import re

import httpx
import pytest

from tests.e2e.wire.agents import card, echo
from tests.e2e.wire.wiring import serving, state

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
async def wire():
    async with serving(echo, page=True) as found:
        yield found


async def test_a_browser_gets_the_page_with_scripts_and_styles_of_this_origin_alone(wire):
    answer = await wire.http.get(f"{wire.url}/", headers=BROWSER)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "connect-src 'self'" in policy
    assert "unsafe" not in policy
    assert "<script>" not in answer.text
    assert " style=" not in answer.text
    for name in re.findall(r'(?:src|href)="\./([^"]+)"', answer.text):
        file = await wire.http.get(f"{wire.url}/{name}")
        assert file.status_code == 200
        assert "immutable" in file.headers["cache-control"]
        assert file.headers["content-encoding"] == "gzip"
        assert file.headers["x-content-type-options"] == "nosniff"


async def test_a_page_that_did_not_change_is_not_sent_again(wire):
    first = await wire.http.get(f"{wire.url}/", headers=BROWSER)
    again = await wire.http.get(f"{wire.url}/", headers={**BROWSER, "If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_others_are_answered_as_without_a_page(wire, method):
    async with serving(echo) as without:
        answers = [
            await each.http.request(method, f"{each.url}/", headers={"Accept": "application/json"})
            for each in (wire, without)
        ]
    with_page, plain = answers
    assert (with_page.status_code, with_page.json()) == (plain.status_code, plain.json())
    assert with_page.headers.get("allow") == plain.headers.get("allow")


async def test_tasks_are_sent_to_the_same_address(wire):
    assert state(await wire.send()) == "completed"


async def test_a_page_that_is_switched_off_is_not_there():
    async with serving(echo) as wire:
        assert (await wire.http.get(f"{wire.url}/", headers=BROWSER)).status_code == 405
        assert (await wire.http.get(f"{wire.url}/page/licences.txt")).status_code == 404


@pytest.mark.parametrize("name", ["nothing.js", "index.html", "..%2Findex.html", "%2e%2e/settings.py"])
async def test_there_is_nothing_but_the_files_of_the_page(wire, name):
    assert (await wire.http.get(f"{wire.url}/page/{name}")).status_code == 404


async def test_another_host_gets_no_page(wire):
    answer = await wire.http.get(f"{wire.url}/", headers={**BROWSER, "Host": "attacker.example"})
    assert answer.status_code == 421


async def test_the_card_of_a_served_agent_is_not_changed_by_the_page(wire):
    async with httpx.AsyncClient(trust_env=False) as http:
        found = (await http.get(f"{wire.url}/.well-known/agent-card.json", headers=BROWSER)).json()
    assert found["name"] == card().name
