"""A change of topic is told by meaning, and makes room after an answer before the size alone would."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from tests.unit.context.conversations import COUNTER, RecordingSummariser, calls
from utils.context.compaction import Compaction
from utils.context.factory import policy_for
from utils.context.middleware import ContextMiddleware
from utils.context.policy import ContextPolicy
from utils.context.settings import ContextSettings
from utils.context.topic import Embed, changed_topic
from utils.embeddings import create_embedder
from utils.errors import ModelUnavailable
from utils.persistence.artifacts import SqliteArtifactStore
from utils.settings import EmbeddingSettings, LLMSettings

LLM = LLMSettings.load({"LLM_PROVIDER": "openai", "LLM_MODEL": "gpt-4o"})
WINDOW = 20_000
LOGS = [
    ("Where do the logs of the agents go?", "Each agent writes its log to a file in the folder logs."),
    ("How do I turn on debug logging?", "Set LOG_LEVEL=DEBUG; the log shows every call then."),
    ("Can the logs be JSON lines?", "LOG_FORMAT=json writes a JSON object a line to the log."),
]
FOLLOW_UP = ("Which level do the logs have by default?", "The log level is INFO where LOG_LEVEL is not set.")
OTHER = (
    "Show the five newest pull requests of octocat/hello-world",
    "| # | title | author |\n|---|---|---|\n| 7 | Fix the login page | mona |",
)
THANKS = ("perfect, that did it, cheers", "You are welcome.")


@pytest.fixture(scope="module")
def embed() -> Embed:
    embedder = create_embedder(EmbeddingSettings.load({}), cache=None)
    assert embedder is not None
    return embedder.embed


def talk(turns: Sequence[tuple[str, str]], filling: int = 0) -> list[BaseMessage]:
    """The turns, each with a tool result of so many words."""
    found: list[BaseMessage] = []
    for number, (asked, answered) in enumerate(turns):
        looked_up = [
            calls(f"c{number}"),
            ToolMessage(
                f"result {number} " + "a line of it " * (filling // 4),
                tool_call_id=f"c{number}",
                id=f"r{number}",
            ),
        ]
        found += [
            HumanMessage(asked, id=f"h{number}"),
            *(looked_up if filling else []),
            AIMessage(answered, id=f"a{number}"),
        ]
    return found


async def test_another_topic_is_told_from_a_follow_up_and_from_thanks(embed: Embed):
    assert await changed_topic(talk([*LOGS, OTHER]), embed) == 2
    assert await changed_topic(talk([*LOGS, FOLLOW_UP]), embed) is None
    assert await changed_topic(talk([*LOGS, THANKS]), embed) is None
    assert await changed_topic(talk([OTHER]), embed) is None


async def test_a_topic_of_the_turns_before_that_is_taken_up_again_is_no_other_one(embed: Embed):
    assert await changed_topic(talk([*LOGS, OTHER, FOLLOW_UP]), embed) is None


async def test_a_model_of_embeddings_that_is_away_changes_nothing():
    async def away(texts: Sequence[str]) -> Any:
        raise ModelUnavailable("The provider of embeddings cannot be reached.")

    assert await changed_topic(talk([*LOGS, OTHER]), away) is None


@pytest.fixture
def managed(tmp_path: Path, embed: Embed) -> Callable[..., tuple[ContextMiddleware, RecordingSummariser]]:
    def make(embed: Embed | None = embed, **environ: str) -> tuple[ContextMiddleware, RecordingSummariser]:
        writer = RecordingSummariser()
        settings = ContextSettings.load({"MAX_CONTEXT_TOKENS": str(WINDOW), **environ})
        context = ContextMiddleware(
            replace(policy_for(LLM, settings), clear_at=2.0),
            SqliteArtifactStore(tmp_path / "artifacts.sqlite"),
            counter=COUNTER,
            summariser=writer,
            provider="openai",
            ahead=True,
            embed=embed,
        )
        return context, writer

    return make


async def compacted(context: ContextMiddleware, messages: list[BaseMessage]) -> Compaction | None:
    """The decisions after the last answer."""
    made = await context.compact_ahead({"messages": messages}, system=SystemMessage("You help."), tools=[])
    return None if made is None else Compaction.from_state(made.compaction)


def share(context: ContextMiddleware, messages: list[BaseMessage]) -> float:
    return sum(map(COUNTER.message, messages)) / context.policy.input_budget


async def test_a_half_full_conversation_that_turns_to_another_topic_is_summarised_and_the_new_turn_stays(
    managed,
):
    context, writer = managed()
    messages = talk([*LOGS, OTHER], filling=2_000)
    assert context.policy.topic_at < share(context, messages) < context.policy.for_next_turn(0).summarise_at
    made = await compacted(context, messages)
    assert made is not None
    assert made.written == "A summary."
    assert "debug logging" in "".join(writer.given)
    assert OTHER[0] not in "".join(writer.given), "the turn that began the topic stays whole"
    before = [m.id for m in messages].index("h3")
    assert made.through in {m.id for m in messages[:before]}


async def test_a_follow_up_a_small_conversation_and_a_policy_without_topics_are_left_alone(managed):
    context, writer = managed()
    assert await compacted(context, talk([*LOGS, FOLLOW_UP], filling=2_000)) is None
    assert await compacted(context, talk([*LOGS, OTHER], filling=400)) is None
    assert await compacted(managed(CONTEXT_TOPIC_AT="1")[0], talk([*LOGS, OTHER], filling=2_000)) is None
    assert await compacted(managed(CONTEXT_POLICY="caipe")[0], talk([*LOGS, OTHER], filling=2_000)) is None
    assert await compacted(managed(embed=None)[0], talk([*LOGS, OTHER], filling=2_000)) is None
    assert writer.given == []


def test_the_share_is_a_setting_and_part_of_the_standard_policy_alone():
    def policy_of(**environ: str) -> ContextPolicy:
        return policy_for(LLM, ContextSettings.load(environ))

    assert policy_of().topic_at == 0.4
    assert policy_of(CONTEXT_POLICY="rag").topic_at is None
    assert policy_of(CONTEXT_POLICY="rag", CONTEXT_TOPIC_AT="0.3").topic_at == 0.3
    assert policy_of(CONTEXT_TOPIC_AT="1").topic_at is None


def test_a_conversation_that_may_be_summarised_for_its_topic_is_looked_at():
    policy = policy_for(LLM, ContextSettings.load({"MAX_CONTEXT_TOKENS": str(WINDOW)}))
    assert policy.may_lack_room(policy.tokens(0.21))
    assert not replace(policy, topic_at=None).may_lack_room(policy.tokens(0.21))


@pytest.mark.timeout(60)  # a tenth of it took minutes, and longer with the square of the length
@pytest.mark.parametrize("unit", ["a", "a/", "a/b#", "http://", "**", "#/"])
async def test_an_answer_without_blanks_is_compared_in_time_linear_in_its_length(unit):
    compared: list[Sequence[str]] = []

    async def none(texts: Sequence[str]) -> Any:
        compared.append(texts)
        raise ModelUnavailable

    answered = talk([("Where do the logs of the agents go?", unit * (500_000 // len(unit))), THANKS])
    asked = HumanMessage("Show the five newest pull requests of octocat/hello-world")
    assert await changed_topic([*answered, asked], none) is None
    assert len(compared) == 1


async def test_addresses_references_and_marks_of_bold_are_no_topic():
    compared: list[Sequence[str]] = []

    async def none(texts: Sequence[str]) -> Any:
        compared.append(texts)
        raise ModelUnavailable

    said = "**Logs** are at (https://example.com/logs), see acme/rocket#12 and a/b or C# and /x"
    asked = HumanMessage("Show the five newest pull requests of octocat/hello-world")
    await changed_topic([*talk([("Where do they go?", said)]), asked], none)
    assert compared[0][0] == "Where do they go? Logs are at ( see  and a/b or C# and /x"
