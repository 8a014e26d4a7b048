"""LangChain derives once which types of blocks hold data, and answers as it did."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import HumanMessage, content, is_data_content_block
from langchain_openai import ChatOpenAI

from utils.llm.block_types import DERIVED, derive_block_types_once

TEXT = {"type": "text", "text": "What is this?"}
PICTURE = {"type": "image", "base64": "aGk=", "mime_type": "image/png"}


def derived() -> Any:
    return getattr(content, DERIVED)


def test_a_request_of_many_blocks_derives_the_types_of_blocks_once():
    derive_block_types_once()
    derived().cache_clear()
    model = ChatOpenAI(model="gpt-4.1", api_key="none")

    for _ in range(3):
        sent = model._get_request_payload([HumanMessage([TEXT, PICTURE, TEXT])])

    assert sent["messages"][0]["content"][1]["image_url"]["url"] == "data:image/png;base64,aGk="
    assert derived().cache_info().misses == 1
    assert derived().cache_info().hits >= 8


def test_deriving_once_changes_no_answer_and_may_be_asked_for_twice():
    derive_block_types_once()
    once = derived()
    derive_block_types_once()

    assert derived() is once
    assert once() == once.__wrapped__()
    assert is_data_content_block(PICTURE)
    assert not is_data_content_block(TEXT)
