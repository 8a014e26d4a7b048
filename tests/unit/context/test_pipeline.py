import json

import pytest
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage

from tests.property.context.rules import refusals
from tests.unit.context.conversations import (
    COUNTER,
    RecordingSummariser,
    calls,
    human,
    long_talk,
    result,
    turn,
)
from utils.context.compaction import Compaction
from utils.context.pipeline import Parts, Request, prepare
from utils.context.policy import ContextPolicy, PipelineStage, rag, standard
from utils.context.rendering import full_text
from utils.errors import ContextBudgetExceeded
from utils.messages.counter import Calibration
from utils.messages.handles import handles_in
from utils.messages.tokens import count_messages_tokens

SYSTEM = SystemMessage("You help with services.")


async def view(messages, policy, *, summariser=None, compaction=None, **request):
    return await prepare(Request(messages, SYSTEM, **request), policy, Parts(COUNTER, summariser), compaction)


def strategies(prepared):
    return [step.strategy for step in prepared.report.steps]


async def test_a_request_that_fits_is_sent_as_it_is():
    talk = long_talk(3)
    prepared = await view(talk, standard(128_000))
    assert prepared.all_messages() == [SYSTEM, *talk]
    assert strategies(prepared) == []


async def test_an_oversized_result_keeps_its_head_and_its_tail_and_can_be_read_whole():
    log = "begin\n" + "line of no interest\n" * 5_000 + "ERROR: disk full"
    prepared = await view([human("why?"), calls("a"), result("a", log)], standard(128_000))
    shown = full_text(prepared.messages[2])
    assert shown.startswith("begin")
    assert shown.endswith("ERROR: disk full")
    assert len(shown) <= 10_000
    assert prepared.artifacts[handles_in(shown)[0]] == log


async def test_ranked_lists_are_capped_at_an_item_and_say_so():
    rows = [{"title": f"T{i}", "url": "u", "content": "word " * 400} for i in range(57)]
    policy = standard(16_000)
    prepared = await view([human("find"), calls("a"), result("a", json.dumps({"articles": rows}))], policy)
    shown = json.loads(full_text(prepared.messages[2]))
    count = len(shown["articles"])
    assert shown["articles"] == rows[:count]
    assert shown["note"].startswith(f"{count} of 57 articles")
    assert COUNTER.text(full_text(prepared.messages[2])) <= policy.input_budget * policy.ranked_share


async def test_a_list_that_is_cut_again_stays_a_list_with_one_note_that_holds_for_the_whole():
    rows = [{"title": f"T{i}", "state": "open", "content": "word " * 40} for i in range(60)]
    text = json.dumps({"kind": "issues", "items": rows, "total": 200, "note": "Newest first."})
    talk, compaction, counts = [human("find"), calls("a"), result("a", text)], None, []
    for tools in (0, 2_600, 3_200):
        prepared = await view(talk, standard(6_000), compaction=compaction, tool_tokens=tools)
        compaction, shown = prepared.compaction, json.loads(full_text(prepared.messages[-1]))
        (handle,) = handles_in(shown["note"])
        counts.append(len(shown["items"]))
        assert shown["items"] == rows[: counts[-1]]
        assert (
            shown["note"]
            == f'Newest first. {counts[-1]} of 60 issues; read_tool_output("{handle}") reads all.'
        )
    assert 60 > counts[0] > counts[1] > counts[2] > 0


def cleared(prepared) -> list[bool]:
    return [
        str(m.content).startswith("[Result processed: art_") for m in prepared.messages if m.type == "tool"
    ]


async def test_old_tool_results_are_cleared_in_one_batch_and_the_last_three_kept():
    prepared = await view(long_talk(16, words=200), standard(13_000))
    assert strategies(prepared) == ["clear"]
    assert cleared(prepared) == [True] * 13 + [False] * 3


async def test_of_answered_turns_no_more_results_are_kept_than_a_fifth_of_the_budget_but_the_last_always_is():
    prepared = await view(long_talk(7, words=600), standard(13_000))
    assert strategies(prepared) == ["clear"]
    assert cleared(prepared) == [True] * 6 + [False]


