"""After an answer a conversation is looked at where it may need a compaction, and left alone where it cannot need one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.context.conversations import COUNTER, RecordingSummariser
from tests.unit.context.test_thresholds import remarks
from utils.context.pipeline import Parts, Request, prepare
from utils.context.policy import PRESETS, ContextPolicy, PipelineStage
from utils.messages.tokens import count_messages_tokens
from utils.messages.transcript import stand_in

BY_TOKENS = ("standard", "caipe", "research")
WINDOW = 16_384


async def compacted(policy: ContextPolicy, exchanges: int, turn: int) -> tuple[int, bool]:
    """Tokens of a conversation, and whether a compaction after its last answer changes it."""
    talk = [*remarks(exchanges)[:-1], stand_in("(the next request)", "next")]
    request = Request(talk, turn_start=True)
    done = await prepare(request, policy.for_next_turn(turn), Parts(COUNTER, RecordingSummariser()))
    return count_messages_tokens(talk), bool(done.report.steps)


@pytest.mark.parametrize("name", BY_TOKENS)
async def test_no_conversation_that_needs_a_compaction_is_left_alone_though_its_size_is_known_by_half(
    name: str,
):
    policy = replace(PRESETS[name](WINDOW), summarise_at_tokens=None)
    looked, needed = [], []
    for exchanges in range(2, 80, 4):
        for turn in (100, policy.input_budget // 2, policy.input_budget):
            size, changed = await compacted(policy, exchanges, turn)
            looked.append(policy.may_lack_room(size))
            if changed:
                needed.append(size)
                assert policy.may_lack_room(size // 2)
    assert needed
    assert looked.count(False) >= 9


async def test_a_threshold_in_tokens_counts_as_one_in_shares_does():
    policy = PRESETS["research"](1_000_000)
    assert policy.summarise_at_tokens == 80_000
    assert policy.may_lack_room(32_000)
    assert not policy.may_lack_room(31_000)


@pytest.mark.parametrize(
    "policy",
    [
        replace(PRESETS["standard"](WINDOW), max_messages=20),
        PRESETS["turns"](WINDOW),
        replace(PRESETS["rag"](WINDOW), compress_ahead=True),
    ],
    ids=["messages", "turns", "results to come"],
)
def test_what_is_not_measured_in_tokens_is_always_looked_at(policy: ContextPolicy):
    assert policy.may_lack_room(10)


def test_a_conversation_of_unknown_size_is_looked_at():
    assert PRESETS["standard"](WINDOW).may_lack_room(None)


def test_a_stage_that_begins_early_is_looked_at_early():
    early = replace(PRESETS["standard"](WINDOW), clear_at=0.1)
    tokens = early.tokens(0.06)
    assert early.may_lack_room(tokens)
    assert not replace(early, stages=frozenset({PipelineStage.SUMMARISE})).may_lack_room(tokens)
