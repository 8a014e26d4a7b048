"""The memo of token counts changes nothing about a request but the time that it takes."""

import random
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from tests.property.context.histories import History, history
from tests.property.context.oracle import finish
from tests.unit.context.conversations import calls, human, long_talk, result
from utils.context.compaction import Compaction
from utils.context.pipeline import Parts, Prepared, Request, prepare
from utils.context.policy import PRESETS, ContextPolicy
from utils.errors import ContextBudgetExceeded
from utils.messages import counter as counting
from utils.messages.counter import MessageCounter
from utils.messages.media.charges import MediaCharges
from utils.messages.tokens import count_message_tokens

SLOW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
ROOMY = ContextPolicy(window=200_000)


def prepared(
    request: Request, policy: ContextPolicy, counter: MessageCounter, before: Compaction
) -> Prepared | str:
    try:
        return finish(prepare(request, policy, Parts(counter), before))
    except ContextBudgetExceeded as error:
        return str(error)


def compare(told: History, lengths: list[int], *, reloaded: bool) -> None:
    policy, counter, compaction = PRESETS[told.preset](told.window), MessageCounter(), Compaction()
    for length in lengths:
        talk = told.messages[:length]
        if reloaded:
            talk = [message.model_copy(deep=True) for message in talk]
        request = Request(talk, told.system, told.tool_tokens)
        fresh = prepared(request, policy, MessageCounter(), compaction)
        assert prepared(request, policy, counter, compaction) == fresh
        if isinstance(fresh, Prepared):
            compaction = Compaction.from_state(fresh.compaction.as_state())


@pytest.mark.long
@SLOW
@given(st.integers(0, 10**9), st.booleans())
def test_every_request_of_a_growing_conversation_is_the_one_that_is_made_with_an_empty_memo(
    seed: int, reloaded: bool
) -> None:
    told, rng = history(seed), random.Random(seed)
    whole = len(told.messages)
    compare(told, sorted({rng.randint(1, whole) for _ in range(9)} | {whole}), reloaded=reloaded)


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
def test_a_conversation_that_changed_between_two_requests_is_counted_as_it_is_now(change) -> None:
    talk, counter = long_talk(4), MessageCounter()
    prepared(Request(talk), ROOMY, counter, Compaction())
    change(talk)
    talk = [*talk, calls("new"), result("new")]
    fresh = prepared(Request(talk), ROOMY, MessageCounter(), Compaction())
    assert prepared(Request(talk), ROOMY, counter, Compaction()) == fresh


def test_call_ids_that_a_provider_uses_again_in_every_turn_keep_their_own_results() -> None:
    counter, talk = MessageCounter(), list[BaseMessage]()
    for turn in range(5):
        talk += [
            human(f"Question {turn}", f"h{turn}"),
            calls("call_0", message=f"a{turn}"),
            result("call_0", f"r{turn}"),
        ]
        talk[-1].id = f"r{turn}"
        done = prepared(Request(talk), ROOMY, counter, Compaction())
        assert isinstance(done, Prepared)
        assert [m.content for m in done.messages if isinstance(m, ToolMessage)] == [
            f"r{n}" for n in range(turn + 1)
        ]


@pytest.mark.parametrize("turns", [20, 200])
def test_only_the_new_message_of_a_conversation_is_tokenised(monkeypatch, turns: int) -> None:
    tokenised: list[BaseMessage] = []

    def counted(message: BaseMessage, encoding: str, charges: MediaCharges) -> int:
        tokenised.append(message)
        return count_message_tokens(message, encoding, charges)

    monkeypatch.setattr(counting, "count_message_tokens", counted)
    talk, counter = long_talk(turns, words=20), MessageCounter()
    prepared(Request(talk), ROOMY, counter, Compaction())
    assert len(tokenised) == len(talk)
    tokenised.clear()
    again = [message.model_copy(deep=True) for message in talk]
    prepared(Request([*again, HumanMessage("And?", id="n")]), ROOMY, counter, Compaction())
    assert [message.id for message in tokenised] == ["n"]


class Threads(MessageCounter):
    """Records in which threads messages are counted."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[int] = set()

    def message(self, message: BaseMessage) -> int:
        self.seen.add(threading.get_ident())
        return super().message(message)


@pytest.mark.parametrize("turns", [400, 12_000 // 4])
def test_a_large_conversation_is_prepared_beside_the_event_loop(turns: int) -> None:
    counter, here = Threads(), threading.get_ident()
    prepared(Request(long_talk(2)), ROOMY, counter, Compaction())
    assert counter.seen == {here}
    counter.seen.clear()
    prepared(Request(long_talk(turns, words=2)), ContextPolicy(window=2_000_000), counter, Compaction())
    assert counter.seen
    assert here not in counter.seen
