"""Everything goes wrong at random points, in real processes, and nothing is lost: a short run of `make chaos`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from benchmarks.chaos.orders import DECK, deal, holds_everything
from benchmarks.chaos.tally import WRONGS

ROOT = Path(__file__).resolve().parents[2]
CONVERSATIONS = 100
SEED = 7


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_no_conversation_is_lost_and_nothing_stays_when_everything_goes_wrong() -> None:
    """Seventy seconds of processor time, so about a minute on two idle cores; nothing waits for long."""
    assert holds_everything(deal(CONVERSATIONS, SEED)), "each order with each action"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.chaos", f"N={CONVERSATIONS}", f"SEED={SEED}",
        cwd=ROOT, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, _ = await process.communicate()
    counts = ", ".join(f"0 {wrong}" for wrong in WRONGS)
    assert out.decode().strip().splitlines()[-1] == f"{CONVERSATIONS} conversations, {counts}", out.decode()
    assert process.returncode == 0


def test_the_same_seed_deals_the_same_and_every_card_is_dealt_before_one_comes_again() -> None:
    dealt = deal(300, 3)
    cards = [(step.order, step.action) for steps in dealt for step in steps]
    assert dealt == deal(300, 3) != deal(300, 4)
    assert set(cards[: len(DECK)]) == set(DECK)
    assert {len(steps) for steps in dealt} == {1, 2, 3}
