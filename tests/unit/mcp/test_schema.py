"""Whatever schema a server gives its tool: either the tool is left out, or the client of each provider can send it."""

from __future__ import annotations

import itertools
import json
import math
import time
import timeit
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from langchain_anthropic.chat_models import convert_to_anthropic_tool
from langchain_aws.chat_models.bedrock_converse import _format_tools
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_google_genai._function_utils import convert_to_genai_function_declarations

from utils.mcp.references import LargeSchemaError, References, UnusableSchemaError
from utils.mcp.schema import LARGEST_SCHEMA, arguments_of

CONVERSIONS: dict[str, Callable[[BaseTool], Any]] = {
    "openai": convert_to_openai_tool,
    "anthropic": convert_to_anthropic_tool,
    "bedrock": lambda tool: _format_tools([tool]),
    "gemini": lambda tool: convert_to_genai_function_declarations([tool]),
}


async def _nothing(**arguments: Any) -> str:
    return ""


def check(schema: dict[str, Any]) -> None:
    """Convert it as the client of each provider does, and look for what the providers themselves refuse."""
    json.dumps(schema, allow_nan=False)  # as the HTTP client of the providers does
    Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf", "not", "enum", "$ref"} & schema.keys()
    assert set(schema.get("required", ())) <= schema["properties"].keys()
    tool = StructuredTool(name="t", description="d", args_schema=schema, coroutine=_nothing)
    for convert in CONVERSIONS.values():
        convert(tool)


def of(shape: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": shape}, **more}


def sent(shape: Any, **more: Any) -> Any:
    """An argument as a model sees it."""
    made = arguments_of(of(shape, **more)).schema
    check(made)
    return made["properties"]["a"]


def test_a_usual_schema_stays_as_it_is():
    schema = of(
        {
            "type": "array",
            "items": {"type": "integer", "minimum": 1},
            "maxItems": 3,
            "description": "Numbers.",
        },
        required=["a"],
        additionalProperties=False,
    )
    schema["properties"]["b"] = {
        "anyOf": [{"type": "string"}, {"type": "null"}],
        "default": None,
        "title": "B",
    }
    schema["properties"]["c"] = {"type": "string", "enum": ["x", "y"]}
    schema["properties"]["description"] = {"type": "string", "format": "date", "pattern": "^2"}
    assert arguments_of(schema).schema == schema
    check(schema)
    assert arguments_of({}).schema == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("reference", "shown"),
    [
        ("#/$defs/Nope", '"#/$defs/Nope"'),
        ("https://example.com/schema.json", '"https://example.com/schema.json"'),
        ("#anchor\u202e", '"#anchor"'),
        ("#/properties/a/enum/7", '"#/properties/a/enum/7"'),
    ],
)
def test_a_reference_that_leads_nowhere_or_elsewhere_makes_a_tool_unusable(reference: str, shown: str):
    with pytest.raises(UnusableSchemaError) as caught:
        arguments_of(of({"$ref": reference}))
    assert str(caught.value) == f"the schema of its arguments refers to {shown}, which it does not contain"


def test_arguments_that_are_no_object_make_a_tool_unusable():
    with pytest.raises(UnusableSchemaError, match="its arguments are not an object"):
        arguments_of({"type": "string"})
    assert arguments_of({"type": ["object", "null"]}).schema["type"] == "object"


def test_a_reference_is_replaced_by_what_it_leads_to():
    definitions = {"A/b": {"type": "string", "description": "old"}, "C": {"$ref": "#/$defs/A~1b"}}
    assert sent({"$ref": "#/$defs/C", "description": "new"}, **{"$defs": definitions}) == {
        "type": "string",
        "description": "new",
    }


def test_a_schema_that_holds_itself_is_told_once():
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}, "also": {"$ref": "#/$defs/N"}}}
    assert sent({"$ref": "#/$defs/N"}, **{"$defs": {"N": node}}) == {
        "type": "object",
        "properties": {"next": {"type": "object"}, "also": {"type": "object"}},
    }
    loop = {"allOf": [{"$ref": "#/$defs/L"}]}
    assert sent({"$ref": "#/$defs/L"}, **{"$defs": {"L": loop}}) == {}


def test_a_schema_that_grows_with_each_reference_stays_small():
    doubled = {str(level): of({"$ref": f"#/$defs/{level + 1}"}, properties={}) for level in range(30)}
    for level, each in doubled.items():
        following = {"$ref": f"#/$defs/{int(level) + 1}"}
        each["properties"] = {"a": following, "b": following}
    definitions = doubled | {"30": {"type": "string"}}
    assert sent({"$ref": "#/$defs/0"}, **{"$defs": definitions})["type"] == "object"


