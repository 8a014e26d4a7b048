"""Halves of characters are replaced wherever they come from, and whole characters stay."""

from __future__ import annotations

import json

import pytest

from utils.events import ArtifactAdded, Completed, DataPart, TextDelta
from utils.messages.characters import (
    PairJoiner,
    escaped_halves_replaced,
    of_whole_characters,
    whole_characters,
)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("plain, Grüße, 🚀", "plain, Grüße, 🚀"),
        ("half \ud83d here", "half \ufffd here"),
        ("\ud83d\ude80 joined", "🚀 joined"),
        ("name-\udcff.txt", "name-\ufffd.txt"),
        ("", ""),
    ],
)
def test_a_half_is_replaced_and_two_that_belong_together_are_joined(text: str, whole: str) -> None:
    assert whole_characters(text) == whole


def test_all_strings_of_a_value_are_mended_and_one_without_halves_is_returned_itself() -> None:
    value = {"a\ud800": ["x", ("\udfff", 1, None)], "b": {"c": "d"}}
    assert of_whole_characters(value) == {"a\ufffd": ["x", ("\ufffd", 1, None)], "b": {"c": "d"}}
    clean = {"a": ["x", ("y", 1)]}
    assert of_whole_characters(clean) is clean


def test_events_are_mended_and_stay_events() -> None:
    assert of_whole_characters(TextDelta("a \ud83d")) == TextDelta("a \ufffd")
    artifact = ArtifactAdded([DataPart({"name": "\udc80"})], name="rows")
    assert of_whole_characters(artifact) == ArtifactAdded([DataPart({"name": "\ufffd"})], name="rows")
    done = Completed()
    assert of_whole_characters(done) is done


def test_halves_that_a_stream_cut_apart_are_joined_again() -> None:
    joiner = PairJoiner()
    assert [joiner.feed(piece) for piece in ("a\ud83d", "\ude80b\ud83d", "c")] == ["a", "🚀b", "\ufffdc"]


@pytest.mark.parametrize(
    "text", ["\ud83d", "x\ude80y", "\ud83d\ud83d\ude80", "\\\ud83d", "\\ud83d", "🚀", "\n\udfff"]
)
def test_an_escaped_half_in_a_body_is_replaced_without_changing_its_length(text: str) -> None:
    body = json.dumps({"text": text}).encode()
    mended = escaped_halves_replaced(body)
    assert len(mended) == len(body)
    assert json.loads(mended) == {"text": whole_characters(text)}
