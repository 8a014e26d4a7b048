from __future__ import annotations

from types import SimpleNamespace

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from utils.a2a_common.graph.model.prompt_cache import caches, with_mark

MARK = {"cache_control": {"type": "ephemeral"}}


@pytest.mark.parametrize(
    ("model_id", "taken"),
    [
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", True),
        ("anthropic.claude-3-7-sonnet-20250219-v1:0", True),
        ("amazon.nova-pro-v1:0", True),
        ("anthropic.claude-3-sonnet-20240229-v1:0", False),
        ("mistral.mistral-large-2407-v1:0", False),
        ("arn:aws:bedrock:us-east-1:1:application-inference-profile/abc", False),
    ],
)
def test_only_models_that_are_known_to_take_cache_points_get_them(model_id: str, *, taken: bool) -> None:
    assert caches(SimpleNamespace(model_id=model_id)) is taken


def test_a_profile_gets_them_by_the_model_behind_it() -> None:
    model = SimpleNamespace(model_id="arn:aws:bedrock:x", base_model_id="anthropic.claude-haiku-4-5")
    assert caches(model)


def test_the_last_block_is_marked_and_the_message_is_left_alone() -> None:
    said = HumanMessage("Hello")
    assert with_mark(said).content == [{"type": "text", "text": "Hello", **MARK}]
    assert said.content == "Hello"


def test_an_empty_message_and_one_that_ends_without_text_get_no_mark() -> None:
    picture = HumanMessage([{"type": "image", "base64": "AAAA", "mime_type": "image/png"}])
    for message in (AIMessage(""), picture):
        assert with_mark(message) is message