def test_a_schema_that_is_too_large_makes_a_tool_unusable():
    with pytest.raises(LargeSchemaError, match="20,000 characters"):
        arguments_of(of({"enum": ["x" * LARGEST_SCHEMA]}))
    with pytest.raises(LargeSchemaError, match="2,000 parts"):
        arguments_of({"properties": {str(number): {} for number in range(5_000)}})


def test_a_schema_without_references_is_read_once_however_large_it_is(monkeypatch):
    read: list[Any] = []

    class Counted(References):
        def resolve(self, part: Any) -> dict[str, Any]:
            read.append(part)
            return super().resolve(part)

    monkeypatch.setattr("utils.mcp.schema.References", Counted)
    with pytest.raises(LargeSchemaError):
        arguments_of(of({"type": "string", "pattern": "x" * LARGEST_SCHEMA}))
    assert len(read) == 2


def test_values_are_not_compared_with_each_other(monkeypatch):
    compared = 0

    class Value(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return super().__eq__(other)

        __hash__ = str.__hash__

    values = [Value(number) for number in range(1_000)]
    assert len(sent({"enum": values})["enum"]) == len(values)
    assert compared < 20 * len(values)


def test_required_arguments_inside_each_other_are_each_read_once():
    nested: dict[str, Any] = {"type": "string"}
    for _ in range(12):
        nested = of(nested, required=["a"])
    assert arguments_of(nested).schema == nested


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"enum": [1, "two", None, True]}, {"description": 'One of: 1, "two", null, true.'}),
        ({"enum": []}, {}),
        ({"type": "integer", "enum": [1, 2]}, {"type": "integer", "description": "One of: 1, 2."}),
        ({"const": "x"}, {"type": "string", "enum": ["x"]}),
        ({"type": "string", "enum": ["", "x"]}, {"type": "string", "description": 'One of: "", "x".'}),
        (
            {"type": ["string", "null"], "enum": ["x", None]},
            {"anyOf": [{"type": "string", "enum": ["x"]}, {"type": "null"}]},
        ),
    ],
)
def test_values_that_are_no_texts_are_told_in_words(given: Any, shown: Any):
    assert sent(given) == shown


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"type": "any"}, {}),
        ({"type": "float"}, {"type": "number"}),
        ({"type": 3, "minimum": "x"}, {}),
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"type": "array", "items": [{"type": "string"}]}, {"type": "array", "items": {"type": "string"}}),
        (
            {"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False, "type": "array"},
            {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
        ),
        ({"oneOf": [{"format": "uuid"}, {"minLength": 3}], "type": "string", "title": "A"},
         {"title": "A", "anyOf": [{"type": "string", "format": "uuid"}, {"type": "string", "minLength": 3}]}),
        ({"type": "string", "pattern": "(?<name>[a-z"}, {"type": "string"}),
        ({"type": "string", "pattern": "[[a]"}, {"type": "string", "pattern": "[[a]"}),
        (True, {}),
        ("string", {}),
        ({"type": "object", "properties": {"$ref": {"type": "string"}}}, {"type": "object"}),
        ({"default": {"$ref": "#/nowhere"}}, {}),
        ({"type": "number", "minimum": -math.inf, "maximum": 10**400}, {"type": "number"}),
        ({"type": "integer", "exclusiveMinimum": math.nan, "maximum": 7}, {"type": "integer", "maximum": 7}),
        ({"default": math.inf}, {}),
        ({"type": "object", "default": {"a": [1, math.nan]}}, {"type": "object"}),
        ({"anyOf": [{"anyOf": [True, {"type": "object"}]}, {"type": "null"}]},
         {"anyOf": [{}, {"type": "object"}, {"type": "null"}]}),
    ],
)  # fmt: skip
def test_what_one_provider_does_not_take_is_said_otherwise(given: Any, shown: Any):
    assert sent(given) == shown


def test_forms_of_all_arguments_become_one_object():
    by_id, by_name = of({"type": "integer"}, required=["a"]), of({"type": "string"}, required=["a", "b"])
    made = arguments_of({"oneOf": [by_id, by_name], "properties": {"c": {"type": "boolean"}}}).schema
    check(made)
    assert made == {
        "type": "object",
        "properties": {"c": {"type": "boolean"}, "a": {"anyOf": [{"type": "integer"}, {"type": "string"}]}},
        "required": ["a"],
    }
    kinds = [of({"const": str(number)}, required=["a"]) for number in range(30)]
    listed = arguments_of({"anyOf": kinds}).schema
    check(listed)
    assert [form["enum"] for form in listed["properties"]["a"]["anyOf"]] == [
        [str(number)] for number in range(30)
    ]
    both = arguments_of({"allOf": [by_id, {"required": ["b"]}]}).schema
    assert both == {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {}},
        "required": ["a", "b"],
    }


