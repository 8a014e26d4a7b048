"""Generated histories against the rules of three providers. `make fuzz-context` runs many more."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from tests.property.context.histories import history
from tests.property.context.oracle import finish, run
from tests.property.context.rules import refusals
from utils.context.pipeline import Parts, Request, prepare
from utils.context.policy import PRESETS
from utils.errors import ContextBudgetExceeded
from utils.messages.counter import MessageCounter
from utils.messages.invariants import SHAPE, Claim, violations
from utils.messages.repair import repair
from utils.messages.tokens import count_messages_tokens

COUNTER = MessageCounter()
SLOW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)

ids = st.sampled_from(["a", "b", "c", "", "odd id!", "x" * 60])
texts = st.text(max_size=60) | st.sampled_from(["", " ", "<|endoftext|>", "art_0123456789ab", "word " * 900])
contents = texts | st.lists(
    st.builds(lambda t: {"type": "text", "text": t}, texts)
    | texts
    | st.just({"type": "tool_use", "id": "ghost"}),
    max_size=3,
)
call = st.builds(lambda i: {"name": "get", "args": {"q": i}, "id": i}, ids)
messages = st.lists(
    st.builds(HumanMessage, contents)
    | st.builds(lambda c, t: AIMessage(c, tool_calls=t), contents, st.lists(call, max_size=4))
    | st.builds(lambda c, i: ToolMessage(c, tool_call_id=i), texts, ids)
    | st.builds(SystemMessage, texts),
    max_size=14,
)


@pytest.mark.long
@SLOW
@given(st.integers(0, 10**9))
def test_no_generated_history_overflows_breaks_a_rule_or_loses_what_was_asked(seed: int) -> None:
    assert run(history(seed), COUNTER).faults == []


@SLOW
@given(messages)
def test_repair_makes_any_list_of_messages_one_that_three_providers_accept(talk: list[BaseMessage]) -> None:
    fixed = repair(talk).messages
    assert refusals(fixed) == []
    assert violations(Claim(view=fixed), SHAPE) == []
    assert repair(fixed).messages == fixed


@SLOW
@given(messages, st.sampled_from(sorted(PRESETS)), st.integers(600, 4_000))
def test_any_list_of_messages_becomes_a_request_within_its_budget(
    talk: list[BaseMessage], preset: str, window: int
) -> None:
    policy = PRESETS[preset](window)
    try:
        prepared = finish(prepare(Request(talk), policy, Parts(COUNTER)))
    except ContextBudgetExceeded:
        assert any(isinstance(m, SystemMessage) for m in talk) or window < 1_000
        return
    assert count_messages_tokens(prepared.all_messages()) <= policy.input_budget
    assert refusals(prepared.all_messages()) == []
    assert prepared.report.violations == ()
