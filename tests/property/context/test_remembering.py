"""What is remembered from one request to the next changes nothing but the time that the next one takes."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from tests.property.context.histories import History, history
from tests.property.context.oracle import finish
from tests.property.context.test_fuzz import messages
from tests.unit.context.conversations import calls, human, long_talk, result
from utils.context.compaction import Compaction
from utils.context.memory import Memory
from utils.context.pipeline import Parts, Prepared, Request, prepare
from utils.context.policy import PRESETS, ContextPolicy
from utils.errors import ContextBudgetExceeded
from utils.messages.counter import MessageCounter
from utils.messages.repair import repair
from utils.messages.settled import grown
from utils.messages.transcript import with_ids

COUNTER = MessageCounter()
SLOW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
ROOMY = ContextPolicy(window=200_000)


def prepared(request: Request, policy: ContextPolicy, memory: Memory, before: Compaction) -> Prepared | str:
    try:
        return finish(prepare(request, policy, Parts(COUNTER, memory=memory), before))
    except ContextBudgetExceeded as error:
        return str(error)


def compare(told: History, lengths: list[int], *, reloaded: bool) -> None:
    policy, memory, compaction = PRESETS[told.preset](told.window), Memory(), Compaction()
    for length in lengths:
        talk = told.messages[:length]
        if reloaded:
            talk = [message.model_copy(deep=True) for message in talk]
        request = Request(talk, told.system, told.tool_tokens)
        anew = prepared(request, policy, Memory(), compaction)
        assert prepared(request, policy, memory, compaction) == anew
        if isinstance(anew, Prepared):
            compaction = Compaction.from_state(anew.compaction.as_state())


@SLOW
@given(st.integers(0, 10**9), st.booleans())
def test_every_request_of_a_growing_conversation_is_the_one_that_is_made_without_a_memory(
    seed: int, reloaded: bool
) -> None:
    told, rng = history(seed), random.Random(seed)
    whole = len(told.messages)
    compare(told, sorted({rng.randint(1, whole) for _ in range(9)} | {whole}), reloaded=reloaded)


@SLOW
@given(messages)
def test_a_conversation_repaired_as_it_grows_is_the_conversation_repaired_at_once(
    talk: list[BaseMessage],
) -> None:
    settled = None
    for length in range(1, len(talk) + 1):
        settled, whole = grown(settled, talk[:length])
        anew = repair(with_ids(talk[:length]))
        assert [*whole.system, *whole.talk] == anew.messages
        assert (whole.interrupted, whole.dropped) == (anew.interrupted, anew.dropped)


def changed_content(talk: list[BaseMessage]) -> None:
    talk[0].content = "Never touch production. " + "What is new? " * 90


def changed_block(talk: list[BaseMessage]) -> None:
    block = {"type": "text", "text": "short"}
    talk[1].content = [block]
    block["text"] = "long " * 90


def changed_arguments(talk: list[BaseMessage]) -> None:
    answer = talk[1]
    assert isinstance(answer, AIMessage)
    answer.tool_calls[0]["args"]["path"] = "deep/" * 90


def lost_result(talk: list[BaseMessage]) -> None:
    del talk[2]


def late_result(talk: list[BaseMessage]) -> None:
    talk.append(result("c0x0", "It came late."))


def new_system_message(talk: list[BaseMessage]) -> None:
    talk.insert(4, SystemMessage("Be brief."))


@pytest.mark.parametrize(
    "change",
    [changed_content, changed_block, changed_arguments, lost_result, late_result, new_system_message],
)
def test_a_conversation_that_changed_behind_the_memory_is_read_anew(change) -> None:
    talk, memory = long_talk(4), Memory()
    prepared(Request(talk), ROOMY, memory, Compaction())
    change(talk)
    talk = [*talk, calls("new"), result("new")]
    anew = prepared(Request(talk), ROOMY, Memory(), Compaction())
    assert prepared(Request(talk), ROOMY, memory, Compaction()) == anew


def test_ids_that_a_provider_uses_in_every_turn_are_told_apart_without_reading_all_anew() -> None:
    memory, talk = Memory(), list[BaseMessage]()
    for turn in range(5):
        talk += [
            human(f"Question {turn}", f"h{turn}"),
            calls("call_0", message=f"a{turn}"),
            result("call_0", f"r{turn}"),
        ]
        talk[-1].id = f"r{turn}"
        done = prepared(Request(talk), ROOMY, memory, Compaction())
        assert isinstance(done, Prepared)
        assert [m.content for m in done.messages if isinstance(m, ToolMessage)] == [
            f"r{n}" for n in range(turn + 1)
        ]
        assert memory.count == len(talk) - 2


class OnceOnly(MessageCounter):
    """Counts how often messages are asked for."""

    asked = 0

    def message(self, message: BaseMessage) -> int:
        self.asked += 1
        return super().message(message)


@pytest.mark.parametrize("turns", [20, 200])
def test_a_new_message_costs_the_same_work_however_long_the_conversation_is(turns: int) -> None:
    talk, memory, counter = long_talk(turns, words=20), Memory(), OnceOnly()
    finish(prepare(Request(talk), ROOMY, Parts(counter, memory=memory)))
    counter.asked = 0
    finish(prepare(Request([*talk, HumanMessage("And?", id="n")]), ROOMY, Parts(counter, memory=memory)))
    assert 0 < counter.asked < 20
