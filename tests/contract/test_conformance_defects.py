"""Each single defect of a foreign agent is found, by the rule that it breaks and by no other."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract import defects
from tests.contract.test_conformance import failed, look

pytestmark = pytest.mark.listens

DEFECTS: list[Any] = [
    pytest.param(*each, id=name)
    for name, *each in (
        ("leak in a failed task", "a failed task shows no internals", defects.fails_with_a_traceback, {}),
        (
            "leak for an unknown task",
            "the error of an unknown task shows no internals",
            defects.works,
            {"change": defects.leak_in(-32001)},
        ),
        (
            "leak in a parse error",
            "a parse error shows no internals",
            defects.works,
            {"change": defects.leak_in(-32700)},
        ),
        (
            "second address without a server",
            "the card's addresses are reachable",
            defects.works,
            {"shown": defects.second_interface_at_nobody},
        ),
        (
            "task id of the client",
            "a message to an unknown task is not found",
            defects.works,
            {"handler_class": defects.StartsUnknownTasks},
        ),
        (
            "context of a list ignored",
            "a list of one context holds no other",
            defects.works,
            {"handler_class": defects.ListsAllContexts},
        ),
        (
            "size of a page ignored",
            "a page is no larger than asked for",
            defects.works,
            {"handler_class": defects.ListsAllTasks},
        ),
        (
            "no total size",
            "a list says how many there are, and its next page",
            defects.works,
            {"change": defects.without_total_size},
        ),
        (
            "id of its own",
            "the id of a JSON-RPC request comes back",
            defects.works,
            {"change": defects.own_rpc_id},
        ),
        ("agent in the role of the user", "messages have the right role", defects.speaks_as_the_user, {}),
        (
            "states of 0.3",
            "states and roles have their names of 1.0",
            defects.works,
            {"change": defects.states_of_0_3},
        ),
        (
            "skill without tags",
            "the card has what clients need",
            defects.works,
            {"shown": defects.skill_without_tags},
        ),
        ("no last chunk", "the last chunk is marked", defects.marks_no_last_chunk, {}),
        (
            "a name in snake case",
            "fields are named in camelCase",
            defects.works,
            {"change": defects.snake_case},
        ),
    )
]


CONSEQUENCES = {"states and roles have their names of 1.0": {"a stored task says what was streamed"}}
"""The SDK's client reads a state of 0.3 as none."""


@pytest.mark.parametrize(("check", "script", "defect"), DEFECTS)
async def test_a_single_defect_is_found_by_its_rule(check: str, script: Any, defect: Any) -> None:
    async with defects.defective(script, **defect) as url:
        found = await look(url)
    assert check in failed(found), found[check]
    assert failed(found) - CONSEQUENCES.get(check, set()) == {check}


@pytest.mark.parametrize("script", [defects.works, defects.fails_politely])
async def test_a_bare_server_of_the_sdk_without_a_defect_breaks_no_rule(script: Any) -> None:
    async with defects.defective(script) as url:
        assert failed(await look(url)) == set()
