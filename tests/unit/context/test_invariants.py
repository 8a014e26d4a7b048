"""Each named rule refuses what it is there for, and accepts the sound request."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, SystemMessage

from tests.unit.context.conversations import calls, human, result
from utils.messages import invariants as rules
from utils.messages.invariants import INVARIANTS, Claim, violations

SYSTEM = SystemMessage("You help. Never touch production.")
ASK, CALL, DONE = human("go"), calls("a", "b"), AIMessage("done", id="f")
SOUND = [SYSTEM, ASK, CALL, result("a"), result("b")]
TALK = [ASK, CALL, result("a"), result("b")]
HANDLE = "art_0123456789ab"


def claim(view, **other):
    given: dict[str, Any] = {"source": TALK, "tokens": 5, "budget": 10} | other
    return Claim(view=view, **given)


BROKEN = [
    (rules.PAIRING, claim([ASK, CALL, result("a")])),
    (rules.PAIRING, claim([ASK, result("z")])),
    (rules.PAIRING, claim([ASK, calls("a"), result("a"), result("a")])),
    (rules.ADJACENCY, claim([ASK, CALL, result("a"), ASK, result("b")])),
    (rules.ADJACENCY, claim([ASK, CALL, result("b"), result("a")])),
    (rules.SINGLE_SYSTEM, claim([ASK, SYSTEM])),
    (rules.SINGLE_SYSTEM, claim([SYSTEM, SYSTEM, ASK])),
    (rules.USER_FIRST, claim([SYSTEM])),
    (rules.USER_FIRST, claim([SYSTEM, DONE, ASK])),
    (rules.USER_FIRST, claim([SYSTEM, ASK, DONE])),
    (rules.ACTIVE_KEPT, claim([human("other", "h9")])),
    (rules.ACTIVE_KEPT, claim([human("g…")])),
    (rules.ACTIVE_KEPT, claim([ASK, human("later", "h9")])),
    (rules.PINNED_KEPT, claim([SYSTEM, ASK], pinned=["Never touch the bucket."])),
    (rules.NAMES_KEPT, claim([ASK, calls("a", "b", name="other"), result("a"), result("b")])),
    (rules.HANDLES_RESOLVE, claim([ASK, calls("a"), result("a", HANDLE)])),
    (rules.BUDGET_MET, claim(SOUND, tokens=11)),
    (rules.PREFIX_EXTENDS, claim([SYSTEM, ASK], before=[SYSTEM, human("og")])),
    (rules.PREFIX_EXTENDS, claim([SYSTEM], before=[SYSTEM, ASK])),
]


@pytest.mark.parametrize(("rule", "wrong"), BROKEN, ids=lambda value: getattr(value, "name", ""))
def test_a_rule_refuses_what_it_is_there_for(rule, wrong):
    assert violations(wrong, [rule])


def test_every_rule_has_a_case_and_a_reason():
    assert {rule.name for rule, _ in BROKEN} == {rule.name for rule in INVARIANTS}
    assert all(rule.rule for rule in INVARIANTS)


def test_a_sound_request_keeps_every_rule():
    sound = claim(SOUND, pinned=["Never touch production."], handles={HANDLE}, before=[SYSTEM, ASK])
    assert violations(sound, INVARIANTS) == []


def test_an_oversized_request_may_stand_as_an_excerpt_with_a_handle():
    shown = claim([human(f"g… {HANDLE}")], may_clip_active=True, handles={HANDLE})
    assert violations(shown, [rules.ACTIVE_KEPT, rules.HANDLES_RESOLVE]) == []
