"""What a server returned can be found in what was stored of it, however long its lines are."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.mcp.conftest import ATTACHED, STDIO
from tests.e2e.mcp.warehouse import report
from utils.mcp.blocks import LONGEST_RESULT
from utils.messages.handles import handle_of
from utils.testing.scripted_model import call, calls

SERVER: dict[str, Any] = {**STDIO, "args": [*ATTACHED, "-m", "tests.e2e.mcp.warehouse", "1"]}
ITEMS = 2_500


def reads(text: str, **arguments: Any) -> object:
    return calls(call("read_tool_output", handle=handle_of(text), **arguments))


@pytest.mark.parametrize("item", [0, 30, ITEMS // 2, ITEMS - 1])
async def test_a_search_in_a_stored_result_of_one_line_shows_the_match_and_what_is_around_it(talk, item):
    text = report(ITEMS)
    assert len(text) > 1_100_000
    assert "\n" not in text
    wanted = f'"sku": "zebra{item}"'
    chat = await talk(
        {"stock": SERVER}, calls(call("stock_report", items=ITEMS)), reads(text, grep=wanted), "Found."
    )
    await chat.ask()
    found = chat.last_result().text
    assert f'{wanted}, "note": "shelf {item} ' in found
    assert found.endswith("\n[1 of 1 matches in 1 lines]")
    assert len(found) < 600


async def test_a_match_says_where_it_stands_so_that_reading_goes_on_from_there(talk):
    text = report(ITEMS)
    chat = await talk(
        {"stock": SERVER},
        calls(call("stock_report", items=ITEMS)),
        reads(text, grep="shelf 1234 "),
        "Found.",
    )
    await chat.ask()
    offset = int(chat.last_result().text.partition("(offset ")[2].partition(")")[0])
    assert 0 < text.index("shelf 1234 ") - offset <= 150


async def test_a_search_with_many_matches_goes_on_where_it_stopped(talk):
    text = report(ITEMS)
    chat = await talk(
        {"stock": SERVER}, calls(call("stock_report", items=ITEMS)), reads(text, grep="ZEBRA"), "Many."
    )
    await chat.ask()
    first = chat.last_result().text
    assert f"of {ITEMS:,} matches" in first
    assert len(first) <= 6_200
    offset = int(first.rpartition("offset=")[2].partition("]")[0])
    chat.model.script += [reads(text, grep="zebra", offset=offset), "More."]
    await chat.ask("And the next?")
    second = chat.last_result().text
    last = first.rpartition('"zebra')[2].partition('"')[0]
    assert f'"zebra{int(last) + 1}"' in second
    assert f'"zebra{int(last)}"' not in second


async def test_what_was_too_long_to_be_stored_is_never_said_not_to_match(talk):
    items = LONGEST_RESULT // 400
    text = report(items)
    chat = await talk({"stock": SERVER}, calls(call("stock_report", items=items)), "Long.", "Nothing.")
    await chat.ask()
    shown = chat.last_result()
    missing = len(text) - LONGEST_RESULT
    note = f"{missing:,} characters"
    assert note in shown.text
    chat.model.script[-1:] = [
        calls(call("read_tool_output", handle=shown.additional_kwargs["full_output"], grep="no such word")),
        "Nothing.",
    ]
    await chat.ask("Is it there?")
    said = chat.last_result().text
    assert note in said
    assert "were not stored" in said
