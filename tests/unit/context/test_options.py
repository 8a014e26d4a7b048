"""Ways of context management that an operator can choose."""

import json
from dataclasses import replace

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from tests.property.context.histories import history
from tests.property.context.rules import refusals
from tests.rows import mostly_long
from tests.unit.context.conversations import COUNTER, RecordingSummariser, calls, human, long_talk
from utils.context.compaction import Compaction
from utils.context.draft import SYSTEM_AS_USER
from utils.context.factory import default_context_middleware, policy_for
from utils.context.pipeline import Parts, Request, prepare
from utils.context.policy import PRESETS, ContextPolicy, standard, turns
from utils.context.settings import ContextSettings
from utils.errors import ContextBudgetExceeded, SettingsError
from utils.messages.tokens import count_messages_tokens
from utils.persistence.artifacts import SqliteArtifactStore
from utils.settings import LLMSettings
from utils.testing.scripted_model import ScriptedModel

LLM = LLMSettings.load({"LLM_PROVIDER": "openai", "LLM_MODEL": "gpt-4o"})
SYSTEM = SystemMessage("You help.")


def policy_of(**environ: str) -> ContextPolicy:
    return policy_for(LLM, ContextSettings.load(environ))


def test_the_turns_that_a_request_shows_are_a_setting_and_ten_under_their_policy():
    assert policy_of(CONTEXT_POLICY="turns").max_turns == 10
    assert policy_of(CONTEXT_POLICY="turns", MAX_CONVERSATION_TURNS="3").max_turns == 3
    assert policy_of(MAX_CONVERSATION_TURNS="4").max_turns == 4
    assert policy_of().max_turns is None
    with pytest.raises(SettingsError, match="MAX_CONVERSATION_TURNS"):
        policy_of(MAX_CONVERSATION_TURNS="0")


@pytest.mark.parametrize("tool_calls", [0, 2])
async def test_the_last_ten_turns_are_twenty_messages_and_older_ones_leave_by_themselves(tool_calls):
    talk, compaction, parts = list[BaseMessage](), Compaction(), Parts(COUNTER)
    for number in range(15):
        ids = [f"c{number}x{n}" for n in range(tool_calls)]
        asked = human(f"Question {number}", f"h{number}")
        done = await prepare(Request([*talk, asked], SYSTEM), turns(128_000), parts, compaction)
        compaction = done.compaction
        shown = [m for m in done.messages if m.type in ("human", "ai") and m.content]
        assert len(shown) == 2 * min(number, 10) + 1
        assert shown[0].id == f"h{max(0, number - 10)}"
        results = [ToolMessage("fine", tool_call_id=i, id=f"r{i}") for i in ids]
        asks = [calls(*ids, message=f"a{number}")] if ids else []
        talk += [asked, *asks, *results, AIMessage(f"Answer {number}", id=f"f{number}")]
    assert compaction.count > 0


async def test_the_system_message_is_repeated_once_as_the_users_first_one_and_counted():
    policy = replace(standard(8_000), system_as_user=True)
    talk, parts = [human("Never touch production."), AIMessage("No."), human("Go on.", "h2")], Parts(COUNTER)
    first = await prepare(Request(talk, SYSTEM), policy, parts)
    again = await prepare(Request([*talk, AIMessage("Yes."), human("And?", "h3")], SYSTEM), policy, parts)
    for done in (first, again):
        told = [m for m in done.messages if m.id == SYSTEM_AS_USER]
        assert told == [done.messages[0]]
        assert isinstance(told[0], HumanMessage)
        assert done.system is not None
        assert told[0].content == done.system.content
        assert "- Never touch production." in str(told[0].content)
        assert done.report.counted == count_messages_tokens(done.all_messages())
        assert sum(done.report.by_kind.values()) == done.report.counted
    assert (await prepare(Request(talk), policy, Parts(COUNTER))).messages[0].id == SYSTEM_AS_USER
    plain = await prepare(Request(talk, SYSTEM), standard(8_000), Parts(COUNTER))
    assert plain.messages[0].id == "h"


async def test_without_a_system_message_nothing_is_repeated():
    policy = replace(standard(8_000), system_as_user=True)
    assert len((await prepare(Request([human("Hi")]), policy, Parts(COUNTER))).messages) == 1


SEEDS = range(120)
EACH = 12
"""Of so many seeds, `make test` tries one: they are histories made at random."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", mostly_long(SEEDS, EACH))
async def test_a_repeated_system_message_breaks_no_rule_of_a_provider_and_no_budget(seed):
    told = history(seed)
    policy = replace(PRESETS[told.preset](told.window), system_as_user=True, compress_ahead=True, max_turns=2)
    compaction, parts = Compaction(), Parts(COUNTER)
    for cut in told.cuts:
        try:
            done = await prepare(
                Request(told.messages[:cut], told.system, told.tool_tokens), policy, parts, compaction
            )
        except ContextBudgetExceeded:
            return
        assert count_messages_tokens(done.all_messages()) + told.tool_tokens == done.report.counted
        assert done.report.counted <= policy.input_budget
        assert refusals(done.all_messages()) == []
        assert done.report.violations == ()
        compaction = done.compaction


def found(number: int, articles: int = 6) -> list:
    entries = [{"title": f"T{number}-{n}", "content": f"fact {number} {n} " * 250} for n in range(articles)]
    text = json.dumps({"articles": entries})
    return [calls(f"c{number}"), ToolMessage(text, tool_call_id=f"c{number}", id=f"r{number}")]


async def test_results_are_compressed_before_the_next_one_of_their_size_would_not_fit_where_that_is_asked_for():
    talk = [human("What is known?"), *found(0), *found(1), *found(2)]
    policy = replace(standard(40_000), clear_at=2.0)
    writer = RecordingSummariser()
    just_in_time = await prepare(Request(talk, SYSTEM), policy, Parts(COUNTER, writer))
    assert just_in_time.report.steps == ()
    ahead = replace(policy, compress_ahead=True)
    done = await prepare(Request(talk, SYSTEM), ahead, Parts(COUNTER, writer))
    assert [step.strategy for step in done.report.steps] == ["compress"]
    mean = sum(COUNTER.message(m) for m in talk if isinstance(m, ToolMessage)) // 3
    assert just_in_time.report.counted + mean > policy.input_budget
    assert done.report.counted + mean <= policy.input_budget
    short = await prepare(Request(talk[:3], SYSTEM), ahead, Parts(COUNTER, writer))
    assert short.report.steps == ()


def test_compression_ahead_and_the_repeated_system_message_are_off_unless_asked_for():
    assert (policy_of().compress_ahead, policy_of().system_as_user) == (False, False)
    chosen = policy_of(CONTEXT_COMPRESS_AHEAD="true", LLM_SYSTEM_AS_USER="true")
    assert (chosen.compress_ahead, chosen.system_as_user) == (True, True)


async def test_a_file_that_holds_the_instruction_for_summaries_must_be_readable(tmp_path):
    context = ContextSettings.load({"CONTEXT_SUMMARY_PROMPT_FILE": str(tmp_path / "none.txt")})
    with pytest.raises(SettingsError, match="CONTEXT_SUMMARY_PROMPT_FILE"):
        default_context_middleware(
            LLM, context, ScriptedModel(script=[]), SqliteArtifactStore(tmp_path / "a.db")
        )


async def test_a_long_talk_under_a_limit_of_turns_keeps_no_older_one():
    done = await prepare(
        Request(long_talk(30), SYSTEM), replace(standard(128_000), max_turns=2), Parts(COUNTER)
    )
    assert [m.id for m in done.messages if m.type == "human"] == ["h28", "h29", "active"]
