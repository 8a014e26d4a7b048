"""What is said of data that does not fill the form of a question."""

from __future__ import annotations

from typing import Any

import pytest

from utils.messages.filled_form import complaint_about_answer

FORM = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 2, "maxLength": 5},
        "stars": {"type": "integer", "minimum": 1, "maximum": 5},
        "pool": {"type": "boolean"},
        "board": {"enum": ["none", "half", 3]},
        "with": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "near": {"type": "object", "properties": {"street": {"type": "string"}}, "required": ["street"]},
        "price": {"type": ["number", "null"]},
        "fixed": {"const": "x"},
    },
    "required": ["city"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ({}, "city is missing"),
        ({"city": None}, "city is missing"),
        ({"city": 5}, "city must be text"),
        ({"city": "R"}, "city must have at least 2 characters"),
        ({"city": "Rome by night"}, "city must have at most 5 characters"),
        ({"stars": "x"}, "stars must be a whole number"),
        ({"stars": 2.5}, "stars must be a whole number"),
        ({"stars": True}, "stars must be a whole number"),
        ({"stars": 0}, "stars must be at least 1"),
        ({"stars": 6.0}, "stars must be at most 5"),
        ({"pool": "yes"}, "pool must be true or false"),
        ({"board": "full"}, "board must be one of none, half, 3"),
        ({"with": "Ann"}, "with must be a list"),
        ({"with": ["Ann", 2]}, "each of with must be text"),
        ({"with": ["Ann", "Bob", "Eve"]}, "with must have at most 2 entries"),
        ({"near": {}}, "near.street is missing"),
        ({"price": "5"}, "price must be a number or null"),
        ({"fixed": "y"}, "fixed must be x"),
        ({"wifi": True}, "wifi is no field of it"),
    ],
    ids=str,
)
def test_the_field_is_named_with_what_is_wrong(data: dict[str, Any], complaint: str) -> None:
    city = {} if complaint == "city is missing" else {"city": "Rome"}
    assert complaint_about_answer(FORM, city | data) == complaint


@pytest.mark.parametrize(
    "data",
    [
        {"city": "Rome"},
        {"city": "Rome", "stars": 3.0, "pool": False, "board": "3", "with": ["Ann"], "price": None},
        {"city": "Rome", "board": 3.0, "near": {"street": "Via"}, "fixed": "x", "pool": None},
    ],
)
def test_what_fills_the_form_is_taken_also_as_protocol_buffers_and_pages_write_it(
    data: dict[str, Any],
) -> None:
    assert complaint_about_answer(FORM, data) == ""


def test_what_is_missing_may_stand_in_words_beside_the_data() -> None:
    assert complaint_about_answer(FORM, {"stars": 3}, whole=False) == ""
    assert complaint_about_answer(FORM, {"stars": "x"}, whole=False) == "stars must be a whole number"


@pytest.mark.parametrize(
    "form",
    [
        {"url": "https://example.com", "code": "A1"},
        {"properties": ["city"], "required": ["city"]},
        {"properties": {"a": {"type": "strange", "pattern": "(a+)+$", "$ref": "https://example.com"}}},
        {"properties": {"a": {"type": ["strange", "boolean"]}}, "required": 5},
        {"properties": {"a": "any", "b": {"type": 5, "enum": "x", "minLength": "x", "items": 5}}},
        {"properties": {"a": {"type": "string"}}, "required": ["b"]},
    ],
)
def test_a_form_that_is_no_schema_refuses_nothing(form: dict[str, Any]) -> None:
    assert complaint_about_answer(form, {"a": "a" * 40, "b": ["x"]}) == ""


def test_long_names_and_many_choices_are_cut_short() -> None:
    form = {"properties": {"n" * 900: {"enum": [f"choice {n}" for n in range(500)]}}}
    said = complaint_about_answer(form, {"n" * 900: "none of them"})
    assert said.endswith("choice 11 or another of its choices")
    assert len(said) < 250
