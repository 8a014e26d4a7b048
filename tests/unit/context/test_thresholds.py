"""When context management acts: the thresholds of the presets, seen in what becomes of a request at their edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from tests.unit.context.conversations import COUNTER, RecordingSummariser, human
from utils.context.factory import policy_for
from utils.context.pipeline import Parts, Prepared, Request, prepare
from utils.context.policy import ContextPolicy, caipe, pipelit, rag, research
from utils.context.settings import ContextSettings
from utils.messages.tokens import count_messages_tokens
from utils.settings import LLMSettings

LLM = LLMSettings.load({"LLM_PROVIDER": "openai", "LLM_MODEL": "gpt-4o"})


def remarks(count: int, words: int = 100) -> list[BaseMessage]:
    """Questions and answers without tools, and a last question."""
    talk: list[BaseMessage] = []
    for number in range(count):
        talk += [
            HumanMessage(f"Question {number}? " + "about pods " * (words // 2), id=f"h{number}"),
            AIMessage(f"Answer {number}. " + "they run " * (words // 2), id=f"a{number}"),
        ]
    return [*talk, human("And now?", "active")]


def remarks_of(tokens: int) -> list[BaseMessage]:
    """The longest talk of at most `tokens` tokens."""
    talk = remarks(tokens // 200)
    while count_messages_tokens(talk) > tokens:
        talk = talk[2:]
    return talk


def default_policy(window: int, **environ: str) -> ContextPolicy:
    """What an agent gets on a model with this window."""
    settings = ContextSettings.load({"MAX_CONTEXT_TOKENS": str(window), **environ})
    return policy_for(LLM, settings)


async def prepared(
    talk: Sequence[BaseMessage], policy: ContextPolicy, summariser: RecordingSummariser | None = None
) -> Prepared:
    return await prepare(Request(talk), policy, Parts(COUNTER, summariser or RecordingSummariser()))


def steps(done: Prepared) -> list[str]:
    return [step.strategy for step in done.report.steps]


async def summarised_from(limits: Callable[[int], int], policy: Callable[[int], ContextPolicy]) -> float:
    """The share of the limit at which a turn begins with a summary: the smallest window without one tells."""
    talk = remarks(40)
    tokens = count_messages_tokens(talk)
    low, high = tokens // 2, 4 * tokens
    while high - low > 1:
        middle = (low + high) // 2
        if steps(await prepared(talk, policy(middle))):
            low = middle
        else:
            high = middle
    return tokens / limits(high)


@pytest.mark.parametrize(("environ", "share"), [({}, 0.80), ({"CONTEXT_SUMMARISE_AT": "0.6"}, 0.60)])
async def test_a_turn_begins_with_a_summary_from_eighty_percent_of_the_limit_on_unless_configured(
    environ: dict[str, str], share: float
) -> None:
    def policy(window: int) -> ContextPolicy:
        return default_policy(window, **environ)

    found = await summarised_from(lambda window: policy(window).input_budget, policy)
    assert found == pytest.approx(share, abs=0.001)


async def test_the_preset_of_the_supervisor_of_old_is_eighty_percent_of_the_window_while_the_answer_has_room() -> (
    None
):
    def policy(window: int) -> ContextPolicy:
        return default_policy(window, CONTEXT_POLICY="caipe", CONTEXT_OUTPUT_RESERVE="500")

    assert await summarised_from(lambda window: window, policy) == pytest.approx(0.80, abs=0.001)
    assert caipe(100_000).summarise_at == 0.80


@pytest.mark.parametrize("window", [8_000, 14_000, 32_000, 100_000, 128_000, 200_000])
@pytest.mark.parametrize(
    ("preset", "begins", "ends"),
    [
        (caipe, ("summarise_at", 0.80), ("summarise_to", 0.50)),
        (rag, ("compress_at", 0.85), ("compress_to", 0.80)),
    ],
)
def test_in_any_window_a_threshold_that_begins_is_above_the_one_that_ends(
    preset: Callable[[int], ContextPolicy],
    begins: tuple[str, float],
    ends: tuple[str, float],
    window: int,
) -> None:
    policy = preset(window)
    assert (getattr(policy, begins[0]), getattr(policy, ends[0])) == (begins[1], ends[1])
    start, end = policy.tokens(begins[1]), policy.tokens(ends[1])
    assert end < start <= policy.input_budget
    basis = window if window * begins[1] <= policy.input_budget else policy.input_budget
    assert (start, end) == (int(basis * begins[1]), int(basis * ends[1]))


async def test_research_summarises_at_eighty_thousand_tokens_into_two_thousand_and_keeps_five_messages() -> (
    None
):
    policy = research(128_000)
    under, over = remarks_of(79_900), remarks_of(81_000)
    assert count_messages_tokens(under) < 80_000 < count_messages_tokens(over) < policy.input_budget
    assert steps(await prepared(under, policy)) == []
    writer = RecordingSummariser("They looked at pods. " * 2_000)
    done = await prepared(over, policy, writer)
    assert steps(done) == ["summarise"]
    assert 0 < COUNTER.text(done.compaction.summary) <= 2_000
    assert done.messages == over[-len(done.messages) :]
    assert len(done.messages) >= 5


async def test_a_summary_continues_the_one_before_it() -> None:
    policy, writer = research(128_000), RecordingSummariser("First summary.", window=400_000)
    talk = remarks_of(81_000)
    first = await prepare(Request(talk), policy, Parts(COUNTER, writer))
    later = [AIMessage("They run.", id="x"), *remarks_of(81_000)]
    renamed = [message.model_copy(update={"id": f"later-{message.id}"}) for message in later]
    await prepare(Request([*talk, *renamed]), policy, Parts(COUNTER, writer), first.compaction)
    assert len(writer.given) == 2
    assert writer.given[1].startswith("First summary.")
    assert str(talk[0].content) in writer.given[0]


async def test_trimming_shows_the_most_recent_messages_that_fit_and_no_fewer() -> None:
    policy = pipelit(8_000)
    talk = remarks(60)
    done = await prepared(talk, policy)
    assert done.messages == talk[-len(done.messages) :]
    assert done.report.after <= policy.input_budget == 8_000 - 2_000 - 250
    two_turns_more = COUNTER.messages(talk[-len(done.messages) - 4 :])
    # An extract of what was left out, and the handle that it is read back by, need room as well.
    assert two_turns_more + policy.summary_tokens > policy.input_budget


async def test_trimming_gives_the_same_view_each_time_and_asks_no_model() -> None:
    writer = RecordingSummariser()
    views = [(await prepared(remarks(60), pipelit(8_000), writer)).all_messages() for _ in range(3)]
    assert views[0] == views[1] == views[2]
    assert len(views[0]) < 60
    assert writer.given == []
