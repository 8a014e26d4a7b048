"""Where no model can write a summary, the extract uses the room; where one could, requests stay as they were."""

from dataclasses import replace

from langchain_core.messages import AIMessage, BaseMessage

from tests.unit.context.conversations import COUNTER, RecordingSummariser, human
from utils.context.factory import policy_for
from utils.context.pipeline import Parts, Prepared, Request, prepare
from utils.context.policy import ContextPolicy, standard
from utils.context.protocols import Summariser
from utils.context.settings import ContextSettings
from utils.settings import LLMSettings, ModelProvider

FULL = replace(standard(8_000), extract_to=0.9)
FILLER = "It was what we had thought that it would be, and so on and so forth, as always. " * 3


def prose(turns: int) -> list[BaseMessage]:
    talk: list[BaseMessage] = []
    for number in range(turns):
        talk.append(
            human(f"{FILLER} My service-{number} has {number * 7 + 1_000} replicas. {FILLER}", f"h{number}")
        )
        talk.append(AIMessage("Understood.", id=f"a{number}"))
    return [*talk, human("And what now?", "active")]


async def request(policy: ContextPolicy, turns: int = 200, summariser: Summariser | None = None) -> Prepared:
    return await prepare(Request(prose(turns)), policy, Parts(COUNTER, summariser))


async def test_an_extract_fills_the_request_and_holds_facts_that_a_short_one_has_no_room_for() -> None:
    full, short = await request(FULL), await request(standard(8_000))

    assert full.report.counted <= FULL.input_budget
    assert short.report.counted < 0.6 * FULL.input_budget
    facts = [f"{number * 7 + 1_000} replicas" for number in range(200)]
    kept = [sum(fact in p.compaction.summary for fact in facts) for p in (full, short)]
    assert kept[0] > 2 * kept[1] > 0


async def test_a_model_that_writes_summaries_is_given_no_more_room() -> None:
    prepared = await request(FULL, summariser=RecordingSummariser("A summary."))

    assert prepared.compaction.summary == "A summary."
    assert prepared.report.counted < 0.6 * FULL.input_budget


async def test_an_extract_waits_until_a_request_is_over_its_budget() -> None:
    turns = FULL.input_budget * 9 // 10 // (COUNTER.messages(prose(10)) // 10)

    assert (await request(FULL, turns)).compaction.count == 0
    assert (await request(standard(8_000), turns)).compaction.count == 1


def test_only_the_embedded_model_extracts_to_the_full() -> None:
    embedded = LLMSettings(provider=ModelProvider.EMBEDDED)
    assert policy_for(embedded, ContextSettings()).extract_to == 0.9
    assert policy_for(embedded, ContextSettings(CONTEXT_POLICY="caipe")).extract_to is None
    assert policy_for(LLMSettings(provider=ModelProvider.OPENAI), ContextSettings()).extract_to is None