async def test_the_last_three_results_of_the_running_turn_are_kept_whatever_their_size():
    loop = [m for n in range(6) for m in (calls(f"l{n}"), result(f"l{n}", "found " * 1_400))]
    prepared = await view([*turn(0), human("Find it.", "active"), *loop], standard(13_000))
    assert strategies(prepared) == ["clear"]
    assert cleared(prepared) == [True] * 4 + [False] * 3


async def test_after_a_clearing_the_beginning_stays_the_same_until_it_pays_to_clear_again():
    talk, policy = long_talk(16, words=200), standard(13_000)
    first = await view(talk, policy)
    assert strategies(first) == ["clear"]
    grown = [*talk, AIMessage("Done.", id="x"), human("More?", "y")]
    second = await view(grown, policy, compaction=first.compaction)
    assert strategies(second) == []
    assert second.all_messages()[: len(first.all_messages())] == first.all_messages()


async def test_the_summary_stands_in_the_system_message_directly_before_the_recent_messages():
    summariser = RecordingSummariser("Service-1 has 7 replicas.")
    prepared = await view(long_talk(150, words=100), standard(8_000), summariser=summariser)
    assert "summarise" in strategies(prepared)
    assert [m.type for m in prepared.all_messages()].count("system") == 1
    system = str(prepared.system.content)
    assert system.startswith("You help with services.")
    assert system.index("Service-1 has 7 replicas.") > system.index("Summary of the conversation")
    assert prepared.messages[-1].id == "active"
    assert prepared.report.after <= prepared.report.limit * 0.5


async def test_the_summariser_sees_every_message_that_is_recorded_as_summarised():
    summariser = RecordingSummariser(window=1_500)
    talk = long_talk(40, words=100)
    policy = ContextPolicy(window=8_000, stages=frozenset({PipelineStage.SUMMARISE}))
    prepared = await view(talk, policy, summariser=summariser)
    kept = {m.id for m in prepared.messages}
    given = "\n".join(summariser.given)
    gone = [m for m in talk if m.id not in kept]
    assert gone
    assert all(word in given for m in gone for word in full_text(m).split())
    assert all(COUNTER.text(text) <= summariser.window for text in summariser.given)


@pytest.mark.parametrize("answer", ["", "much too long " * 3_000])
async def test_an_empty_or_overlong_summary_is_replaced_by_an_extract(answer):
    prepared = await view(long_talk(150), standard(8_000), summariser=RecordingSummariser(answer))
    assert prepared.compaction.summary
    assert COUNTER.text(prepared.compaction.summary) <= standard(8_000).summary_tokens


async def test_a_summariser_that_is_down_costs_the_summary_not_the_request():
    prepared = await view(long_talk(150), standard(8_000), summariser=RecordingSummariser(fails=True))
    summary = next(step for step in prepared.report.steps if step.strategy == "summarise")
    assert summary.failed == 1
    assert "Service-" in prepared.compaction.summary


async def test_deep_inside_a_turn_the_request_fits_too_and_the_user_is_still_heard():
    loop = [m for n in range(30) for m in (calls(f"l{n}"), result(f"l{n}", "found " * 300))]
    policy = standard(6_000)
    prepared = await view([*turn(0), human("Find it.", "active"), *loop], policy)
    assert prepared.report.after <= policy.input_budget
    assert "Find it." in [m.content for m in prepared.messages if m.type == "human"]
    assert refusals(prepared.all_messages()) == []


async def test_an_oversized_request_is_shown_in_part_with_a_handle_and_reported():
    words = "start " + "filler " * 9_000 + "finish"
    prepared = await view([human(words)], standard(4_000))
    shown = str(prepared.messages[0].content)
    assert (shown[:5], shown[-6:]) == ("start", "finish")
    assert prepared.artifacts[handles_in(shown)[0]] == words
    assert prepared.report.clipped_request


async def test_only_a_prompt_that_leaves_no_room_is_refused_and_with_numbers():
    with pytest.raises(ContextBudgetExceeded, match=r"9,0\d\d tokens; the model's window of 8,000"):
        await view([human("hi")], standard(8_000), tool_tokens=9_000)


