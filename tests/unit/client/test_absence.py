"""How long an agent that is gone is expected back."""

from __future__ import annotations

import asyncio

from tests.support.clock import Clock
from utils.a2a_common.client.agents.absence import Absence


def test_an_agent_is_expected_back_for_a_while_after_it_was_missed_and_not_longer() -> None:
    clock = Clock()
    absence = Absence(20, clock)
    absence.note(there=True)
    clock.now += 500
    assert absence.left == 20
    absence.note(there=False)
    clock.now += 5
    absence.note(there=False)
    assert absence.left == 15
    clock.now += 60
    assert absence.left == 0
    absence.note(there=True)
    assert absence.left == 20


def test_an_agent_that_only_an_earlier_process_saw_is_expected_from_the_start_of_this_one() -> None:
    clock = Clock()
    absence = Absence(20, clock)
    absence.note(there=False)
    clock.now += 8
    assert absence.left == 12


async def test_a_wait_ends_when_the_agent_is_seen() -> None:
    absence = Absence(20)
    waiting = asyncio.create_task(absence.over(60))
    await asyncio.sleep(0)
    absence.note(there=True)
    await waiting
    absence.note(there=False)
    missed = asyncio.create_task(absence.over(60))
    for _ in range(3):
        await asyncio.sleep(0)
    assert not missed.done()
    absence.note(there=True)
    await missed
