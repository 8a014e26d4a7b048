"""A usage that a server reports is used where it can be right, and replaced by our own count where it cannot."""

import pytest
from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata

from utils.messages.counter import MessageCounter, calibrate, with_count
from utils.messages.marks import USAGE_COUNTED
from utils.messages.usage import with_usage

COUNTER = MessageCounter()


def usage(told: int, answered: int = 7) -> UsageMetadata:
    return UsageMetadata(input_tokens=told, output_tokens=answered, total_tokens=told + answered)


def answer(told: UsageMetadata | None) -> AIMessage:
    return AIMessage("It took four minutes.", usage_metadata=told)


def test_a_plausible_usage_stays():
    said = answer(usage(1_100))
    assert with_usage(said, 1_000, COUNTER) is said


@pytest.mark.parametrize("told", [None, usage(0), usage(100), usage(100_000)])
def test_a_missing_or_impossible_usage_is_our_own_count_and_measures_nothing(told):
    read = with_usage(answer(told), 1_000, COUNTER)
    assert read.usage_metadata is not None
    assert read.usage_metadata["input_tokens"] == 1_000
    assert 0 < read.usage_metadata["output_tokens"] < 20
    assert USAGE_COUNTED.of(read)
    assert calibrate([with_count(read, 1_000)], "openai-compatible").ratio == 1.25


def test_of_a_usage_in_every_chunk_the_last_one_counts():
    chunks = [usage(1_000, 1), usage(1_000, 2)]
    read = with_usage(answer(usage(2_000, 3)), 1_000, COUNTER, chunks)
    assert read.usage_metadata == usage(1_000, 2)


def test_a_usage_in_one_chunk_is_taken_as_it_is():
    said = answer(usage(1_000))
    assert with_usage(said, 1_000, COUNTER, [usage(1_000), usage(0, 7)]) is said
