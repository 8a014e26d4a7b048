from langchain_core.messages import AIMessage

from tests.unit.context.conversations import calls, human, result, shape
from utils.messages.transcript import after_cut, exchanges, legal_cuts, with_ids

TALK = [
    human("one", "h1"),
    calls("a", "b"),
    result("a"),
    result("b"),
    AIMessage("done", id="f1"),
    human("two", "h2"),
]
LOOP = [*TALK, calls("c"), result("c"), calls("d"), result("d")]


def test_an_answer_and_all_its_results_are_one_exchange():
    assert [(e.start, e.stop) for e in exchanges(TALK)] == [(0, 1), (1, 4), (4, 5), (5, 6)]


def test_a_cut_before_the_active_request_stands_before_words_of_the_user():
    assert legal_cuts(TALK) == [0, 5]


def test_a_cut_inside_the_running_turn_never_parts_a_call_from_its_result():
    assert legal_cuts(LOOP) == [0, 5, 6, 8]


def test_the_request_of_the_cut_turn_is_carried_over_the_cut():
    assert shape(after_cut(LOOP, 8)) == ["h2", "ai-d", "d"]
    assert shape(after_cut(LOOP, len(LOOP))) == ["h2"]


def test_the_carried_request_stays_in_front_when_the_next_turn_begins():
    grown = [*LOOP, AIMessage("done", id="f2"), human("three", "h3")]
    assert shape(after_cut(grown, 8))[:3] == shape(after_cut(LOOP, 8))


def test_messages_without_ids_get_ids_that_stay_when_the_conversation_grows():
    bare = [human("one"), human("two"), human("three")]
    for message in bare:
        message.id = None
    assert [m.id for m in with_ids(bare)][:2] == [m.id for m in with_ids(bare[:2])]
    assert len({m.id for m in with_ids(bare)}) == 3