def test_an_argument_that_is_refined_keeps_what_each_part_says_of_it():
    general, precise = {"title": "A", "minLength": 1}, {"type": "string", "description": "A name."}
    for first, second in ((general, precise), (precise, general)):
        assert sent(True, allOf=[of(first), of(second)]) == general | precise
        refined = of({"$ref": "#/$defs/A"}, allOf=[of(second)], **{"$defs": {"A": first}})
        assert arguments_of(refined).schema["properties"]["a"] == general | precise


def test_a_name_that_no_request_can_carry_is_replaced_and_the_server_gets_its_own():
    names = ["$filter", "_filter", "über x", "config", "self", "$ref", "x" * 80]
    arguments = arguments_of(
        {"properties": {name: {"type": "string"} for name in names}, "required": ["$filter"]}
    )
    check(arguments.schema)
    seen = list(arguments.schema["properties"])
    assert seen[:5] == ["_filter_2", "_filter", "_ber_x", "config", "self"]
    assert arguments.schema["required"] == ["_filter_2"]
    assert arguments.schema["properties"]["_filter_2"]["description"] == 'Its name is "$filter".'
    assert arguments.of({name: number for number, name in enumerate(seen)}) == {
        name: number for number, name in enumerate(names)
    }


WORDS = st.sampled_from(
    ["a", "b", "string", "null", "object", "array", "any", "", "$ref", "#/$defs/a", "#/$defs/x"]
)
VALUES = st.none() | st.booleans() | st.integers(-2, 3) | st.just(10**400) | st.floats() | WORDS
KEYS = st.sampled_from(
    ["type", "properties", "items", "prefixItems", "anyOf", "oneOf", "allOf", "not", "enum", "const", "default",
     "required", "additionalProperties", "patternProperties", "description", "title", "format", "pattern", "minimum",
     "minLength", "nullable", "$ref", "$defs", "definitions", "a", "b", "self"]
)  # fmt: skip
ANYTHING = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
SHAPES = st.recursive(
    st.fixed_dictionaries({}, optional={"type": WORDS | st.lists(WORDS, max_size=3), "enum": st.lists(VALUES, max_size=3)})
    | st.sampled_from(["#/$defs/a", "#/$defs/b"]).map(lambda to: {"$ref": to}),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": WORDS,
            "properties": st.dictionaries(WORDS, inner, max_size=3),
            "required": st.lists(WORDS, max_size=2),
            "items": inner | st.lists(inner, max_size=2) | st.booleans(),
            **{key: st.lists(inner | st.booleans(), max_size=3) for key in ("anyOf", "oneOf", "allOf", "prefixItems")},
            "additionalProperties": inner | st.booleans(),
            "description": VALUES,
        },
    ),
    max_leaves=20,
)  # fmt: skip


@settings(max_examples=300)
@given(st.dictionaries(KEYS, ANYTHING, max_size=6))
@pytest.mark.long
def test_whatever_a_server_sends_for_a_schema_is_refused_or_can_be_sent(schema: Mapping[str, Any]):
    _check_or_refuse(schema)


@settings(max_examples=300)
@given(SHAPES, SHAPES, SHAPES)
@pytest.mark.long
def test_whatever_schema_refers_to_whatever_is_refused_or_can_be_sent(a: Any, b: Any, whole: Any):
    _check_or_refuse({**whole, "$defs": {"a": a, "b": b}})


def _check_or_refuse(schema: Mapping[str, Any]) -> None:
    try:
        arguments = arguments_of(schema)
    except UnusableSchemaError:
        return
    check(arguments.schema)


def _colliding(count: int) -> dict[str, Any]:
    """Arguments whose names are all sent as the same one, but for a number."""
    names = ("".join(each) for each in itertools.product("!#%&()*+,/:;<=>?", repeat=3))
    return {"type": "object", "properties": {name: {} for name in itertools.islice(names, count)}}


def test_names_that_become_the_same_are_numbered_past_those_that_are_taken() -> None:
    schema = _colliding(4)
    schema["properties"] |= {"__3": {}, "self": {}, "self_2": {}}
    made = arguments_of(schema)
    assert list(made.schema["properties"]) == ["_", "__2", "__4", "__5", "__3", "self", "self_2"]
    assert made.of({"__4": 1, "self": 2}) == {"!!%": 1, "self": 2}


def test_the_time_for_many_such_names_grows_as_their_number_does() -> None:
    def seconds(count: int) -> float:
        schema = _colliding(count)
        return min(timeit.repeat(lambda: arguments_of(schema), number=1, repeat=5, timer=time.process_time))

    assert seconds(1_500) < 15 * seconds(300)
