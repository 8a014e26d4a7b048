"""Names of arguments that Anthropic does not take, in a tool that its client sends as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anthropic
import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import StructuredTool

from utils.testing.strict_provider import StrictProvider


async def nothing(**_arguments: Any) -> str:
    return ""


def taking(name: str) -> StructuredTool:
    schema = {"type": "object", "properties": {name: {"type": "string"}}}
    return StructuredTool(name="find", description="d", args_schema=schema, coroutine=nothing)


@pytest.mark.listens
@pytest.mark.parametrize("name", ["$filter", "a b", "a" * 65])
async def test_anthropic_refuses_a_name_of_an_argument_with_other_characters(
    double: StrictProvider, model_of: Callable[[str], BaseChatModel], name: str
) -> None:
    with pytest.raises(anthropic.BadRequestError, match="Property keys should match pattern"):
        await model_of("anthropic").bind_tools([taking(name)]).ainvoke("Hello.")
    assert [rejected.rule for rejected in double.rejections] == ["schema"]


@pytest.mark.listens
async def test_anthropic_takes_a_name_of_an_argument_of_letters_digits_and_three_marks(
    double: StrictProvider, model_of: Callable[[str], BaseChatModel]
) -> None:
    await model_of("anthropic").bind_tools([taking("a.b-C_9")]).ainvoke("Hello.")
    assert double.rejections == []
