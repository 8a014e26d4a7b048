from __future__ import annotations

from typing import Any, Literal

from langchain_core.utils.function_calling import convert_to_openai_tool

from utils.a2a_common.graph.tools.agent_tool import agent_tool
from utils.a2a_common.graph.tools.plain_tool import plain_schema


@agent_tool()
async def list_incidents(
    service: str, state: Literal["open", "all"] | None = None, limit: int | None = None
) -> str:
    """List incidents.

    Args:
        service: Name of the service.
        state: Only incidents in this state.
        limit: Rows at most.
    """
    return f"{service} {state} {limit}"


def test_an_agents_own_tool_is_sent_plainly():
    assert convert_to_openai_tool(list_incidents.build())["function"]["parameters"] == {
        "type": "object",
        "properties": {
            "service": {"type": "string", "description": "Name of the service."},
            "state": {
                "type": "string",
                "enum": ["open", "all"],
                "description": "Only incidents in this state.",
            },
            "limit": {"type": "integer", "description": "Rows at most."},
        },
        "required": ["service"],
    }


def test_a_copy_with_another_description_or_name_is_sent_with_its_own():
    tool = list_incidents.build()
    copies: list[Any] = [
        tool,
        *(tool.model_copy(update=update) for update in ({"description": "Else."}, {"name": "other"})),
    ]
    sent = [convert_to_openai_tool(each)["function"] for each in copies]
    assert [each["name"] for each in sent] == ["list_incidents", "list_incidents", "other"]
    assert [each["description"] for each in sent] == ["List incidents.", "Else.", "List incidents."]
    assert [each.tool_call_schema["description"] for each in copies] == [each["description"] for each in sent]


async def test_null_for_an_argument_that_may_be_left_out_is_still_taken():
    assert await list_incidents.build().ainvoke({"service": "a", "limit": None}) == "a None None"


def test_several_real_choices_stay():
    shape = {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}], "default": None}
    plain = plain_schema({"type": "object", "properties": {"id": shape}})
    assert plain["properties"]["id"] == {"anyOf": [{"type": "string"}, {"type": "integer"}]}


def test_an_argument_called_title_stays():
    shape = {"type": "string", "title": "Title"}
    assert plain_schema({"properties": {"title": shape}})["properties"] == {"title": {"type": "string"}}