async def test_twenty_compactions_in_a_row_keep_constraints_request_names_and_handles_word_for_word():
    said = "Never touch production. My account id is ACME-48213."
    talk = [human(said, "first"), AIMessage("Understood.", id="ok")]
    policy, compaction, stored = standard(4_000), Compaction(), dict[str, str]()
    summariser = RecordingSummariser("They looked at services.")
    for number in range(800):
        talk += turn(number, words=900)[:-1]
        prepared = await view(talk, policy, summariser=summariser, compaction=compaction)
        before, compaction = (
            compaction,
            Compaction.from_state(json.loads(json.dumps(prepared.compaction.as_state()))),
        )
        stored |= prepared.artifacts
        system = str(prepared.system.content)
        assert "Never touch production." in system
        assert "My account id is ACME-48213." in system
        assert f"Question {number} about service-{number}?" in [m.content for m in prepared.messages]
        assert {c["name"] for m in prepared.messages if isinstance(m, AIMessage) for c in m.tool_calls} == {
            "get"
        }
        reachable, todo = set(), list(prepared.handles)
        while todo:
            handle = todo.pop()
            if handle not in reachable:
                reachable.add(handle)
                todo += handles_in(stored[handle])
        assert set(before.given) <= reachable
        talk.append(AIMessage(f"Service-{number} is fine.", id=f"f{number}"))
        if compaction.count >= 20:
            break
    assert compaction.count >= 20


def articles(call: int) -> str:
    rows = [
        {"title": f"Article {call}-{i}", "url": "u", "content": f"topic{call}{i} matters here. " * 3_150}
        for i in range(7)
    ]
    return json.dumps({"articles": rows})


async def test_three_calls_of_seven_articles_end_under_eighty_percent_of_the_window():
    talk: list[BaseMessage] = [human("How do I log in?")]
    for call in range(3):
        talk += [calls(f"c{call}", name="search"), result(f"c{call}", articles(call), "search")]
    before = count_messages_tokens(talk)
    assert before > 320_000
    for policy in (rag(262_144), standard(262_144)):
        summariser, cache = RecordingSummariser(), dict[str, str]()
        parts = Parts(COUNTER, summariser, cache=cache)
        prepared = await prepare(Request(talk, SYSTEM), policy, parts)
        assert 0.7 * 262_144 < count_messages_tokens(prepared.all_messages()) <= 209_715
        lists = [json.loads(full_text(m))["articles"] for m in prepared.messages if m.type == "tool"]
        assert [rows[0]["content"] for rows in lists] == [
            json.loads(articles(call))["articles"][0]["content"] for call in range(3)
        ]
        assert [len(rows) for rows in lists] == [7, 7, 7]
        assert int(0.7 * 262_144 / 3) // (before // 21) == 3, (
            "what a static margin of 70 % leaves of each call"
        )
        marked = [row["title"] for rows in lists for row in rows if row.get("metadata", {}).get("compressed")]
        assert len(summariser.given) == len(set(summariser.given)) == len(marked)
        assert "Article 2-6" in marked
        assert "Article 0-1" not in marked
        assert summariser.most_at_once > 1
        again = await prepare(Request(talk, SYSTEM), policy, parts, prepared.compaction)
        assert again.all_messages() == prepared.all_messages()
        await prepare(Request(talk, SYSTEM), policy, parts)
        assert len(summariser.given) == len(marked)


@pytest.mark.parametrize(
    "text", ['{"articles": [', '{"articles": "none"}', '{"articles": [1]}', "[1, 2]", "{}"]
)
async def test_results_that_are_no_lists_are_left_to_the_next_strategy(text):
    big = text + " " * 10 + "x y z " * 5_000
    prepared = await view(
        [human("go"), calls("a"), result("a", big)], ContextPolicy(window=4_000, max_tool_output=10**9)
    )
    assert prepared.report.after <= prepared.report.limit
    assert prepared.report.violations == ()


async def test_what_the_provider_charges_more_is_counted_before_it_is_measured():
    parts = Parts(COUNTER, calibration=Calibration(1.35))
    policy = standard(8_000)
    prepared = await prepare(Request(long_talk(40), SYSTEM), policy, parts)
    assert count_messages_tokens(prepared.all_messages()) * 1.35 <= policy.input_budget


async def test_a_request_that_its_tools_make_large_is_compacted_earlier():
    talk, policy = long_talk(10), ContextPolicy(window=20_000)
    alone = await view(talk, policy)
    assert strategies(alone) == []
    crowded = await view(talk, policy, tool_tokens=policy.input_budget - alone.report.after + 500)
    assert strategies(crowded)
    assert crowded.report.after <= policy.input_budget
